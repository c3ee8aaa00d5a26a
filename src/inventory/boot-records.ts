/** Queries of boot service records, which never change. */
import { asUuid } from '../model/ids';
import { columnsOf, type Db } from './database';

export type BootRecord<Values> = Values & { readonly uuid: string; readonly created_at: Date };

/** @param given columns of a new record */
export const bootRecords = <Values extends { readonly name: string }>(
  sql: Db,
  table: 'images' | 'ramdisks',
  given: readonly (keyof Values & string)[],
) => {
  type Row = BootRecord<Values>;
  const columns = ['uuid', ...given, 'created_at'];
  return {
    /** By name. @param after name of the last record before */
    async list({ limit, after }: { limit: number; after?: string }): Promise<Row[]> {
      return sql<Row[]>`
        select ${sql(columns)} from ${sql(table)} where ${after === undefined ? sql`true` : sql`name > ${after}`}
        order by name limit ${limit}`;
    },

    async find(ident: string): Promise<Row | undefined> {
      const [row] = await sql<Row[]>`
        select ${sql(columns)} from ${sql(table)} where name = ${ident} or uuid = ${asUuid(ident) ?? null}
        order by name = ${ident} desc`;
      return row;
    },

    /** Undefined if the name is taken. */
    async create(values: Values): Promise<Row | undefined> {
      const row = Object.fromEntries(given.map((name) => [name, values[name]]));
      const [made] = await sql<Row[]>`
        insert into ${sql(table)} ${columnsOf(sql, row)} on conflict (name) do nothing returning ${sql(columns)}`;
      return made;
    },

    async delete(uuid: string): Promise<boolean> {
      return (await sql`delete from ${sql(table)} where uuid = ${uuid} returning 1`).length === 1;
    },
  };
};
