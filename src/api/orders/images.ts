/** The image record that an instance names: it exists, and is what the instance says it wants. Can it happen. */
import type { ImageRow } from '../../inventory/images';
import type { NodeRow } from '../../inventory/nodes/nodes';
import { isAllowedOrigin } from '../../model/access/origins';
import { imageNamed, pinFault } from '../../model/boot/images';
import { raise } from '../../model/errors';
import type { OrderContext } from './context';

/** Why the boot service would not fetch a record's image; its tenant may not see where that is. */
const originFault = ({ settings }: OrderContext, { name, url }: ImageRow): string | undefined =>
  url === null || isAllowedOrigin(settings.imageOrigins, url)
    ? undefined
    : `image_source names image ${name}, whose origin is none that images may come from (TEMPER_IMAGE_ORIGINS)`;

/** Asks the store nothing for an instance that names no record. Throws InstanceInfoInvalid. */
export const requireImage = async (ctx: OrderContext, { instance_info }: NodeRow, node: string): Promise<void> => {
  const name = imageNamed(instance_info.image_source);
  if (name === undefined) return;
  const image = await ctx.inventory.images.find(name);
  const reason = image
    ? (pinFault(instance_info, image) ?? originFault(ctx, image))
    : `image_source names image ${name}, which is not on record`;
  if (reason !== undefined) raise('InstanceInfoInvalid', { node, reason });
};
