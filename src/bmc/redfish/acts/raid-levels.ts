/** RAID levels, and comparison of volumes with logical disks. Pure. */
import { ownValue } from '../../../model/own';
import type { VolumeSeen } from '../discovery/raid-storage';

/** A logical disk that raidFault accepted. */
export type LogicalDisk = {
  readonly raid_level: string;
  readonly size_gb: number | 'MAX';
  readonly volume_name?: string;
  readonly is_root_volume?: boolean;
  readonly share_physical_disks?: boolean;
  readonly disk_type?: 'hdd' | 'ssd';
  readonly interface_type?: string;
  readonly number_of_physical_disks?: number;
  readonly controller?: string;
  readonly physical_disks?: readonly unknown[];
};

export type PlannedVolume = {
  /** Index in the configuration. */
  readonly index: number;
  readonly controller: string;
  readonly volumesPath: string;
  readonly raidType: string;
  /** Null: as large as its drives allow. */
  readonly bytes: number | null;
  readonly name: string | null;
  readonly root: boolean;
  readonly drives: readonly string[];
};

export type Level = {
  readonly type: string;
  readonly least: number;
  readonly step: number;
  readonly most?: number;
  readonly data: (drives: number) => number;
};

/** DMTF Volume.v1_6_0 RAIDType. `data`: capacity of n drives, in drives. 5+0 and 6+0 count as two spans. */
export const levels: Readonly<Record<string, Level>> = {
  '0': { type: 'RAID0', least: 1, step: 1, data: (n) => n },
  '1': { type: 'RAID1', least: 2, step: 1, most: 2, data: () => 1 },
  '5': { type: 'RAID5', least: 3, step: 1, data: (n) => n - 1 },
  '6': { type: 'RAID6', least: 4, step: 1, data: (n) => n - 2 },
  '1+0': { type: 'RAID10', least: 4, step: 2, data: (n) => n / 2 },
  '5+0': { type: 'RAID50', least: 6, step: 2, data: (n) => n - 2 },
  '6+0': { type: 'RAID60', least: 8, step: 2, data: (n) => n - 4 },
};

export const levelOf = (raidType: string | undefined): string | undefined =>
  Object.entries(levels).find(([, { type }]) => type === raidType)?.[0];

export const gib = 1024 ** 3;

/** Controllers round sizes, so a small difference is equal. */
const sameSize = (wanted: number, found: number): boolean => Math.abs(found - wanted) <= Math.max(gib, wanted / 100);

/** Ignores the name: controllers shorten or replace it. */
export const isPlanned = (wanted: PlannedVolume, found: VolumeSeen): boolean =>
  found.raidType === wanted.raidType &&
  (wanted.bytes === null || sameSize(wanted.bytes, found.bytes)) &&
  found.drives.length === wanted.drives.length &&
  wanted.drives.every((path) => found.drives.includes(path));

const isOn = (found: VolumeSeen, name: unknown): boolean =>
  found.drives.some((path) => path === name || path.endsWith(`/${String(name)}`));

/** Drives count only if the logical disk names them. */
export const isDisk = (disk: LogicalDisk, found: VolumeSeen): boolean =>
  found.raidType === ownValue(levels, disk.raid_level)?.type &&
  (disk.size_gb === 'MAX' || sameSize(disk.size_gb * gib, found.bytes)) &&
  (disk.volume_name === undefined || disk.volume_name === found.name) &&
  (disk.number_of_physical_disks === undefined || disk.number_of_physical_disks === found.drives.length) &&
  (disk.physical_disks ?? []).every((name) => isOn(found, name));
