/** image_info for the ramdisk, from instance_info and driver_info. */
import { raise } from '../../model/errors';
import { booleanOf } from '../../model/texts';
import type { BmcNode } from '../contract';

type Info = Readonly<Record<string, unknown>>;

const textOrNone = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Whole-disk is the default, unless the image has a separate kernel. */
export const isWholeDisk = ({ instance_info: info = {} }: BmcNode): boolean =>
  info.image_type === undefined ? !(info.kernel && info.ramdisk) : info.image_type !== 'partition';

const refuse = (reason: string): never => raise('StepRejected', { step: 'write the image', reason });

const urlOf = (info: Info): string => {
  const url =
    textOrNone(info.image_url) ?? textOrNone(info.image_source) ?? refuse('instance_info has no image_source');
  return /^https?:\/\//i.test(url)
    ? url
    : refuse('instance_info image_source is no http or https URL, and the ramdisk fetches nothing else');
};

/** The id has no query, as that may have a signature. */
const idOf = (info: Info, url: string): string =>
  (textOrNone(info.image_source) ?? url).replace(/[?#].*$/, '').replace(/^.*\//, '') || 'image';

const checksums = (info: Info): Record<string, string> => {
  const [algo, value, sum] = [
    textOrNone(info.image_os_hash_algo),
    textOrNone(info.image_os_hash_value),
    textOrNone(info.image_checksum),
  ];
  if (!(algo && value) && !sum)
    refuse('instance_info has neither image_checksum nor image_os_hash_algo and image_os_hash_value');
  return { ...(sum && { checksum: sum }), ...(algo && value && { os_hash_algo: algo, os_hash_value: value }) };
};

/** Keys of instance_info by their names in image_info. */
const renamed: Readonly<Record<string, string>> = {
  image_disk_format: 'disk_format',
  image_container_format: 'container_format',
  image_server_auth_strategy: 'image_server_auth_strategy',
  image_server_user: 'image_server_user',
  image_server_password: 'image_server_password',
};

const present = (info: Info, names: Readonly<Record<string, string>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(names)
      .filter(([from]) => info[from] !== undefined && info[from] !== null)
      .map(([from, to]) => [to, info[from]]),
  );

/** Taken from driver_info like in Ironic: the operator decides how a node reaches images. */
const proxiesOf = (info: Info): Record<string, unknown> => {
  const proxies = present(info, { image_http_proxy: 'http', image_https_proxy: 'https' });
  return Object.keys(proxies).length > 0 ? { proxies, ...present(info, { image_no_proxy: 'no_proxy' }) } : {};
};

const inMb = (info: Info, what: 'root' | 'swap' | 'ephemeral'): number =>
  Number(info[`${what}_mb`] ?? Number(info[`${what}_gb`] ?? 0) * 1024);

/** Nova sends a text. What is neither yes nor no is refused, because the other reading erases data. */
const preserves = ({ preserve_ephemeral: given }: Info): boolean =>
  booleanOf(given ?? false) ?? refuse('instance_info preserve_ephemeral must be true or false');

/** A partition image needs partitions, which the ramdisk makes. Sizes in MiB. */
const partitions = (node: BmcNode, info: Info): Record<string, unknown> => {
  const root_mb = inMb(info, 'root');
  if (!(root_mb > 0)) refuse('instance_info has no root_gb, which an image of one partition needs');
  return {
    image_type: 'partition',
    root_mb,
    swap_mb: inMb(info, 'swap'),
    ephemeral_mb: inMb(info, 'ephemeral'),
    ephemeral_format: info.ephemeral_format ?? null,
    preserve_ephemeral: preserves(info),
    deploy_boot_mode: bootModeOf(node),
  };
};

/** The mode last seen, else that of instance_info, else UEFI. */
export const bootModeOf = ({ boot_mode, instance_info: info = {} }: BmcNode): string =>
  boot_mode ?? textOrNone(info.deploy_boot_mode) ?? 'uefi';

/** Throws StepRejected that names the key of instance_info. */
export const imageInfo = (node: BmcNode): Readonly<Record<string, unknown>> & { readonly urls: readonly [string] } => {
  const info = node.instance_info ?? {};
  const url = urlOf(info);
  return {
    id: idOf(info, url),
    urls: [url],
    ...checksums(info),
    ...present(info, renamed),
    ...proxiesOf(node.driver_info),
    stream_raw_images: true,
    node_uuid: node.uuid,
    ...(isWholeDisk(node) ? { image_type: 'whole-disk-image' } : partitions(node, info)),
  };
};

/** Compares images of two orders. URLs of image records differ in each attempt and lead to the same bytes. */
export const imageIdentity = ({ served_image }: BmcNode, image_info: ReturnType<typeof imageInfo>): unknown =>
  served_image ? { ...image_info, urls: [served_image.name] } : image_info;
