/** Queries of image URLs: a BMC worker makes them, the boot service looks them up. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { Db } from '../database';
import { type Fenced, heldBy } from '../fence';
import type { ImageRow } from '../images';

export type ServedImage = {
  readonly node_uuid: NodeUuid;
  readonly run_id: RunUuid;
  readonly image: Pick<ImageRow, 'name' | 'url' | 'sha256' | 'bytes'>;
};

export const imageCapabilities = (sql: Db) => ({
  /** Deletes URLs of earlier runs. False if the lock is lost. */
  async make(lock: Fenced, made: { readonly image_uuid: string; readonly url_hash: string }): Promise<boolean> {
    const [held] = await heldBy(sql, lock);
    if (!held) return false;
    const { node_uuid, run: run_id, fence } = lock;
    await sql`
      delete from image_capabilities where node_uuid = ${node_uuid} and (run_id, fence) is distinct from (${run_id}, ${fence})`;
    await sql`insert into image_capabilities ${sql({ ...made, node_uuid, run_id, fence })}`;
    return true;
  },

  /** Undefined unless the run that made the URL still has the node. */
  async served(url_hash: string): Promise<ServedImage | undefined> {
    const [row] = await sql<ServedImage[]>`
      select c.node_uuid, c.run_id,
        jsonb_build_object('name', i.name, 'url', i.url, 'sha256', i.sha256, 'bytes', i.bytes) as image
      from image_capabilities c join images i on i.uuid = c.image_uuid
        join nodes n on n.uuid = c.node_uuid and n.reservation = c.run_id and n.fence = c.fence
      where c.url_hash = ${url_hash}`;
    return row;
  },

  /** Digests that no cache may evict: runs write them, or they have no source. */
  async kept(): Promise<string[]> {
    const rows = await sql<{ sha256: string }[]>`
      select sha256 from images where url is null
      union
      select i.sha256 from images i join image_capabilities c on c.image_uuid = i.uuid
        join nodes n on n.uuid = c.node_uuid and n.reservation = c.run_id and n.fence = c.fence`;
    return rows.map(({ sha256 }) => sha256);
  },
});
