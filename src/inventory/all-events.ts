/** Events of all nodes, runs and rollouts: with whose their node is now, by which it is decided who may see them. */
import type { PendingQuery, Row } from 'postgres';
import type { NodeUuid, RolloutUuid, RunUuid } from '../model/ids';
import { implied, or, type Predicate } from '../model/predicates';
import type { Db } from './database';
import type { FeedEvent, FeedPlace } from './feed';
import { firstRows, roundLimit } from './first-rows';
import { conditionOf } from './predicates';
import { runNodeColumns } from './runs/list';

export type SeenEvent = FeedEvent & {
  readonly now_owner: string | null;
  readonly now_lessee: string | null;
  /** The node's lessee, where the event is of its present lease: of a run of that lease, or since that lease began. */
  readonly tenant: string | null;
  readonly rollout_id: RolloutUuid | null;
  readonly rollout_project: string | null;
  /** The user who planned it. */
  readonly rollout_requester: string | null;
  /** Whose the node was when the rollout was planned. */
  readonly target_owner: string | null;
  readonly target_lessee: string | null;
};

export type EventSelection = {
  /** Of events of runs, over `now_owner`, `now_lessee` and `tenant`. */
  readonly ofRuns: Predicate;
  /** Of other events of nodes, over the same columns. */
  readonly ofNodes: Predicate;
  /** Of all events of a rollout, over `rollout_project` and `rollout_requester`. */
  readonly ofRollouts: Predicate;
  /** Of those about one of its nodes, over all of these columns. */
  readonly ofTargets: Predicate;
  readonly node?: NodeUuid;
  readonly run?: RunUuid;
  readonly rollout?: RolloutUuid;
  readonly kind?: string;
  /** Events before this one. */
  readonly before?: number;
  readonly limit: number;
};

/** What of a rollout's events a caller sees who does not see it as a whole. */
export type RolloutPart = {
  /** Of those that are about none of its nodes. */
  readonly kinds: readonly string[];
  /** Of those about a node, over the columns of `EventSelection.ofTargets`. */
  readonly ofTargets: Predicate;
};

const seenEventColumns = (sql: Db) => sql`
  e.seq, e.at, e.kind, e.node_uuid, e.run_id, e.rollout_id, e.project, e.lessee, e.data, coalesce(e.tx, '0'::xid8) as tx,
  n.owner as now_owner, n.lessee as now_lessee,
  case when e.run_id is null then case when e.at >= l.started_at then n.lessee end
    when r.lease_id = n.lease_id then r.lessee end as tenant,
  ro.project as rollout_project, ro.requester ->> 'user_id' as rollout_requester, t.owner as target_owner, t.lessee as target_lessee`;

const eventsWithNodes = (sql: Db) => sql`
  events e left join runs r on r.id = e.run_id left join nodes n on n.uuid = e.node_uuid left join leases l on l.id = n.lease_id
  left join rollouts ro on ro.id = e.rollout_id
  left join rollout_targets t on t.rollout = e.rollout_id and t.node_uuid = e.node_uuid`;

/** What both kinds of events want of their node; true where one of them wants nothing. */
const behind = (sql: Db, { ofRuns, ofNodes }: EventSelection) => {
  const nodes = implied({ is: 'or', any: [ofRuns, ofNodes] }, runNodeColumns);
  return nodes.is === 'true'
    ? sql``
    : sql`and e.node_uuid in (select uuid from nodes o where ${conditionOf(sql, nodes, 'o')})`;
};

const wanted = (sql: Db, { node, run, rollout, kind, before }: EventSelection) => sql`
  ${node ? sql`and e.node_uuid = ${node}` : sql``} ${run ? sql`and e.run_id = ${run}` : sql``}
  ${rollout ? sql`and e.rollout_id = ${rollout}` : sql``} ${kind ? sql`and e.kind = ${kind}` : sql``}
  ${before !== undefined ? sql`and e.seq < ${before}` : sql``}`;

const newestFirst = (sql: Db) => sql`order by seq desc`;

/** A page of each for itself, so that each is read by its own index. */
const nodesPage = (sql: Db, selection: EventSelection) => {
  const { ofRuns, ofNodes } = selection;
  return sql`
    select * from (
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)}
      where e.node_uuid is not null and e.rollout_id is null ${wanted(sql, selection)} ${behind(sql, selection)}
    ) seen
    where (run_id is not null and ${conditionOf(sql, ofRuns, 'seen')}) or (run_id is null and ${conditionOf(sql, ofNodes, 'seen')})`;
};
const rolloutsPage = (sql: Db, selection: EventSelection) => {
  const { ofRollouts, ofTargets } = selection;
  return sql`
    select * from (
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where e.rollout_id is not null ${wanted(sql, selection)}
    ) seen
    where ${conditionOf(sql, ofRollouts, 'seen')} or (node_uuid is not null and ${conditionOf(sql, ofTargets, 'seen')})`;
};

export const allEvents = (sql: Db) => ({
  /** Newest first. */
  async page(selection: EventSelection): Promise<SeenEvent[]> {
    const { ofRollouts, ofTargets, rollout, run, limit } = selection;
    const page = (rows: PendingQuery<Row[]>) => sql<SeenEvent[]>`${firstRows(sql, rows, newestFirst(sql), limit)}`;
    if (rollout) return page(rolloutsPage(sql, selection));
    if (run || or(ofRollouts, ofTargets).is === 'false') return page(nodesPage(sql, selection));
    const [nodes, rollouts] = [nodesPage, rolloutsPage].map(
      (rows) => sql`(${rows(sql, selection)} ${newestFirst(sql)} ${roundLimit(sql, limit)})`,
    );
    return page(sql`select * from (${nodes!} union all ${rollouts!}) page`);
  },

  /**
   * The next ones in the order of the feed, for all callers alike; those that cannot be placed yet come later.
   * @param rollout of this one alone
   */
  async after(place: FeedPlace, limit: number, rollout?: RolloutUuid): Promise<SeenEvent[]> {
    const rows = await sql<SeenEvent[]>`
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)}
      where (e.tx, e.seq) > (${place.tx}::xid8, ${place.seq}) and e.tx < pg_snapshot_xmin(pg_current_snapshot())
        and ${rollout ? sql`e.rollout_id = ${rollout}` : sql`(e.node_uuid is not null or e.rollout_id is not null)`}
      order by e.tx, e.seq ${roundLimit(sql, limit)}`;
    return rows.slice(0, limit);
  },

  /**
   * Whether a rollout has events after a place, also such as cannot be placed yet.
   * @param part only of these: of the rollout itself those of some kinds, and of its nodes those that a caller may see
   */
  async follow(rollout: RolloutUuid, { tx, seq }: FeedPlace, part?: RolloutPart): Promise<boolean> {
    const later = sql`e.rollout_id = ${rollout} and (coalesce(e.tx, '0'::xid8), e.seq) > (${tx}::xid8, ${seq})`;
    const rows = part
      ? await sql`
          select 1 from (select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where ${later}) seen
          where (node_uuid is null and kind in ${sql([...part.kinds])}) or (node_uuid is not null and ${conditionOf(sql, part.ofTargets, 'seen')})
          limit 1`
      : await sql`select 1 from events e where ${later} limit 1`;
    return rows.length > 0;
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

  /** An event of this rollout, which is its place as well; undefined where it has none of this number. */
  async ofRollout(rollout: RolloutUuid, seq: number): Promise<SeenEvent | undefined> {
    const [row] = await sql<SeenEvent[]>`
      select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where e.seq = ${seq} and e.rollout_id = ${rollout}`;
    return row;
  },
});
