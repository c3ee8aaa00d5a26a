/** Queries of freezes. */
import type { FreezeUuid, NodeUuid, ProjectId } from '../../model/ids';
import type { Predicate } from '../../model/predicates';
import type { Requester } from '../../model/runs/runs';
import { type Db, jsonOf, uuidArray } from '../database';
import { conditionOf } from '../predicates';

export type Freeze = {
  readonly id: FreezeUuid;
  readonly node_uuid: NodeUuid;
  readonly reason: string;
  readonly requester: Requester;
  readonly created_at: Date;
  /** Null lasts until an operator ends it. */
  readonly until: Date | null;
  readonly ended_at: Date | null;
  readonly ended_by: Requester | null;
  /** Neither ended nor over, by PostgreSQL's clock. */
  readonly active: boolean;
};

/** With its node, for lists and policy rules. */
export type ListedFreeze = Freeze & {
  readonly node_name: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
};

export type FreezeSelection = {
  /** Over columns of nodes. */
  readonly visible: Predicate;
  readonly node?: NodeUuid;
  /** Includes inactive ones. */
  readonly all: boolean;
  readonly limit: number;
  /** Last freeze of the page before. */
  readonly after?: FreezeUuid;
};

/** See `Freeze.active`. */
export const activeFreeze = (sql: Db) =>
  sql`(freezes.ended_at is null and (freezes.until is null or freezes.until > now()))`;

export const freezes = (sql: Db) => {
  const active = activeFreeze(sql);
  const listed = sql`
    select freezes.*, ${active} as active, nodes.name as node_name, nodes.owner, nodes.lessee
    from freezes join nodes on nodes.uuid = freezes.node_uuid`;

  return {
    /** The node's active freeze that lasts longest. */
    async active(node: NodeUuid): Promise<Freeze | undefined> {
      const [row] = await sql<Freeze[]>`
        select *, true as active from freezes where node_uuid = ${node} and ${active}
        order by until desc nulls first, created_at limit 1`;
      return row;
    },

    activeOf: (nodes: readonly NodeUuid[]): Promise<Freeze[]> => sql<Freeze[]>`
      select distinct on (node_uuid) *, true as active from freezes
      where node_uuid = any (${uuidArray(sql, nodes)}) and ${active}
      order by node_uuid, until desc nulls first, created_at`,

    async find(id: FreezeUuid): Promise<ListedFreeze | undefined> {
      const [row] = await sql<ListedFreeze[]>`${listed} where freezes.id = ${id}`;
      return row;
    },

    /** Newest first. PostgreSQL reads the marker's time, because a Date would lose microseconds. */
    async list({ visible, node, all, limit, after }: FreezeSelection): Promise<ListedFreeze[]> {
      const place = sql`(select m.created_at from freezes m where m.id = ${after ?? null})`;
      return sql<ListedFreeze[]>`
        ${listed} where ${conditionOf(sql, visible, 'nodes')}
          ${node ? sql`and freezes.node_uuid = ${node}` : sql``}
          ${all ? sql`` : sql`and ${active}`}
          ${after ? sql`and freezes.created_at <= ${place} and (freezes.created_at < ${place} or (freezes.created_at = ${place} and freezes.id > ${after}))` : sql``}
        order by freezes.created_at desc, freezes.id limit ${limit}`;
    },

    async create(row: Pick<Freeze, 'node_uuid' | 'reason' | 'requester' | 'until'>): Promise<Freeze> {
      const [made] = await sql<Freeze[]>`
        insert into freezes (node_uuid, reason, requester, until)
        values (${row.node_uuid}, ${row.reason}, ${jsonOf(sql, row.requester)}, ${row.until})
        returning *, ${active} as active`;
      return made!;
    },

    /** Undefined if it has ended or is over. */
    async end(id: FreezeUuid, by: Requester): Promise<Freeze | undefined> {
      const [ended] = await sql<Freeze[]>`
        update freezes set ended_at = now(), ended_by = ${jsonOf(sql, by)} where id = ${id} and ${active}
        returning *, false as active`;
      return ended;
    },
  };
};
