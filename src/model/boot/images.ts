/** Image records: images of deployments, identified by digest, and references to them. */
import { textOf } from '../texts';

export const diskFormats = ['raw', 'qcow2'] as const;
export type DiskFormat = (typeof diskFormats)[number];

export const imageKinds = ['whole-disk', 'partition'] as const;

/** Digests that ramdisk and boot service check, with their hexadecimal digits. */
export const digestDigits = { sha256: 64, sha512: 128 } as const;
export type HashAlgorithm = keyof typeof digestDigits;

export type Digest = { readonly algorithm: HashAlgorithm; readonly digest: string };

/** The name of the image's file. SHA-256 is not named in it, because operators copy files by that digest alone. */
export const digestKey = ({ algorithm, digest }: Digest): string =>
  algorithm === 'sha256' ? digest : `${algorithm}-${digest}`;

export type ImageValues = {
  readonly name: string;
  /** Null if an operator puts the file into the boot service's folder. */
  readonly url: string | null;
  readonly sha256: string;
  readonly bytes: number;
  readonly disk_format: DiskFormat;
  readonly kind: (typeof imageKinds)[number];
};

const prefix = 'image:';

/** Undefined for anything but a reference such as `image:debian-12`. */
export const imageNamed = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;

export const formatBytes = 512;

const beginsWith = (bytes: Uint8Array, text: readonly number[]): boolean =>
  text.every((byte, index) => bytes[index] === byte);

/** https://www.qemu.org/docs/master/interop/qcow2.html; a raw image of a whole disk begins with an MBR, a protective one included. */
export const formatOf = (bytes: Uint8Array): DiskFormat | undefined => {
  if (beginsWith(bytes, [0x51, 0x46, 0x49, 0xfb])) return 'qcow2';
  return bytes[510] === 0x55 && bytes[511] === 0xaa ? 'raw' : undefined;
};

/** A record has its own digest. */
type Pins = { readonly [key in 'image_checksum' | 'image_os_hash_algo' | 'image_os_hash_value']?: unknown };

/** The reason why a given digest excludes this image; undefined if none does. */
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
