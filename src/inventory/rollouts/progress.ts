/** Work left in a rollout, for its progress: durations by bound, and targets that have not begun. */
import type { RolloutUuid } from '../../model/ids';
import type { Waiting, WorkLeft } from '../../model/rollouts/progress';
import type { Db } from '../database';
import { heldNodes } from './due';

/** A failed target that is to be retried counts as pending. */
const toBegin = (sql: Db) => sql`(t.state = 'pending' or t.state = 'failed' and t.retry_asked_at > t.ended_at)`;
const postponed = (sql: Db) => sql`coalesce(t.not_before > now(), false)`;

type Counted = Omit<Waiting, 'by'>;

export const rolloutProgress = (sql: Db) => ({
  /**
   * By wave and bound, without targets that wait for a tenant. A target takes as long as those that are done took on average, otherwise
   * as long as its plan expects.
   */
  workLeft: (rollout: RolloutUuid, upTo: number): Promise<WorkLeft[]> => sql<WorkLeft[]>`
    with usual as materialized (
      select avg(extract(epoch from ended_at - admitted_at) * 1000) as ms from rollout_targets
      where rollout = ${rollout} and state = 'done' and admitted_at < ended_at),
    work as materialized (
      select t.wave, t.counters, case t.state
        when 'soaking' then greatest(0, extract(epoch from t.soak_until - now()) * 1000)
        when 'admitted' then case when planned.ms > 0 then greatest(0, planned.ms - extract(epoch from now() - coalesce(t.admitted_at, now())) * 1000) end
        else planned.ms end as ms
      from rollout_targets t join rollout_waves w on w.rollout = t.rollout and w.wave = t.wave cross join usual
        cross join lateral (select coalesce(usual.ms, t.expected_ms + w.soak_ms) as ms) planned
      where t.rollout = ${rollout} and t.wave <= ${upTo}
        and (t.state in ('admitted', 'soaking') or ${toBegin(sql)} and not ${postponed(sql)}))
    select wave, number, count(*)::int as targets, sum(ms)::float8 as ms, max(ms)::float8 as longest_ms,
      count(ms) = count(*) as known
    from work, unnest(counters) as number group by wave, number order by wave, number`,

  /** Targets up to this wave that have not begun. */
  async waiting(rollout: RolloutUuid, wave: number): Promise<Waiting> {
    const [counted] = await sql<Counted[]>`
      select count(*) filter (where begins)::int as ready, count(*) filter (where begins and held)::int as held,
        count(*) filter (where asked)::int as asked, min(not_before) filter (where asked) as asked_until,
        count(*) filter (where later)::int as postponed, min(not_before) filter (where later) as postponed_until
      from (
        select t.not_before, t.state = 'asked' as asked, ${toBegin(sql)} and ${postponed(sql)} as later,
          ${toBegin(sql)} and not ${postponed(sql)} as begins, t.node_uuid in (${heldNodes(sql)}) as held
        from rollout_targets t
        where t.rollout = ${rollout} and t.wave <= ${wave} and (t.state in ('pending', 'asked') or ${toBegin(sql)})) t`;
    const rows = await sql<{ number: number; targets: number }[]>`
      select number, count(*)::int as targets from rollout_targets t, unnest(t.counters) as number
      where t.rollout = ${rollout} and t.wave <= ${wave} and ${toBegin(sql)} and not ${postponed(sql)} group by number`;
    return { ...counted!, by: new Map(rows.map(({ number, targets }) => [number, targets])) };
  },
});
