/** Queries of imports: the imported objects, and their writes. */
import type { Db } from './database';
import { type ResourceValues, type Stored, writtenColumns } from './resources';

export type Imported = {
  readonly kind: string;
  readonly uuid: string;
  readonly source_digest: string;
  readonly taken_digest: string;
};

export const imports = (sql: Db) => {
  return {
    async all(): Promise<Imported[]> {
      return sql<Imported[]>`select kind, uuid, source_digest, taken_digest from imports`;
    },

    /** SHA-256 of some columns of a row. @param lock keeps the row unchanged until the transaction ends */
    async digest(
      { name }: Stored,
      uuid: string,
      columns: readonly string[],
      { lock = false }: { readonly lock?: boolean } = {},
    ): Promise<string | undefined> {
      const [row] = await sql<{ digest: string }[]>`
        select encode(sha256(convert_to((
          select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(t)) where key in ${sql([...columns])}
        )::text, 'UTF8')), 'hex') as digest from ${sql(name)} t where uuid = ${uuid} ${lock ? sql`for no key update` : sql``}`;
      return row?.digest;
    },

    /** Throws what `brokenUnique` and `brokenReference` recognise. */
    async insert({ name, table }: Stored, values: ResourceValues): Promise<void> {
      await sql`insert into ${sql(name)} ${sql(writtenColumns(sql, table, values))}`;
    },

    /** Throws the same. */
    async replace({ name, table }: Stored, uuid: string, values: ResourceValues): Promise<void> {
      await sql`update ${sql(name)} set ${sql(writtenColumns(sql, table, values))} where uuid = ${uuid}`;
    },

    async isHeld(node: string): Promise<boolean> {
      const [row] = await sql`select 1 from nodes where uuid = ${node} and reservation is not null`;
      return row !== undefined;
    },

    /** An existing link stays. */
    async link(node: string, allocation: string): Promise<void> {
      await sql`update nodes set allocation_uuid = ${allocation} where uuid = ${node} and allocation_uuid is null`;
    },

    async record({ kind, uuid, source_digest, taken_digest }: Imported): Promise<void> {
      await sql`
        insert into imports (kind, uuid, source_digest, taken_digest) values (${kind}, ${uuid}, ${source_digest}, ${taken_digest})
        on conflict (kind, uuid) do update
          set source_digest = excluded.source_digest, taken_digest = excluded.taken_digest, imported_at = now()`;
    },
  };
};
