/** Queries that resources of a node share: like those of the installation, beside the node by which all is decided. */
import { asUuid } from '../../model/ids';
import { always } from '../../model/predicates';
import type { HomeNode, NodeResourceRow } from '../../model/resources/node-resources';
import type { Db } from '../database';
import { asFound, columnIn, type ListColumn, listColumns, type Make, type Page, pageOf } from '../pages';
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

/** Columns of a list that are the node's. */
const ofHome: readonly string[] = ['owner', 'lessee'];

export type NodeResourceFound<Row> = { readonly row: Row; readonly node: HomeNode };

/** The node that something is to belong to, by UUID or name. `lock` keeps it from changing until the transaction ends. */
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
  return {
    ...writes<Row>(sql, stored),

    /** As `findHome` has it. */
    findNode: (ident: string, options?: { lock?: boolean }) => findHome(sql, ident, options),

    /** By UUID in any form or by name, with its node. `lock` keeps the row for the transaction it is asked in. */
    async find(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<NodeResourceFound<Row> | undefined> {
      const [found] = await sql<(Row & { home: HomeNode })[]>`
        select ${table}.*, home.home from ${table} join lateral (select to_jsonb(n) as home from (
          select ${sql(nodeColumns)} from nodes where uuid = ${sql(`${stored.name}.node_uuid`)}) n) home on true
        where ${isNamed(sql, stored, ident)} ${lock ? sql`for update of ${table}` : sql``}`;
      if (!found) return undefined;
      const { home, ...row } = found;
      return { row: row as unknown as Row, node: home };
    },

    /** Rows of a page with the columns asked for, of which `owner` and `lessee` are those of the node. Throws MarkerNotFound. */
    list<Made = Partial<Row>>(
      names: readonly ListColumn[],
      { visible, home = always, filter }: Selection,
      page: Page,
      make: Make<Partial<Row>, Made> = asFound,
    ): Promise<Made[]> {
      const isHome = (name: string): boolean => ofHome.includes(name);
      const ofNodes = [visible, home].some(({ is }) => is !== 'true') || names.some((name) => isHome(columnIn(name)));
      return pageOf(
        sql,
        {
          table: stored.name,
          from: sql`${table} ${ofNodes ? sql`join nodes n on n.uuid = ${sql(`${stored.name}.node_uuid`)}` : sql``}`,
          columns: listColumns(sql, names, (name) => (isHome(name) ? 'n' : stored.name)),
          visible: conditionOf(sql, visible, 'n'),
          wanted: sql`${conditionOf(sql, home, 'n')} and ${conditionOf(sql, filter, stored.name)}`,
        },
        page,
        make,
      );
    },
  };
};
