/** Queries of ramdisks: boot images, identified by digests. */
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

  /** UUID of a node whose run boots it. */
  async user(uuid: string): Promise<string | undefined> {
    const [row] = await sql<{ node_uuid: string }[]>`
      select b.node_uuid from boot_capabilities b join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id
      where b.ramdisk_uuid = ${uuid} limit 1`;
    return row?.node_uuid;
  },
});
