/** Counts of visible nodes and open runs, in one statement. */

import { failedStates } from '../model/lifecycle/states';
import type { Predicate } from '../model/predicates';
import type { Db } from './database';
import { conditionOf } from './predicates';
import { runsWithNodes } from './runs/list';

/** A null power state counts as `unknown`. */
const countedColumns = ['provision_state', 'power_state', 'fault', 'maintenance'] as const;
type NodeCounts = Readonly<Record<(typeof countedColumns)[number], Readonly<Record<string, number>>>>;
/** `retrying`: the step has failed and is tried again. */
export type RunCount = { readonly state: string; readonly retrying: boolean; readonly count: number };

type Row = { readonly by: string; readonly value: string; readonly retrying: boolean; readonly count: number };

export type SummarySelection = {
  /** Over columns of nodes. */
  readonly nodes: Predicate;
  /** Over `now_owner`, `now_lessee` and `tenant`, as in the list of runs. */
  readonly runs: Predicate;
  /** Only nodes in failed states, with a fault or in maintenance, which are few. No power, no runs. */
  readonly trouble: boolean;
};

const countsOf = (rows: readonly Row[]): NodeCounts => {
  const counts: Record<string, Record<string, number>> = Object.fromEntries(
    countedColumns.map((column) => [column, {}]),
  );
  for (const { by, value, count } of rows) counts[by]![value] = count;
  return counts as NodeCounts;
};

/** If all nodes are visible, each count reads only its column's index, because rows are wide. The few nodes of a tenant are read once. */
const nodesCounted = (sql: Db, { nodes, trouble }: SummarySelection) => {
  const found = nodes.is === 'true' ? sql`not materialized` : sql`materialized`;
  const rows = sql`with visible as ${found} (
    select provision_state, power_state, fault, maintenance from nodes n where ${conditionOf(sql, nodes, 'n')})`;
  const ofStates = trouble ? sql`where provision_state in ${sql([...failedStates])}` : sql``;
  const powers = trouble
    ? sql``
    : sql`union all select 'power_state', coalesce(power_state, 'unknown'), false, count(*)::float8 from visible group by power_state`;
  return sql`${rows}
    select 'provision_state' as by, provision_state as value, false as retrying, count(*)::float8 as count from visible ${ofStates} group by provision_state
    ${powers}
    union all select 'fault', fault, false, count(*)::float8 from visible where fault is not null group by fault
    union all select 'maintenance', 'true', false, count(*)::float8 from visible where maintenance having count(*) > 0`;
};

const runsCounted = (sql: Db, { runs }: SummarySelection) => sql`
  select 'run', seen.state, coalesce(s.state = 'running' and s.last_error is not null, false) as retrying, count(*)::float8
  from (${runsWithNodes(sql, runs, sql`r.id, r.state, r.cursor`, sql`and r.finished_at is null`)}) seen
    left join run_steps s on s.run_id = seen.id and s.index = seen.cursor and seen.state = 'running'
  where ${conditionOf(sql, runs, 'seen')} group by 2, 3`;

export const summary = (sql: Db) => ({
  async of(selection: SummarySelection): Promise<{ nodes: NodeCounts; runs: readonly RunCount[] }> {
    const rows = await sql<Row[]>`
      ${nodesCounted(sql, selection)} ${selection.trouble ? sql`` : sql`union all ${runsCounted(sql, selection)}`}`;
    const isRun = ({ by }: Row): boolean => by === 'run';
    return {
      nodes: countsOf(rows.filter((row) => !isRun(row))),
      runs: rows.filter(isRun).map(({ value, retrying, count }) => ({ state: value, retrying, count })),
    };
  },
});
