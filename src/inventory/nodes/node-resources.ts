/** Queries of resources of a node, which decides about access. */
import { asUuid } from '../../model/ids';
import { always } from '../../model/predicates';
import type { HomeNode, NodeResourceRow } from '../../model/resources/node-resources';
import type { Db } from '../database';
import { columnsOfLine, givenBase, hasDocuments, type Line, type LinesPage, lineText } from '../lines';
import { linesOf, type Page, type PageListed } from '../pages';
import { conditionOf } from '../predicates';
import { isNamed, type Selection, type Stored, writes } from '../resources';

const nodeColumns = [
  'uuid',
  'name',
  'owner',
  'lessee',
  'provision_state',
  'power_state',
  'instance_uuid',
  'maintenance',
  'reservation',
] as const satisfies readonly (keyof HomeNode)[];

/** Columns of the node. */
const ofHome: readonly string[] = ['owner', 'lessee'];

export type NodeResourceFound<Row> = { readonly row: Row; readonly node: HomeNode };

/** `lock` protects it from changes until the transaction ends. */
const findHome = async (
  sql: Db,
  ident: string,
  { lock = false }: { lock?: boolean } = {},
): Promise<HomeNode | undefined> => {
  const uuid = asUuid(ident);
  const [row] = await sql<HomeNode[]>`
    select ${sql(nodeColumns)} from nodes
    where ${uuid ? sql`uuid = ${uuid}` : sql`name = ${ident}`} ${lock ? sql`for share` : sql``}`;
  return row;
};

export const nodeResource = <Row extends NodeResourceRow>(sql: Db, stored: Stored) => {
  const table = sql(stored.name);
  const sourceOf = (column: string): string => (ofHome.includes(column) ? 'n' : stored.name);
  const listed = (
    columns: PageListed['columns'],
    names: readonly string[],
    { visible, home = always, filter }: Selection,
  ): PageListed => {
    const ofNodes = [visible, home].some(({ is }) => is !== 'true') || names.some((name) => ofHome.includes(name));
    return {
      table: stored.name,
      from: sql`${table} ${ofNodes ? sql`join nodes n on n.uuid = ${sql(`${stored.name}.node_uuid`)}` : sql``}`,
      columns,
      visible: conditionOf(sql, visible, 'n'),
      wanted: sql`${conditionOf(sql, home, 'n')} and ${conditionOf(sql, filter, stored.name)}`,
    };
  };
  return {
    ...writes<Row>(sql, stored),

    findNode: (ident: string, options?: { lock?: boolean }) => findHome(sql, ident, options),

    async isFull(node: string, most: number): Promise<boolean> {
      const [row] = await sql<{ full: boolean }[]>`
        select count(*) >= ${most} as full from (select from ${table} where node_uuid = ${node} limit ${most}) counted`;
      return row!.full;
    },

    /** By UUID in any form or by name. `lock` locks the row. */
    async find(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<NodeResourceFound<Row> | undefined> {
      const [found] = await sql<(Row & { home: HomeNode })[]>`
        select ${table}.*, home.home from ${table} join lateral (select to_jsonb(n) as home from (
          select ${sql(nodeColumns)} from nodes where uuid = ${sql(`${stored.name}.node_uuid`)}) n) home on true
        where ${isNamed(sql, stored, ident)} ${lock ? sql`for update of ${table}` : sql``}`;
      if (!found) return undefined;
      const { home, ...row } = found;
      return { row: row as unknown as Row, node: home };
    },

    /** A page as text; `owner` and `lessee` are the node's. Throws MarkerNotFound. */
    lines(line: Line, base: string, selection: Selection, page: Page): Promise<LinesPage> {
      const of = (column: string) => `"${sourceOf(column)}"."${column}"`;
      const rows = listed(sql`${sql.unsafe(lineText(line, of))}`, columnsOfLine(line), selection);
      return linesOf(sql, { ...rows, beside: givenBase(sql, base), withDocuments: hasDocuments(line) }, page);
    },
  };
};
