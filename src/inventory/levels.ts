/** Present counts of nodes and open runs, for metrics. */
import type { EventKind } from '../model/resources/event-kinds';
import type { Db } from './database';

export type NodeLevel = {
  readonly state: string;
  /** `none` without a fault. */
  readonly fault: string;
  readonly maintenance: boolean;
  readonly count: number;
};
/** `retrying` is a state here: the run's step has failed and is tried again. */
export type RunLevel = {
  readonly verb: string;
  readonly state: string;
  readonly count: number;
  /** Longest time since the first failure of an act under retry; 0 if none. */
  readonly retrying_s: number;
};

export const levels = (sql: Db) => ({
  async nodes(): Promise<NodeLevel[]> {
    return sql<NodeLevel[]>`
      select provision_state as state, coalesce(fault, 'none') as fault, maintenance, count(*)::int as count
      from nodes group by 1, 2, 3`;
  },

  async runs(): Promise<RunLevel[]> {
    return sql<RunLevel[]>`
      select r.verb, case when r.state = 'running' and s.state = 'running' and s.last_error is not null then 'retrying' else r.state end as state,
        count(*)::int as count, coalesce(max(extract(epoch from clock_timestamp() - first.at)), 0)::float8 as retrying_s
      from runs r left join run_steps s on s.run_id = r.id and s.index = r.cursor
        left join lateral (
          select at from events e
          where r.state = 'running' and s.state = 'running' and s.last_error is not null and e.run_id = r.id and e.kind = ${'run.retrying' satisfies EventKind}
            and (e.data->>'index')::int = s.index and e.data->>'act' = s.act
          order by seq limit 1
        ) first on true
      where r.finished_at is null group by 1, 2`;
  },
});
