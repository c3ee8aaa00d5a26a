/** Queries that resources share, driven by the resource's table. */

import { asUuid } from '../model/ids';
import type { Predicate } from '../model/predicates';
import { columnOf, fieldOf, type ResourceTable } from '../model/resources/fields';
import { columnsOf, type Db, jsonOf } from './database';
import { givenBase, hasDocuments, type Line, type LinesPage, lineText } from './lines';
import { linesOf, type Page, type PageListed } from './pages';
import { conditionOf } from './predicates';

/** Fields without a column are left out. */
export type ResourceValues = Readonly<Record<string, unknown>>;

export type Stored = {
  readonly name: string;
  readonly table: ResourceTable;
};

/** Encodes documents as JSON. Names unknown to the API pass unchanged. */
export const writtenColumns = (sql: Db, table: ResourceTable, values: ResourceValues): Record<string, unknown> => {
  const columns: Record<string, unknown> = {};
  for (const name of Object.keys(values)) {
    const row = fieldOf(table, name);
    if (values[name] === undefined || (row && columnOf(row) === undefined)) continue;
    columns[name] = row?.type === 'object' || row?.type === 'list' ? jsonOf(sql, values[name]) : values[name];
  }
  return columns;
};

/** Matches a UUID in any form, or a name if rows have names. */
export const isNamed = (sql: Db, { name, table }: Stored, ident: string) => {
  const uuid = asUuid(ident);
  if (uuid) return sql`${sql(`${name}.uuid`)} = ${uuid}`;
  return fieldOf(table, 'name') ? sql`${sql(`${name}.name`)} = ${ident}` : sql`false`;
};

export const writes = <Row>(sql: Db, { name, table }: Stored) => ({
  /** A duplicate violates a unique constraint, an unknown reference a foreign key. */
  async insert(values: ResourceValues): Promise<Row> {
    const [row] = await sql<
      (Row & object)[]
    >`insert into ${sql(name)} ${sql(writtenColumns(sql, table, values))} returning *`;
    return row!;
  },

  /** `values` may be empty. */
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

export type Selection = {
  /** Over columns of nodes if rows belong to one, else of the row. */
  readonly visible: Predicate;
  /** Over columns of nodes. */
  readonly home?: Predicate;
  /** Over columns of the resource. */
  readonly filter: Predicate;
};

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

/** For rows that belong to no node. */
export const resource = <Row>(sql: Db, stored: Stored) => ({
  ...writes<Row>(sql, stored),

  /** By UUID in any form, or by name. `lock` locks the row. */
  async find(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<Row | undefined> {
    const [row] = await sql<(Row & object)[]>`
      select * from ${sql(stored.name)} where ${isNamed(sql, stored, ident)} ${lock ? sql`for update` : sql``}`;
    return row;
  },

  /** Throws MarkerNotFound. */
  lines(line: Line, base: string, selection: Selection, page: Page): Promise<LinesPage> {
    const of = (column: string) => `"${stored.name}"."${column}"`;
    const rows = ownRows(sql, stored.name, sql`${sql.unsafe(lineText(line, of))}`, selection);
    return linesOf(sql, { ...rows, beside: givenBase(sql, base), withDocuments: hasDocuments(line) }, page);
  },
});
