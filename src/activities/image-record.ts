/** Deployments of an image record by a boot service URL that is valid for one run of one node. */
import type { BmcNode } from '../bmc/contract';
import { hashOf, newUrlToken } from '../inventory/secrets/boot-tokens';
import { imageNamed, pinFault } from '../model/boot/images';
import { raise } from '../model/errors';
import type { Attempted } from './act-context';
import type { BmcDeps } from './bmc-deps';

/** `secrets` must not be shown. */
type Composed = { readonly node: BmcNode; readonly secrets: readonly string[] };

/**
 * For the act that writes the image. Each attempt gets a new URL, and earlier ones stay valid.
 * Throws ImageNotFound, ImageNotServed, StaleOperation.
 */
export const withImage = async (
  { act, lock }: Attempted,
  node: BmcNode,
  { inventory, boot }: Pick<BmcDeps, 'inventory' | 'boot'>,
): Promise<Composed> => {
  const { instance_info = {} } = node;
  const image = act === 'agent_write_image' ? imageNamed(instance_info.image_source) : undefined;
  if (image === undefined) return { node, secrets: [] };
  if (!boot)
    return raise('ImageNotServed', {
      image,
      reason: 'TEMPER_BOOT_URL and TEMPER_RAMDISK_API_URL are not set on the worker of this node’s conductor group',
    });
  const row = (await inventory.images.find(image)) ?? raise('ImageNotFound', { image });
  const reason = pinFault(instance_info, row);
  if (reason !== undefined) raise('ImageNotServed', { image, reason });
  const token = newUrlToken();
  const made = await inventory.transaction((store) =>
    store.imageCapabilities.make(lock, { image_uuid: row.uuid, url_hash: hashOf(token) }),
  );
  if (!made) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  const { image_checksum: _, ...asked } = instance_info;
  const path = `/boot/${token}/image`;
  return {
    node: {
      ...node,
      instance_info: {
        ...asked,
        image_url: `${boot.imagesUrl}${path}`,
        image_os_hash_algo: 'sha256',
        image_os_hash_value: row.sha256,
        image_disk_format: row.disk_format,
        image_type: row.kind === 'partition' ? 'partition' : 'whole-disk',
      },
      served_image: { name: row.name, url: `${boot.url}${path}` },
    },
    secrets: [token],
  };
};
