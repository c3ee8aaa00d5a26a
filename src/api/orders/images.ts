/** Checks of the image record that an instance names. */
import type { ImageRow } from '../../inventory/images';
import type { NodeRow } from '../../inventory/nodes/nodes';
import { isAllowedOrigin } from '../../model/access/origins';
import { imageNamed, pinFault } from '../../model/boot/images';
import { raise } from '../../model/errors';
import type { OrderContext } from './context';

/** The reason why the boot service refuses an image. It omits the URL, which the tenant may not see. */
const originFault = ({ settings }: OrderContext, { name, url }: ImageRow): string | undefined =>
  url === null || isAllowedOrigin(settings.imageOrigins, url)
    ? undefined
    : `image_source names image ${name}, whose origin is none that images may come from (TEMPER_IMAGE_ORIGINS)`;

/** Runs no query for an instance without image record. Throws InstanceInfoInvalid. */
export const requireImage = async (ctx: OrderContext, { instance_info }: NodeRow, node: string): Promise<void> => {
  const name = imageNamed(instance_info.image_source);
  if (name === undefined) return;
  const image = await ctx.inventory.images.find(name);
  const reason = image
    ? (pinFault(instance_info, image) ?? originFault(ctx, image))
    : `image_source names image ${name}, which is not on record`;
  if (reason !== undefined) raise('InstanceInfoInvalid', { node, reason });
};
