/** Deployments of images that the boot service sends, by a URL that is valid for one run of one node. */
import type { BmcNode } from '../bmc/contract';
import type { CapabilityOf } from '../inventory/nodes/image-capabilities';
import { hashOf, newUrlToken } from '../inventory/secrets/boot-tokens';
import { glanceSource, plannedIn } from '../model/boot/glance-images';
import { imageKinds, imageNamed, pinFault } from '../model/boot/images';
import { raise } from '../model/errors';
import type { Attempted } from './act-context';
import type { BmcDeps } from './bmc-deps';

/** `secrets` must not be shown. */
type Composed = { readonly node: BmcNode; readonly secrets: readonly string[] };

type Info = Readonly<Record<string, unknown>>;

/** An image that the boot service sends, with the keys of instance_info that describe it. */
type Sent = { readonly name: string; readonly of: CapabilityOf; readonly info: Info };

/** Ironic takes what instance_info says before what the image says. */
const typeIn = ({ image_type: given }: Info, own: string): string => imageKinds.find((kind) => kind === given) ?? own;

/** Throws InvalidImage if the plan froze no image, or another. */
const ofGlance = (id: string, { step: { args } }: Attempted, info: Info): Sent => {
  const planned = plannedIn(args);
  if (planned?.id !== id)
    return raise('InvalidImage', { image: id, reason: 'is not the image that was accepted with the run' });
  const { os_hash_algo, os_hash_value, size, disk_format, image_type } = planned;
  return {
    name: id,
    of: { glance_id: id, hash_algo: os_hash_algo, hash_value: os_hash_value, bytes: size },
    info: {
      image_os_hash_algo: os_hash_algo,
      image_os_hash_value: os_hash_value,
      image_disk_format: disk_format,
      image_type: typeIn(info, image_type),
    },
  };
};

/** Throws ImageNotFound, ImageNotServed. */
const ofRecord = async (image: string, info: Info, { inventory }: Pick<BmcDeps, 'inventory'>): Promise<Sent> => {
  const row = (await inventory.images.find(image)) ?? raise('ImageNotFound', { image });
  const reason = pinFault(info, row);
  if (reason !== undefined) raise('ImageNotServed', { image, reason });
  return {
    name: row.name,
    of: { image_uuid: row.uuid },
    info: {
      image_os_hash_algo: 'sha256',
      image_os_hash_value: row.sha256,
      image_disk_format: row.disk_format,
      image_type: row.kind === 'partition' ? 'partition' : 'whole-disk',
    },
  };
};

/**
 * For the act that writes the image. Each attempt gets a new URL, and earlier ones stay valid.
 * Throws InvalidImage, ImageNotFound, ImageNotServed, StaleOperation.
 */
export const withImage = async (
  input: Attempted,
  node: BmcNode,
  deps: Pick<BmcDeps, 'inventory' | 'boot'>,
): Promise<Composed> => {
  const { act, lock } = input;
  const { instance_info = {} } = node;
  const record = imageNamed(instance_info.image_source);
  const glance = glanceSource(instance_info.image_source);
  if (act !== 'agent_write_image' || (record === undefined && !glance)) return { node, secrets: [] };
  const { boot, inventory } = deps;
  if (!boot)
    return raise('ImageNotServed', {
      image: record ?? glance?.id,
      reason: 'TEMPER_BOOT_URL and TEMPER_RAMDISK_API_URL are not set on the worker of this node’s conductor group',
    });
  const sent = glance
    ? ofGlance(glance.id ?? '?', input, instance_info)
    : await ofRecord(record!, instance_info, { inventory });
  const token = newUrlToken();
  const made = await inventory.transaction((store) =>
    store.imageCapabilities.make(lock, { ...sent.of, url_hash: hashOf(token) }),
  );
  if (!made) raise('StaleOperation', { node: lock.node_uuid, run: lock.run });
  const { image_checksum: _, ...asked } = instance_info;
  const path = `/boot/${token}/image`;
  return {
    node: {
      ...node,
      instance_info: { ...asked, image_url: `${boot.imagesUrl}${path}`, ...sent.info },
      served_image: { name: sent.name, url: `${boot.url}${path}` },
    },
    secrets: [token],
  };
};
