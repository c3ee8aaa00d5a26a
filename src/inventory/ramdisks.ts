/** Queries of ramdisks: the boot images that are served, known by their digests. */
import type { RamdiskValues } from '../model/boot/ramdisks';
import { asUuid } from '../model/ids';
import type { Db } from './database';

export type RamdiskRow = RamdiskValues & { readonly uuid: string; readonly created_at: Date };

const ramdiskColumns = [
  'uuid', 'name', 'arch', 'args', 'kernel_sha256', 'initrd_sha256', 'iso_sha256', 'iso_bytes', 'arguments_at',
  'arguments_bytes', 'files_at', 'files_bytes', 'created_at',
] as const; // biome-ignore format: one row of names

export const ramdisks = (sql: Db) => ({
  async list(): Promise<RamdiskRow[]> {
    return sql<RamdiskRow[]>`select ${sql(ramdiskColumns)} from ramdisks order by name`;
  },

  /** By its name, or its UUID. */
  async find(ident: string): Promise<RamdiskRow | undefined> {
    const [row] = await sql<RamdiskRow[]>`
      select ${sql(ramdiskColumns)} from ramdisks where name = ${ident} or uuid = ${asUuid(ident) ?? null} order by name = ${ident} desc`;
    return row;
  },

  /** Undefined where the name is taken. */
  async create(values: RamdiskValues): Promise<RamdiskRow | undefined> {
    const [row] = await sql<RamdiskRow[]>`
      insert into ramdisks ${sql(values, ...ramdiskColumns.filter(isGiven))} on conflict (name) do nothing returning ${sql(ramdiskColumns)}`;
    return row;
  },

  /** A node whose run boots from this ramdisk, by its UUID; undefined where there is none. */
  async user(uuid: string): Promise<string | undefined> {
    const [row] = await sql<{ node_uuid: string }[]>`
      select b.node_uuid from boot_capabilities b join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id
      where b.ramdisk_uuid = ${uuid} limit 1`;
    return row?.node_uuid;
  },

  async delete(uuid: string): Promise<boolean> {
    return (await sql`delete from ramdisks where uuid = ${uuid} returning 1`).length === 1;
  },
});

const isGiven = (
  name: (typeof ramdiskColumns)[number],
): name is keyof RamdiskValues & (typeof ramdiskColumns)[number] => name !== 'uuid' && name !== 'created_at';
