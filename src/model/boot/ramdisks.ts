/** Ramdisk records: what is known of a boot image, and how a node names one in place of a URL. */

import { ownValue } from '../own';

/** A stretch of an image, in bytes from its beginning. */
export type Area = { readonly at: number; readonly bytes: number };

/** What is stored of a ramdisk: its files are known by their digests, SHA-256 in hexadecimal. */
export type RamdiskValues = {
  readonly name: string;
  readonly arch: string;
  /** Kernel arguments of every boot from it. */
  readonly args: string;
  readonly kernel_sha256: string | null;
  readonly initrd_sha256: string | null;
  readonly iso_sha256: string;
  readonly iso_bytes: number;
  /** Where a boot's kernel arguments are laid over the image. */
  readonly arguments_at: number;
  readonly arguments_bytes: number;
  /** Where a boot's small files are laid over it. */
  readonly files_at: number;
  readonly files_bytes: number;
};

export const ramdiskArchitectures = ['x86_64', 'aarch64'] as const;

/** Other names of theirs, as vendors and distributions have them. */
const architectureAliases: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

/** Whether a ramdisk starts on a processor, by the node's `cpu_arch`; so where that is not recorded. */
export const startsOn = ({ arch }: Pick<RamdiskValues, 'arch'>, cpu_arch: unknown): boolean =>
  typeof cpu_arch !== 'string' ||
  cpu_arch === '' ||
  (ownValue(architectureAliases, cpu_arch.toLowerCase()) ?? cpu_arch.toLowerCase()) === arch;

const prefix = 'ramdisk:';

/** What a name of a ramdisk must be like; the name stands in URLs and commands. */
export const ramdiskNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** The ramdisk that a value such as `ramdisk:debian` names; undefined where it is something else, a URL for instance. */
export const ramdiskNamed = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;

/** How a node names a ramdisk. */
export const ramdiskReference = (name: string): string => `${prefix}${name}`;

/** Whether a machine can load it by the network: it was added by its kernel and initramfs. */
export const isLoadable = ({
  kernel_sha256,
  initrd_sha256,
}: Pick<RamdiskValues, 'kernel_sha256' | 'initrd_sha256'>): boolean => kernel_sha256 !== null && initrd_sha256 !== null;

/** Why one is not. */
export const notLoadable =
  'which was added as an image (--iso): boot by the network needs one that was added by --kernel and --initrd';

// Marks within an image: what follows them is room. Found once, when a ramdisk is added.
export const areaMarks = { arguments: '@@TEMPER-KERNEL-ARGUMENTS@@', files: '@@TEMPER-SMALL-FILES@@' } as const;
