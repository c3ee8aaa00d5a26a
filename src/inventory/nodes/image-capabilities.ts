/** Queries of image URLs: a BMC worker makes them, the boot service looks them up. */
import { type Digest, digestKey, type HashAlgorithm } from '../../model/boot/images';
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { Db } from '../database';
import { type Fenced, heldBy } from '../fence';
import type { ImageRow } from '../images';

export type ServedImage = {
  readonly node_uuid: NodeUuid;
  readonly run_id: RunUuid;
  readonly image: Pick<ImageRow, 'name' | 'url' | 'bytes'> &
    Digest & {
      /** Null for the image of a record. */
      readonly glance_id: string | null;
    };
};

/** An image record, or an image of Glance as the run froze it. */
export type CapabilityOf =
  | { readonly image_uuid: string }
  | {
      readonly glance_id: string;
      readonly hash_algo: HashAlgorithm;
      readonly hash_value: string;
      readonly bytes: number;
    };

export const imageCapabilities = (sql: Db) => ({
  /** Deletes URLs of earlier runs. False if the lock is lost. */
  async make(lock: Fenced, made: CapabilityOf & { readonly url_hash: string }): Promise<boolean> {
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
        jsonb_build_object('name', coalesce(i.name, c.glance_id::text), 'url', i.url, 'bytes', coalesce(c.bytes, i.bytes),
          'algorithm', coalesce(c.hash_algo, 'sha256'), 'digest', coalesce(c.hash_value, i.sha256),
          'glance_id', c.glance_id) as image
      from image_capabilities c left join images i on i.uuid = c.image_uuid
        join nodes n on n.uuid = c.node_uuid and n.reservation = c.run_id and n.fence = c.fence
      where c.url_hash = ${url_hash}`;
    return row;
  },

  /**
   * Names of files that no cache may evict: runs write them, or they have no source.
   * @param but a URL that does not count
   */
  async kept(but: string | null = null): Promise<string[]> {
    const rows = await sql<Digest[]>`
      select 'sha256' as algorithm, sha256 as digest from images where url is null
      union
      select coalesce(c.hash_algo, 'sha256'), coalesce(c.hash_value, i.sha256)
      from image_capabilities c left join images i on i.uuid = c.image_uuid
        join nodes n on n.uuid = c.node_uuid and n.reservation = c.run_id and n.fence = c.fence
      where c.url_hash is distinct from ${but}`;
    return rows.map(digestKey);
  },
});
