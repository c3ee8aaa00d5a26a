/** The image record that an instance names: it exists, and is what the instance says it wants. Can it happen. */
import type { NodeRow } from '../../inventory/nodes/nodes';
import { imageNamed, pinFault } from '../../model/boot/images';
import { raise } from '../../model/errors';
import type { OrderContext } from './context';

/** Asks the store nothing for an instance that names no record. Throws InstanceInfoInvalid. */
export const requireImage = async (ctx: OrderContext, { instance_info }: NodeRow, node: string): Promise<void> => {
  const name = imageNamed(instance_info.image_source);
  if (name === undefined) return;
  const image = await ctx.inventory.images.find(name);
  const reason = image ? pinFault(instance_info, image) : `image_source names image ${name}, which is not on record`;
  if (reason !== undefined) raise('InstanceInfoInvalid', { node, reason });
};
