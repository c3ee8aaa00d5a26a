/** Ramdisk records: boot images, and references to them in place of a URL. */

import { ownValue } from '../own';

/** A stretch of an image, in bytes from its beginning. */
export type Area = { readonly at: number; readonly bytes: number };

/** The stored values of a ramdisk. Its files are identified by SHA-256 digests in hexadecimal. */
export type RamdiskValues = {
  readonly name: string;
  readonly arch: string;
  /** Kernel arguments of every boot from it. */
  readonly args: string;
  readonly kernel_sha256: string | null;
  readonly initrd_sha256: string | null;
  readonly iso_sha256: string;
  readonly iso_bytes: number;
  /** Offset of a boot's kernel arguments in the image. */
  readonly arguments_at: number;
  readonly arguments_bytes: number;
  /** Offset of a boot's small files in the image. */
  readonly files_at: number;
  readonly files_bytes: number;
};

export const ramdiskArchitectures = ['x86_64', 'aarch64'] as const;

/** Other names of architectures, by vendors and distributions. */
const architectureAliases: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

/** True if a ramdisk boots on the node's `cpu_arch`, or if that is not recorded. */
export const startsOn = ({ arch }: Pick<RamdiskValues, 'arch'>, cpu_arch: unknown): boolean =>
  typeof cpu_arch !== 'string' ||
  cpu_arch === '' ||
  (ownValue(architectureAliases, cpu_arch.toLowerCase()) ?? cpu_arch.toLowerCase()) === arch;

const prefix = 'ramdisk:';

/** Pattern for names of ramdisks, which are used in URLs and commands. */
export const ramdiskNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** The ramdisk in a value such as `ramdisk:debian`; undefined for anything else, such as a URL. */
export const ramdiskNamed = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;

/** The reference to a ramdisk in a node. */
export const ramdiskReference = (name: string): string => `${prefix}${name}`;

/** True if a machine can load it by the network: it was added with its kernel and initramfs. */
export const isLoadable = ({
  kernel_sha256,
  initrd_sha256,
}: Pick<RamdiskValues, 'kernel_sha256' | 'initrd_sha256'>): boolean => kernel_sha256 !== null && initrd_sha256 !== null;

/** The reason why it is not. */
export const notLoadable =
  'which was added as an image (--iso): boot by the network needs one that was added by --kernel and --initrd';

// Marks within an image. Room follows each mark; its place is found once, when a ramdisk is added.
export const areaMarks = { arguments: '@@TEMPER-KERNEL-ARGUMENTS@@', files: '@@TEMPER-SMALL-FILES@@' } as const;
