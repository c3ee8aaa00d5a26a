/** Queries of images: what deployments write to disks, known by their digests. */
import type { ImageValues } from '../model/boot/images';
import { asUuid } from '../model/ids';
import type { Db } from './database';

export type ImageRow = ImageValues & { readonly uuid: string; readonly created_at: Date };

const columns = ['uuid', 'name', 'url', 'sha256', 'bytes', 'disk_format', 'kind', 'created_at'] as const;

export const images = (sql: Db) => ({
  async list(): Promise<ImageRow[]> {
    return sql<ImageRow[]>`select ${sql(columns)} from images order by name`;
  },

  /** By its name, or its UUID. */
  async find(ident: string): Promise<ImageRow | undefined> {
    const [row] = await sql<ImageRow[]>`
      select ${sql(columns)} from images where name = ${ident} or uuid = ${asUuid(ident) ?? null} order by name = ${ident} desc`;
    return row;
  },

  /** Undefined where the name is taken. */
  async create({ name, url, sha256, bytes, disk_format, kind }: ImageValues): Promise<ImageRow | undefined> {
    const [row] = await sql<ImageRow[]>`
      insert into images ${sql({ name, url, sha256, bytes, disk_format, kind })}
      on conflict (name) do nothing returning ${sql(columns)}`;
    return row;
  },

  /** A node whose run writes this image, by its UUID; undefined where there is none. */
  async user(uuid: string): Promise<string | undefined> {
    const [row] = await sql<{ node_uuid: string }[]>`
      select c.node_uuid from image_capabilities c
        join nodes n on n.uuid = c.node_uuid and n.reservation = c.run_id and n.fence = c.fence
      where c.image_uuid = ${uuid} limit 1`;
    return row?.node_uuid;
  },

  async delete(uuid: string): Promise<boolean> {
    return (await sql`delete from images where uuid = ${uuid} returning 1`).length === 1;
  },
});
