/** Queries that resources share, walked from a resource's table: find, write, list. */

import { asUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import { columnOf, fieldOf, type ResourceTable } from '../model/resources/fields';
import { columnsOf, type Db, jsonOf } from './database';
import { givenBase, hasDocuments, type Line, type LinesPage, lineText } from './lines';
import { linesOf, type Page, type PageListed } from './pages';
import { conditionOf } from './predicates';

/** Values to write, by field; fields without a column are left out. */
export type ResourceValues = Readonly<Record<string, unknown>>;

/** A resource's table in the store and on the wire. */
export type Stored = {
  readonly name: string;
  readonly table: ResourceTable;
};

/** Columns as the driver must send them: documents as JSON. What the wire does not know is written as it is. */
export const writtenColumns = (sql: Db, table: ResourceTable, values: ResourceValues): Record<string, unknown> => {
  const columns: Record<string, unknown> = {};
  for (const name of Object.keys(values)) {
    const row = fieldOf(table, name);
    if (values[name] === undefined || (row && columnOf(row) === undefined)) continue;
    columns[name] = row?.type === 'object' || row?.type === 'list' ? jsonOf(sql, values[name]) : values[name];
  }
  return columns;
};

/** The condition that a row is the one of this UUID in any form, or of this name where rows have names. */
export const isNamed = (sql: Db, { name, table }: Stored, ident: string) => {
  const uuid = asUuid(ident);
  if (uuid) return sql`${sql(`${name}.uuid`)} = ${uuid}`;
  return fieldOf(table, 'name') ? sql`${sql(`${name}.name`)} = ${ident}` : sql`false`;
};

/** The writes that every such table has. */
export const writes = <Row>(sql: Db, { name, table }: Stored) => ({
  /** Stores a new row. A duplicate breaks a unique constraint, an unknown reference a foreign key (database.ts). */
  async insert(values: ResourceValues): Promise<Row> {
    const [row] = await sql<
      (Row & object)[]
    >`insert into ${sql(name)} ${sql(writtenColumns(sql, table, values))} returning *`;
    return row!;
  },

  /** Changes the given values, which may be none. */
  async update(uuid: string, values: ResourceValues): Promise<Row> {
    const columns = { ...writtenColumns(sql, table, values), updated_at: sql`now()` };
    const [row] = await sql<(Row & object)[]>`
      update ${sql(name)} set ${columnsOf(sql, columns)} where uuid = ${uuid} returning *`;
    return row!;
  },

  async delete(uuid: string): Promise<void> {
    await sql`delete from ${sql(name)} where uuid = ${uuid}`;
  },
});

/** Which rows a list holds. */
export type Selection = {
  /** Those that the caller may see: of the columns of nodes where rows belong to one, else of the row's own. */
  readonly visible: Predicate;
  /** Of the columns of nodes: whose the caller wants. */
  readonly home?: Predicate;
  /** Of the columns of the resource. */
  readonly filter: Predicate;
};

/** A list of a table that needs no other. */
const ownRows = (
  sql: Db,
  table: string,
  columns: PageListed['columns'],
  { visible, filter }: Selection,
): PageListed => ({
  table,
  from: sql`${sql(table)}`,
  columns,
  visible: conditionOf(sql, visible, table),
  wanted: conditionOf(sql, filter, table),
});

/** Queries of a table whose rows belong to no node. */
export const resource = <Row>(sql: Db, stored: Stored) => ({
  ...writes<Row>(sql, stored),

  /** By UUID in any form, or by name. `lock` keeps the row for the transaction it is asked in. */
  async find(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<Row | undefined> {
    const [row] = await sql<(Row & object)[]>`
      select * from ${sql(stored.name)} where ${isNamed(sql, stored, ident)} ${lock ? sql`for update` : sql``}`;
    return row;
  },

  /** A page as text. Throws MarkerNotFound. */
  lines(line: Line, base: string, selection: Selection, page: Page): Promise<LinesPage> {
    const of = (column: string) => `"${stored.name}"."${column}"`;
    const rows = ownRows(sql, stored.name, sql`${sql.unsafe(lineText(line, of))}`, selection);
    return linesOf(sql, { ...rows, beside: givenBase(sql, base), withDocuments: hasDocuments(line) }, page);
  },
});
