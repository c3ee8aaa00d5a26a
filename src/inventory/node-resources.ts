/** Queries that resources of a node share: like those of the installation, beside the node by which all is decided. */
import { asUuid } from '../model/ids';
import type { HomeNode, NodeResourceRow } from '../model/node-resources';
import type { Predicate } from '../model/predicates';
import type { Db } from './database';
import { afterMarker, limitTo, orderBy, type Page, type Place } from './pages';
import { where } from './predicates';
import { named, type Stored, writes } from './resources';

const nodeColumns = [
  'uuid',
  'name',
  'owner',
  'lessee',
  'provision_state',
  'power_state',
  'maintenance',
  'reservation',
] as const satisfies readonly (keyof HomeNode)[];

export type Found<Row> = { readonly row: Row; readonly node: HomeNode };

export type HomeSelection = {
  /** Of the columns of nodes: whose the caller may see. */
  readonly visible: Predicate;
  /** Of the columns of nodes: whose the caller wants. */
  readonly home: Predicate;
  /** Of the columns of the resource. */
  readonly filter: Predicate;
};

/** The node that something is to belong to, by UUID or name. `lock` keeps it from changing until the transaction ends. */
export const findHome = async (
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
    async find(ident: string, { lock = false }: { lock?: boolean } = {}): Promise<Found<Row> | undefined> {
      const [found] = await sql<(Row & { home: HomeNode })[]>`
        select ${table}.*, home.home from ${table} join lateral (select to_jsonb(n) as home from (
          select ${sql(nodeColumns)} from nodes where uuid = ${sql(`${stored.name}.node_uuid`)}) n) home on true
        where ${named(sql, stored, ident)} ${lock ? sql`for update of ${table}` : sql``}`;
      if (!found) return undefined;
      const { home, ...row } = found;
      return { row: row as unknown as Row, node: home };
    },

    /** Rows of a page with the columns asked for, and `owner` and `lessee` of their nodes. */
    async list(names: readonly string[], selection: HomeSelection, page: Page): Promise<Partial<Row>[]> {
      const { visible, home, filter } = selection;
      const columns = [...names.map((name) => `${stored.name}.${name}`), 'n.owner', 'n.lessee'];
      return sql<(Partial<Row> & object)[]>`
        select ${sql(columns)} from ${table} join nodes n on n.uuid = ${sql(`${stored.name}.node_uuid`)}
        where ${where(sql, visible, 'n')} and ${where(sql, home, 'n')} and ${where(sql, filter, stored.name)}
          and ${afterMarker(sql, stored.name, page)}
        ${orderBy(sql, stored.name, page)} ${limitTo(sql, page)}`;
    },

    /** The place of a marker among the rows whose nodes are visible, or undefined. */
    async marker(uuid: string, sort_key: string, visible: Predicate): Promise<Place | undefined> {
      const [row] = await sql<Place[]>`
        select ${sql(`${stored.name}.id`)}, ${sql(`${stored.name}.${sort_key}`)} is null as empty
        from ${table} join nodes n on n.uuid = ${sql(`${stored.name}.node_uuid`)}
        where ${sql(`${stored.name}.uuid`)} = ${uuid} and ${where(sql, visible, 'n')}`;
      return row;
    },
  };
};

export type NodeResourceQueries<Row extends NodeResourceRow> = ReturnType<typeof nodeResource<Row>>;
