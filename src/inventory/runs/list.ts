/** Runs of all nodes that a caller may see. */
import type { NodeUuid, RunUuid, UuidRange } from '../../model/ids';
import { implied, type Predicate } from '../../model/predicates';
import { endedStates, type RunState, type StepState } from '../../model/runs/runs';
import type { Db, Fragment } from '../database';
import { firstRows } from '../first-rows';
import { conditionOf } from '../predicates';
import type { RunRow } from './runs';

export type RunListing = Pick<
  RunRow,
  | 'id'
  | 'node_uuid'
  | 'node_name'
  | 'verb'
  | 'state'
  | 'runbook_name'
  | 'runbook_revision'
  | 'cursor'
  | 'waiting_for'
  | 'last_error'
  | 'requester'
  | 'created_at'
  | 'started_at'
  | 'finished_at'
  | 'updated_at'
> & {
  readonly waiting_since: Date | null;
  /** The node's present owner and lessee. */
  readonly now_owner: string | null;
  readonly now_lessee: string | null;
  readonly steps: number;
  /** The present step; null before the first and after the last. */
  readonly step: string | null;
  readonly step_state: StepState | null;
  readonly step_error: string | null;
  readonly attempt: number | null;
};

/** `retrying`: open, and its step has failed and is tried again. */
export type RunFilter = RunState | 'open' | 'ended' | 'any' | 'retrying';

export type RunSelection = {
  /** Over `now_owner` and `now_lessee` of the node, and `tenant`, the run's lessee during its lease. */
  readonly visible: Predicate;
  /** At least one. */
  readonly states: readonly RunFilter[];
  readonly verb?: string;
  readonly node?: NodeUuid;
  /** UUID, or name at acceptance. */
  readonly runbook?: { readonly uuid: string } | { readonly name: string };
  readonly revision?: number;
  /** Inclusive. */
  readonly since?: Date;
  readonly between?: UuidRange;
  readonly limit: number;
  readonly after?: RunUuid;
  /** Default: newest first. */
  readonly oldestFirst?: boolean;
};

// A run that is visible by its lease has the node's present lessee.
export const runNodeColumns = { now_owner: 'owner', now_lessee: 'lessee', tenant: 'lessee' } as const;

/** `open` selects an index (undefined: open and ended runs). */
type StatePart = { readonly open?: boolean; readonly rest?: Fragment };

const statePart = (sql: Db, state: RunFilter): StatePart => {
  switch (state) {
    case 'any':
      return {};
    case 'open':
      return { open: true };
    case 'ended':
      return { open: false };
    case 'retrying':
      return {
        open: true,
        rest: sql`r.state = 'running' and exists (select 1 from run_steps s
          where s.run_id = r.id and s.index = r.cursor and s.state = 'running' and s.last_error is not null)`,
      };
    default:
      return { open: !endedStates.includes(state), rest: sql`r.state = ${state}` };
  }
};

/**
 * A common condition comes first, and only once, for an index. PostgreSQL would count a repeated condition twice in its estimate. It would
 * then read and sort all open runs for one page.
 */
const statesAre = (sql: Db, states: readonly RunFilter[]) => {
  const parts = states.map((state) => statePart(sql, state));
  const [{ open: first } = {}] = parts;
  const common = parts.every(({ open }) => open === first);
  const opened = (open?: boolean) =>
    open === undefined ? sql`true` : sql`r.finished_at is ${open ? sql`null` : sql`not null`}`;
  const any = parts
    .map(({ open, rest = sql`true` }) => (common ? sql`(${rest})` : sql`(${opened(open)} and ${rest})`))
    .reduce((all, one) => sql`${all} or ${one}`);
  return common ? sql`and ${opened(first)} and (${any})` : sql`and (${any})`;
};

const selectedRuns = (sql: Db, selection: RunSelection) => {
  const { states, verb, node, runbook, revision, since, between, after, oldestFirst } = selection;
  const place = sql`(select m.created_at from runs m where m.id = ${after ?? null})`;
  const follows = oldestFirst
    ? sql`and r.created_at >= ${place} and (r.created_at > ${place} or (r.created_at = ${place} and r.id < ${after ?? null}))`
    : sql`and r.created_at <= ${place} and (r.created_at < ${place} or (r.created_at = ${place} and r.id > ${after ?? null}))`;
  return sql`${statesAre(sql, states)}
    ${verb !== undefined ? sql`and r.verb = ${verb}` : sql``}
    ${node ? sql`and r.node_uuid = ${node}` : sql``}
    ${runbook ? ('uuid' in runbook ? sql`and r.runbook_uuid = ${runbook.uuid}` : sql`and r.runbook_name = ${runbook.name}`) : sql``}
    ${revision !== undefined ? sql`and r.runbook_revision = ${revision}` : sql``}
    ${since ? sql`and r.created_at >= ${since}` : sql``}
    ${between ? sql`and r.id between ${between.lowest} and ${between.highest}` : sql``}
    ${after ? follows : sql``}`;
};

/**
 * Runs with the columns of `visible`: `now_owner` and `now_lessee` of the node, and `tenant`.
 * @param columns of `r`; @param wanted a condition on `r`
 */
export const runsWithNodes = (sql: Db, visible: Predicate, columns: Fragment, wanted: Fragment): Fragment => {
  const nodes = implied(visible, runNodeColumns);
  return sql`
    select ${columns}, nodes.owner as now_owner, nodes.lessee as now_lessee,
      case when r.lease_id = nodes.lease_id then r.lessee end as tenant
    from runs r left join nodes on nodes.uuid = r.node_uuid
    where ${nodes.is === 'true' ? sql`true` : sql`r.node_uuid in (select uuid from nodes n where ${conditionOf(sql, nodes, 'n')})`}
      ${wanted}`;
};

/** Succeeded runs have no present step. The comparison with null saves their lookup. */
const unlessPassedAll = (sql: Db) => sql`case when seen.state <> 'succeeded' then seen.id end`;

export const runList = (sql: Db) => ({
  /** In the order of acceptance. */
  async page(selection: RunSelection): Promise<RunListing[]> {
    const { visible, limit, oldestFirst } = selection;
    const rows = sql`
      select seen.id, node_uuid, node_name, verb, seen.state, runbook_name, runbook_revision, cursor, waiting_for, waiting_since, seen.last_error, requester,
        created_at, seen.started_at, seen.finished_at, updated_at, now_owner, now_lessee,
        (select count(*) from run_steps s where s.run_id = seen.id) as steps,
        now.interface || '.' || now.step as step, now.state as step_state, now.last_error as step_error, now.attempt
      from (${runsWithNodes(sql, visible, sql`r.*`, selectedRuns(sql, selection))}) seen left join run_steps now on now.run_id = ${unlessPassedAll(sql)} and now.index = seen.cursor
      where ${conditionOf(sql, visible, 'seen')}`;
    const order = oldestFirst ? sql`order by created_at, id desc` : sql`order by created_at desc, id`;
    return sql<RunListing[]>`${firstRows(sql, rows, order, limit)}`;
  },
});
