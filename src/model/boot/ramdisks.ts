/** Ramdisk records: boot images, and references to them. */

import { ownValue } from '../own';

/** Bytes from the image's beginning. */
export type Area = { readonly at: number; readonly bytes: number };

/** Files are identified by SHA-256 digests in hexadecimal. */
export type RamdiskValues = {
  readonly name: string;
  readonly arch: string;
  /** Kernel arguments of every boot. */
  readonly args: string;
  readonly kernel_sha256: string | null;
  readonly initrd_sha256: string | null;
  readonly iso_sha256: string;
  readonly iso_bytes: number;
  readonly arguments_at: number;
  readonly arguments_bytes: number;
  readonly files_at: number;
  readonly files_bytes: number;
};

export const ramdiskArchitectures = ['x86_64', 'aarch64'] as const;

const architectureAliases: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };

/** True also if the node has no recorded `cpu_arch`. */
export const startsOn = ({ arch }: Pick<RamdiskValues, 'arch'>, cpu_arch: unknown): boolean =>
  typeof cpu_arch !== 'string' ||
  cpu_arch === '' ||
  (ownValue(architectureAliases, cpu_arch.toLowerCase()) ?? cpu_arch.toLowerCase()) === arch;

const prefix = 'ramdisk:';

/** Names are used in URLs and commands. */
export const ramdiskNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** Undefined for anything but a reference such as `ramdisk:debian`. */
export const ramdiskNamed = (value: unknown): string | undefined =>
  typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;

export const ramdiskReference = (name: string): string => `${prefix}${name}`;

/** For network boot, it must have a kernel and initramfs. */
export const isLoadable = ({
  kernel_sha256,
  initrd_sha256,
}: Pick<RamdiskValues, 'kernel_sha256' | 'initrd_sha256'>): boolean => kernel_sha256 !== null && initrd_sha256 !== null;

export const notLoadable =
  'which was added as an image (--iso): boot by the network needs one that was added by --kernel and --initrd';

// Room follows each mark. Its place is found once, when a ramdisk is added.
export const areaMarks = { arguments: '@@TEMPER-KERNEL-ARGUMENTS@@', files: '@@TEMPER-SMALL-FILES@@' } as const;
