/** Queries of images that deployments write to disks, identified by digests. */
import type { ImageValues } from '../model/boot/images';
import { type BootRecord, bootRecords } from './boot-records';
import type { Db } from './database';

export type ImageRow = BootRecord<ImageValues>;

export const images = (sql: Db) => ({
  ...bootRecords<ImageValues>(sql, 'images', ['name', 'url', 'sha256', 'bytes', 'disk_format', 'kind']),

  /** UUID of a node whose run writes this image. */
  async user(uuid: string): Promise<string | undefined> {
    const [row] = await sql<{ node_uuid: string }[]>`
      select c.node_uuid from image_capabilities c
        join nodes n on n.uuid = c.node_uuid and n.reservation = c.run_id and n.fence = c.fence
      where c.image_uuid = ${uuid} limit 1`;
    return row?.node_uuid;
  },
});
