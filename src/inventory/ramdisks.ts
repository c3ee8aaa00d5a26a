/** Queries of ramdisks: the boot images that are served, known by their digests. */
import type { RamdiskValues } from '../model/boot/ramdisks';
import { type BootRecord, bootRecords } from './boot-records';
import type { Db } from './database';

export type RamdiskRow = BootRecord<RamdiskValues>;

const given = [
  'name', 'arch', 'args', 'kernel_sha256', 'initrd_sha256', 'iso_sha256', 'iso_bytes', 'arguments_at', 'arguments_bytes',
  'files_at', 'files_bytes',
] as const; // biome-ignore format: one row of names

export const ramdisks = (sql: Db) => ({
  ...bootRecords<RamdiskValues>(sql, 'ramdisks', given),

  /** A node whose run boots from this ramdisk, by its UUID; undefined where there is none. */
  async user(uuid: string): Promise<string | undefined> {
    const [row] = await sql<{ node_uuid: string }[]>`
      select b.node_uuid from boot_capabilities b join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id
      where b.ramdisk_uuid = ${uuid} limit 1`;
    return row?.node_uuid;
  },
});
