/** Events of all nodes and runs: with whose their node is now, by which it is decided who may see them. */
import type { NodeUuid, RunUuid } from '../model/ids';
import { implied, type Predicate } from '../model/predicates';
import type { Db } from './database';
import type { FeedEvent, FeedPlace } from './feed';
import { conditionOf } from './predicates';
import { runNodeColumns } from './runs/list';

export type SeenEvent = FeedEvent & {
  readonly now_owner: string | null;
  readonly now_lessee: string | null;
  /** The node's lessee, where the event is of its present lease: of a run of that lease, or since that lease began. */
  readonly tenant: string | null;
};

export type EventSelection = {
  /** Of events of runs, over `now_owner`, `now_lessee` and `tenant`. */
  readonly ofRuns: Predicate;
  /** Of other events of nodes, over the same columns. */
  readonly ofNodes: Predicate;
  readonly node?: NodeUuid;
  readonly run?: RunUuid;
  readonly kind?: string;
  /** Events before this one. */
  readonly before?: number;
  readonly limit: number;
};

const columns = (sql: Db) => sql`
  e.seq, e.at, e.kind, e.node_uuid, e.run_id, e.project, e.lessee, e.data, coalesce(e.tx, '0'::xid8) as tx,
  n.owner as now_owner, n.lessee as now_lessee,
  case when e.run_id is null then case when e.at >= l.started_at then n.lessee end
    when r.lease_id = n.lease_id then r.lessee end as tenant`;

const joined = (sql: Db) => sql`
  events e left join runs r on r.id = e.run_id left join nodes n on n.uuid = e.node_uuid left join leases l on l.id = n.lease_id`;

/** What both kinds of events want of their node; true where one of them wants nothing. */
const behind = (sql: Db, { ofRuns, ofNodes }: EventSelection) => {
  const nodes = implied({ is: 'or', any: [ofRuns, ofNodes] }, runNodeColumns);
  return nodes.is === 'true'
    ? sql``
    : sql`and e.node_uuid in (select uuid from nodes o where ${conditionOf(sql, nodes, 'o')})`;
};

export const allEvents = (sql: Db) => ({
  /** Newest first. */
  async page(selection: EventSelection): Promise<SeenEvent[]> {
    const { ofRuns, ofNodes, node, run, kind, before, limit } = selection;
    return sql<SeenEvent[]>`
      select * from (
        select ${columns(sql)} from ${joined(sql)} where e.node_uuid is not null
          ${node ? sql`and e.node_uuid = ${node}` : sql``} ${run ? sql`and e.run_id = ${run}` : sql``}
          ${kind ? sql`and e.kind = ${kind}` : sql``} ${before !== undefined ? sql`and e.seq < ${before}` : sql``}
          ${behind(sql, selection)}
      ) seen
      where (run_id is not null and ${conditionOf(sql, ofRuns, 'seen')}) or (run_id is null and ${conditionOf(sql, ofNodes, 'seen')})
      order by seq desc limit ${limit}`;
  },

  /** The next ones in the order of the feed, for all callers alike; those that cannot be placed yet come later. */
  async after(place: FeedPlace, limit: number): Promise<SeenEvent[]> {
    return sql<SeenEvent[]>`
      select ${columns(sql)} from ${joined(sql)}
      where (e.tx, e.seq) > (${place.tx}::xid8, ${place.seq}) and e.tx < pg_snapshot_xmin(pg_current_snapshot())
        and e.node_uuid is not null
      order by e.tx, e.seq limit ${limit}`;
  },

  /** The place after all that can be placed now. */
  async end(): Promise<FeedPlace> {
    const [row] = await sql<{ tx: string }[]>`select pg_snapshot_xmin(pg_current_snapshot()) as tx`;
    return { tx: row!.tx, seq: -1 };
  },

  /** Where an event stands, or undefined. */
  async placeOf(seq: number): Promise<FeedPlace | undefined> {
    const [row] = await sql<FeedPlace[]>`select coalesce(tx, '0'::xid8) as tx, seq from events where seq = ${seq}`;
    return row;
  },
});
