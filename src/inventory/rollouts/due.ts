/** Queries of what a rollout may begin now: which targets, when there are more, and what forbids the rest. */
import type { RolloutUuid } from '../../model/ids';
import type { Db } from '../database';
import { type TargetRow, targetColumns } from './targets';

/** How often targets `t`, all begun in the last minute, were begun in it: one that was tried again, twice. */
export const powerStarts = (sql: Db) =>
  sql`coalesce(sum(1 + coalesce((t.begun_before > now() - interval '1 minute')::int, 0)), 0)`;

/** Counters whose nodes were begun as often in the last minute as their power supply bears. */
const countersAtStartLimit = (sql: Db, rollout: RolloutUuid) => sql`
  select c.number from (
    select number, ${powerStarts(sql)} as starts
    from rollout_targets t, unnest(t.counters) as number
    where t.rollout = ${rollout} and t.power_cycles > 0 and t.admitted_at > now() - interval '1 minute'
      and exists (select from rollout_counters where rollout = ${rollout} and per_minute is not null)
    group by number) begun
  join rollout_counters c on c.rollout = ${rollout} and c.number = begun.number and c.per_minute <= begun.starts`;

const allOf = (sql: Db) => sql(targetColumns.map((name) => `t.${name}`));

/** Whether the node of target `t` is held or frozen, one lookup for each target that is come upon. */
const isHeld = (sql: Db) => sql`
  ((select n.reservation from nodes n where n.uuid = t.node_uuid) is not null or exists (
    select from freezes f where f.node_uuid = t.node_uuid and f.ended_at is null and (f.until is null or f.until > now())))`;

/**
 * Whether as many targets of a counter are at work at once as may be; null where it has no such bound. In a failure domain a parked
 * one is: its run goes on when a person says so, and nothing makes room for it then.
 */
export const atMost = (sql: Db) => sql`in_flight + case scope when 'total' then 0 else parked end >= most`;

/** The nodes that are held or frozen: few, beside all targets that may be to come. */
const heldNodes = (sql: Db) => sql`
  select uuid from nodes where reservation is not null
  union select node_uuid from freezes where ended_at is null and (until is null or until > now())`;

/** Targets `t` of a wave that may be begun now. Of these, the whole and the wave itself have room in their bounds, or none is. */
const pendingDue = (sql: Db, rollout: RolloutUuid, wave: number) => sql`
  t.rollout = ${rollout} and t.state = 'pending' and t.wave = ${wave} and (t.not_before is null or t.not_before <= now())
  and not exists (select from spent where scope = 'total' or (scope = 'wave' and value = ${wave}::int::text))
  and not t.counters && array(select number from spent)
  and (t.power_cycles = 0 or not t.counters && array(select number from hurried))`;

/** Targets `t` of this wave or an earlier one that are to be tried again, whose bounds on what is under way have room. */
const againDue = (sql: Db, rollout: RolloutUuid, wave: number) => sql`
  t.rollout = ${rollout} and t.state = 'failed' and t.wave <= ${wave} and t.retry_asked_at > t.ended_at
  and (t.not_before is null or t.not_before <= now())
  and not t.counters && array(select number from rollout_counters where rollout = ${rollout} and ${atMost(sql)})`;

export const rolloutDue = (sql: Db) => ({
  /**
   * Targets of a wave that may be begun now, and those of it or of earlier ones that are to be tried again, in the order of the plan;
   * without those of which a bound has no room as it stands. Those whose nodes are held or frozen come last, so that they keep none
   * behind them waiting. @param skip so many of them, which were seen to wait for something
   */
  targets(rollout: RolloutUuid, wave: number, limit: number, skip = 0): Promise<TargetRow[]> {
    const upTo = limit + skip;
    // Each part stops in the order of the plan where it has enough: of all that are to come, a page is read.
    return sql<TargetRow[]>`
      with spent as materialized (
        select number, scope, value from rollout_counters
        where rollout = ${rollout} and (${atMost(sql)} or failed + parked + in_flight >= budget)),
      hurried as materialized (${countersAtStartLimit(sql, rollout)}),
      free as materialized (
        select ${allOf(sql)} from rollout_targets t
        where ${pendingDue(sql, rollout, wave)} and ${isHeld(sql)} is false order by t.position limit ${upTo}),
      held as materialized (
        select ${allOf(sql)} from rollout_targets t
        where (select count(*) from free) < ${upTo} and ${pendingDue(sql, rollout, wave)}
          and t.node_uuid = any (array(${heldNodes(sql)})) order by t.position limit ${upTo})
      select ${allOf(sql)} from (
        select *, false as is_held from free union all select *, true from held
        union all select ${allOf(sql)}, ${isHeld(sql)} from rollout_targets t where ${againDue(sql, rollout, wave)}) t
      order by is_held, position limit ${limit} offset ${skip}`;
  },

  /**
   * The first spent bound that forbids what is left of this wave and those before it; undefined where one of these targets is worked on,
   * may be begun now or later, or is over.
   */
  async forbiddenBy(
    rollout: RolloutUuid,
    wave: number,
  ): Promise<{ scope: string; value: string; budget: number; failed: number; parked: number } | undefined> {
    const [row] = await sql<{ scope: string; value: string; budget: number; failed: number; parked: number }[]>`
      with spent as materialized (
        select number, scope, value, budget, failed, parked from rollout_counters
        where rollout = ${rollout} and failed + parked >= budget)
      select scope, value, budget, failed, parked from spent
      where not exists (
        select from rollout_targets t where t.rollout = ${rollout} and t.wave <= ${wave} and (t.state in ('admitted', 'soaking')
          or (t.state in ('pending', 'asked') and not t.counters && array(select number from spent))
          or (t.state = 'failed' and t.retry_asked_at > t.ended_at)))
        and exists (
          select from rollout_targets t where t.rollout = ${rollout} and t.wave <= ${wave} and t.state in ('pending', 'asked')
            and spent.number = any (t.counters))
      order by number limit 1`;
    return row;
  },

  /** When the next soak is over, or the next target of the wave may be begun; null where time changes nothing. */
  async nextTime(rollout: RolloutUuid, wave: number): Promise<Date | null> {
    const [row] = await sql<{ at: Date | null }[]>`
      select least(
        (select min(soak_until) from rollout_targets where rollout = ${rollout} and state = 'soaking'),
        (select min(not_before) from rollout_targets
          where rollout = ${rollout} and state in ('pending', 'failed') and not_before > now()
            and (state = 'pending' and wave = ${wave} or state = 'failed' and wave <= ${wave} and retry_asked_at > ended_at))) as at`;
    const [pace] = await sql<{ at: Date | null }[]>`
      select min(admitted_at) + interval '1 minute' as at from rollout_targets
      where rollout = ${rollout} and admitted_at > now() - interval '1 minute' and power_cycles > 0
        and counters && array(select number from rollout_counters where rollout = ${rollout} and per_minute is not null)
        and exists (select from rollout_counters where rollout = ${rollout} and per_minute is not null)
        and exists (select from rollout_targets where rollout = ${rollout} and (state = 'pending' and wave = ${wave}
          or state = 'failed' and wave <= ${wave} and retry_asked_at > ended_at))`;
    const times = [row?.at, pace?.at].filter((at) => at instanceof Date);
    return times.sort((one, other) => one.getTime() - other.getTime())[0] ?? null;
  },

  /** How many targets wait for a time, and for which first, where nothing else is to come up to this wave: no other that is left, or under way. */
  async putOff(
    rollout: RolloutUuid,
    wave: number,
  ): Promise<{ readonly targets: number; readonly until: Date } | undefined> {
    const [row] = await sql<{ targets: number; others: number; until: Date }[]>`
      select count(*) filter (where waits)::int as targets, count(*) filter (where waits is not true)::int as others,
        min(not_before) filter (where waits) as until
      from (select not_before, state in ('pending', 'failed') and not_before > now() as waits from rollout_targets
        where rollout = ${rollout} and wave <= ${wave} and (state in ('pending', 'asked', 'admitted', 'soaking', 'parked')
          or state = 'failed' and retry_asked_at > ended_at)) left_over`;
    return row && row.targets > 0 && row.others === 0 ? row : undefined;
  },
});
