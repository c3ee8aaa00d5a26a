/** Image records: the image of a deployment, identified by its digest, and references to it in place of a URL. */
import { textOf } from '../texts';

export const diskFormats = ['raw', 'qcow2'] as const;
export type DiskFormat = (typeof diskFormats)[number];

export const imageKinds = ['whole-disk', 'partition'] as const;

/** The stored values of an image. */
export type ImageValues = {
  readonly name: string;
  /** Source for the boot service; null if an operator puts the file into its folder. */
  readonly url: string | null;
  /** Of all its bytes, hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  readonly disk_format: DiskFormat;
  readonly kind: (typeof imageKinds)[number];
};

const prefix = 'image:';

/** The image in a value such as `image:debian-12`; undefined for anything else, such as a URL. */
export const imageNamed = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;

/** Bytes from the beginning of an image that show its format. */
export const formatBytes = 512;

const beginsWith = (bytes: Uint8Array, text: readonly number[]): boolean =>
  text.every((byte, index) => bytes[index] === byte);

/**
 * The format of an image by its first bytes; undefined if they show neither. https://www.qemu.org/docs/master/interop/qcow2.html; a raw
 * image of a whole disk begins with an MBR, a protective one included.
 */
export const formatOf = (bytes: Uint8Array): DiskFormat | undefined => {
  if (beginsWith(bytes, [0x51, 0x46, 0x49, 0xfb])) return 'qcow2';
  return bytes[510] === 0x55 && bytes[511] === 0xaa ? 'raw' : undefined;
};

/** Keys of instance_info with a digest of the image. A record has its own digest. */
type Pins = { readonly [key in 'image_checksum' | 'image_os_hash_algo' | 'image_os_hash_value']?: unknown };

/** The reason why an instance cannot use this image: its given digest differs. Undefined if it can. */
export const pinFault = (info: Pins, { name, sha256 }: Pick<ImageValues, 'name' | 'sha256'>): string | undefined => {
  const given = (['image_os_hash_value', 'image_checksum'] as const).find((key) => {
    const value = info[key];
    return value !== undefined && value !== null && value !== '' && textOf(value).toLowerCase() !== sha256;
  });
  if (given !== undefined)
    return `${given} is not the SHA-256 digest of image ${name}, ${sha256}; leave it out, or give that one`;
  const { image_os_hash_algo: algorithm = null } = info;
  return algorithm === null || algorithm === '' || algorithm === 'sha256'
    ? undefined
    : `image_os_hash_algo is not sha256, by which image ${name} is known; leave it out`;
};
