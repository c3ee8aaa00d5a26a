/** Counts of nodes and of runs that go on, as far as a caller may see them: one statement, few rows. */
import type { Fault, PowerState, ProvisionState } from '../model/lifecycle/states';
import { implied, type Predicate } from '../model/predicates';
import type { Db } from './database';
import { conditionOf } from './predicates';
import { runNodeColumns } from './runs/list';

export type NodeCount = {
  readonly provision_state: ProvisionState;
  readonly power_state: PowerState | null;
  readonly fault: Fault | null;
  readonly maintenance: boolean;
  readonly count: number;
};
/** `retrying` are those that run, and whose step has failed and is tried again. */
export type RunCount = { readonly state: string; readonly retrying: boolean; readonly count: number };

type Row = NodeCount & { readonly run_state: string | null; readonly retrying: boolean | null };

export type SummarySelection = {
  /** Over the columns of nodes. */
  readonly nodes: Predicate;
  /** Over `now_owner` and `now_lessee` of the node, and `tenant`, as the list of runs has them. */
  readonly runs: Predicate;
};

export const summary = (sql: Db) => ({
  async of({ nodes, runs }: SummarySelection): Promise<{ nodes: readonly NodeCount[]; runs: readonly RunCount[] }> {
    const behind = implied(runs, runNodeColumns);
    const rows = await sql<Row[]>`
      select provision_state, power_state, fault, maintenance, null as run_state, null::boolean as retrying, count(*)::float8 as count
      from nodes n where ${conditionOf(sql, nodes, 'n')} group by 1, 2, 3, 4
      union all
      select null, null, null, null, seen.state, coalesce(s.state = 'running' and s.last_error is not null, false), count(*)::float8
      from (
        select r.id, r.state, r.cursor, nodes.owner as now_owner, nodes.lessee as now_lessee,
          case when r.lease_id = nodes.lease_id then r.lessee end as tenant
        from runs r left join nodes on nodes.uuid = r.node_uuid
        where r.finished_at is null
          and ${behind.is === 'true' ? sql`true` : sql`r.node_uuid in (select uuid from nodes n where ${conditionOf(sql, behind, 'n')})`}
      ) seen left join run_steps s on s.run_id = seen.id and s.index = seen.cursor and seen.state = 'running'
      where ${conditionOf(sql, runs, 'seen')} group by 5, 6`;
    return {
      nodes: rows.filter(({ run_state }) => run_state === null),
      runs: rows.flatMap(({ run_state, retrying, count }) =>
        run_state === null ? [] : [{ state: run_state, retrying: retrying === true, count }],
      ),
    };
  },
});
