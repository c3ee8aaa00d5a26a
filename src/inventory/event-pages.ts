/** Pages of events, with the present owner and lessee of nodes for visibility. */
import type { NodeUuid, RolloutUuid, RunUuid } from '../model/ids';
import { implied, or, type Predicate } from '../model/predicates';
import type { Db, Fragment } from './database';
import type { FeedEvent, FeedPlace } from './feed';
import { firstRows, roundLimit } from './first-rows';
import { conditionOf } from './predicates';
import { runNodeColumns } from './runs/list';

export type SeenEvent = FeedEvent & {
  readonly now_owner: string | null;
  readonly now_lessee: string | null;
  /** The node's lessee, if the event belongs to the present lease: of its runs, or after it began. */
  readonly tenant: string | null;
  readonly rollout_id: RolloutUuid | null;
  readonly rollout_project: string | null;
  readonly rollout_requester: string | null;
  /** Owner in the plan. The lessee counts if plan and event belong to the present lease. */
  readonly target_owner: string | null;
  readonly target_lessee: string | null;
};

export type EventSelection = {
  /** Events of runs, over `now_owner`, `now_lessee` and `tenant`. */
  readonly ofRuns: Predicate;
  /** Other events of nodes, over the same columns. */
  readonly ofNodes: Predicate;
  /** All events of a rollout, over `rollout_project` and `rollout_requester`. */
  readonly ofRollouts: Predicate;
  /** Events of a rollout's node, over all of these columns. */
  readonly ofTargets: Predicate;
  readonly node?: NodeUuid;
  readonly run?: RunUuid;
  readonly rollout?: RolloutUuid;
  readonly kind?: string;
  readonly before?: number;
  /** In feed order. */
  readonly between?: readonly [FeedPlace, FeedPlace];
  readonly limit: number;
};

export const seenEventColumns = (sql: Db): Fragment => sql`
  e.seq, e.at, e.kind, e.node_uuid, e.run_id, e.rollout_id, e.project, e.lessee, e.data, coalesce(e.tx, '0'::xid8) as tx,
  n.owner as now_owner, n.lessee as now_lessee,
  case when e.run_id is null then case when e.at >= l.started_at then n.lessee end
    when r.lease_id = n.lease_id then r.lessee end as tenant,
  ro.project as rollout_project, ro.requester ->> 'user_id' as rollout_requester, t.owner as target_owner,
  case when t.lease_id = n.lease_id and e.at >= l.started_at then t.lessee end as target_lessee`;

/** @param events the source of `e`: the table or some of its rows */
export const eventsWithNodes = (sql: Db, events: Fragment = sql`events`): Fragment => sql`
  ${events} e left join runs r on r.id = e.run_id left join nodes n on n.uuid = e.node_uuid left join leases l on l.id = n.lease_id
  left join rollouts ro on ro.id = e.rollout_id
  left join rollout_targets t on t.rollout = e.rollout_id and t.node_uuid = e.node_uuid`;

const placed = (sql: Db, { between }: EventSelection): Fragment => {
  if (!between) return sql``;
  const [after, last] = between;
  return sql`and (e.tx, e.seq) > (${after.tx}::xid8, ${after.seq}) and (e.tx, e.seq) <= (${last.tx}::xid8, ${last.seq})`;
};

const wanted = (sql: Db, selection: EventSelection): Fragment => {
  const { node, run, rollout, kind, before } = selection;
  return sql`
  ${node ? sql`and e.node_uuid = ${node}` : sql``} ${run ? sql`and e.run_id = ${run}` : sql``}
  ${rollout ? sql`and e.rollout_id = ${rollout}` : sql``} ${kind ? sql`and e.kind = ${kind}` : sql``}
  ${before !== undefined ? sql`and e.seq < ${before}` : sql``} ${placed(sql, selection)}`;
};

const ordered = (sql: Db, { between }: EventSelection): Fragment =>
  between ? sql`order by tx, seq` : sql`order by seq desc`;

const nodesVisible = (sql: Db, { ofRuns, ofNodes }: EventSelection): Fragment => sql`
  ((run_id is not null and ${conditionOf(sql, ofRuns, 'seen')}) or (run_id is null and ${conditionOf(sql, ofNodes, 'seen')}))`;

const rolloutsVisible = (sql: Db, { ofRollouts, ofTargets }: EventSelection): Fragment => sql`
  (${conditionOf(sql, ofRollouts, 'seen')} or (node_uuid is not null and ${conditionOf(sql, ofTargets, 'seen')}))`;

/** A condition on the node that both kinds of events imply. */
const behind = (sql: Db, { ofRuns, ofNodes }: EventSelection): Fragment => {
  const nodes = implied(or(ofRuns, ofNodes), runNodeColumns);
  return nodes.is === 'true'
    ? sql``
    : sql`and e.node_uuid in (select uuid from nodes o where ${conditionOf(sql, nodes, 'o')})`;
};

const ofNodes = (sql: Db, selection: EventSelection): Fragment => sql`
  select * from (
    select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)}
    where e.node_uuid is not null and e.rollout_id is null ${wanted(sql, selection)} ${behind(sql, selection)}
  ) seen
  where ${nodesVisible(sql, selection)}`;

const ofRollouts = (sql: Db, selection: EventSelection): Fragment => sql`
  select * from (
    select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where e.rollout_id is not null ${wanted(sql, selection)}
  ) seen
  where ${rolloutsVisible(sql, selection)}`;

/** A page of each kind, so that each uses its index. */
const ofBoth = (sql: Db, selection: EventSelection): Fragment => {
  const [nodes, rollouts] = [ofNodes, ofRollouts].map(
    (rows) => sql`(${rows(sql, selection)} ${ordered(sql, selection)} ${roundLimit(sql, selection.limit)})`,
  );
  return sql`select * from (${nodes!} union all ${rollouts!}) page`;
};

/** Recent events to search per row of the page, before those of the caller's nodes. */
const lookedThrough = 20;

/** Among the first `most` events of all. They often fill the page of a project with many or busy nodes. */
const ofFirst = (sql: Db, selection: EventSelection, most?: number): Fragment => {
  const { before } = selection;
  const recent = sql`(
    select * from events e where ${before === undefined ? sql`true` : sql`seq < ${before}`} ${placed(sql, selection)}
    ${ordered(sql, selection)} ${most === undefined ? sql`` : roundLimit(sql, most)})`;
  return sql`
    select * from (select ${seenEventColumns(sql)} from ${eventsWithNodes(sql, recent)} where true ${wanted(sql, selection)}) seen
    where case when rollout_id is not null then ${rolloutsVisible(sql, selection)}
      else node_uuid is not null and ${nodesVisible(sql, selection)} end`;
};

/** For callers who see neither all nodes nor all rollouts. */
type Own = { readonly nodes: Predicate; readonly rollouts: Predicate };

const rolloutColumns = { rollout_project: 'project', rollout_requester: 'requester' } as const;

const ownOf = ({ ofRuns, ofNodes, ofTargets, ofRollouts }: EventSelection): Own | undefined => {
  const nodes = implied(or(ofRuns, ofNodes, ofTargets), runNodeColumns);
  const rollouts = implied(ofRollouts, rolloutColumns);
  return nodes.is === 'true' || rollouts.is === 'true' ? undefined : { nodes, rollouts };
};

/** A page per node and rollout of the caller, so that the cost does not grow with other projects' events. */
const ofOwn = (sql: Db, selection: EventSelection, own: Own): Fragment => {
  const pageOf = (events: Fragment, visible: Fragment): Fragment => sql`
    select * from (select ${seenEventColumns(sql)} from ${eventsWithNodes(sql)} where ${events} ${wanted(sql, selection)}) seen
    where ${visible} ${ordered(sql, selection)} ${roundLimit(sql, selection.limit)}`;
  // Events of the caller's own rollouts come with these rollouts.
  const ofNode = sql`case when rollout_id is null then ${nodesVisible(sql, selection)}
    else (${conditionOf(sql, selection.ofRollouts, 'seen')}) is not true and ${conditionOf(sql, selection.ofTargets, 'seen')} end`;
  return sql`
    select page.* from (select uuid from nodes where ${conditionOf(sql, own.nodes, 'nodes')}) own
      cross join lateral (${pageOf(sql`e.node_uuid = own.uuid`, ofNode)}) page
    union all
    select page.* from (
        select id from (select id, project, requester ->> 'user_id' as requester from rollouts) planned
        where ${conditionOf(sql, own.rollouts, 'planned')}
      ) own
      cross join lateral (${pageOf(sql`e.rollout_id = own.id`, conditionOf(sql, selection.ofRollouts, 'seen'))}) page`;
};

export const eventPage = async (sql: Db, selection: EventSelection): Promise<SeenEvent[]> => {
  const { node, run, rollout, limit } = selection;
  const page = (rows: Fragment) => sql<SeenEvent[]>`${firstRows(sql, rows, ordered(sql, selection), limit)}`;
  if (rollout) return page(ofRollouts(sql, selection));
  if (run) return page(ofNodes(sql, selection));
  const own = node ? undefined : ownOf(selection);
  if (own) {
    const recent = await page(ofFirst(sql, selection, lookedThrough * limit));
    return recent.length === limit ? recent : page(sql`select * from (${ofOwn(sql, selection, own)}) page`);
  }
  if (selection.between && !node) return page(ofFirst(sql, selection));
  const rollouts = or(selection.ofRollouts, selection.ofTargets).is !== 'false';
  return page(rollouts ? ofBoth(sql, selection) : ofNodes(sql, selection));
};
