/** Targets that a rollout may begin now or later, and the bound that blocks the rest. */
import type { RolloutUuid } from '../../model/ids';
import type { Db } from '../database';
import { type TargetRow, targetColumns } from './targets';

/** Starts of targets `t` in the last minute, which a retried one may have twice. */
export const powerStarts = (sql: Db) =>
  sql`coalesce(sum(1 + coalesce((t.begun_before > now() - interval '1 minute')::int, 0)), 0)`;

/** Counters whose nodes started as often in the last minute as their power supply allows. */
const countersAtStartLimit = (sql: Db, rollout: RolloutUuid) => sql`
  select c.number from (
    select number, ${powerStarts(sql)} as starts
    from rollout_targets t, unnest(t.counters) as number
    where t.rollout = ${rollout} and t.power_cycles > 0 and t.admitted_at > now() - interval '1 minute'
      and exists (select from rollout_counters where rollout = ${rollout} and per_minute is not null)
    group by number) begun
  join rollout_counters c on c.rollout = ${rollout} and c.number = begun.number and c.per_minute <= begun.starts`;

const allOf = (sql: Db) => sql(targetColumns.map((name) => `t.${name}`));

/** One lookup per target read. */
const isHeld = (sql: Db) => sql`
  ((select n.reservation from nodes n where n.uuid = t.node_uuid) is not null or exists (
    select from freezes f where f.node_uuid = t.node_uuid and f.ended_at is null and (f.until is null or f.until > now())))`;

/**
 * A counter is at its bound on targets at work; null if it has none. Parked targets count in a failure domain: their runs may be resumed at
 * any time.
 */
export const atMost = (sql: Db) => sql`in_flight + case scope when 'total' then 0 else parked end >= most`;

/** Few, compared to targets. */
export const heldNodes = (sql: Db) => sql`
  select uuid from nodes where reservation is not null
  union select node_uuid from freezes where ended_at is null and (until is null or until > now())`;

/** Targets `t` of a wave that may begin now. None if the bound of the rollout or the wave is spent. */
const pendingDue = (sql: Db, rollout: RolloutUuid, wave: number) => sql`
  t.rollout = ${rollout} and t.state = 'pending' and t.wave = ${wave} and (t.not_before is null or t.not_before <= now())
  and not exists (select from spent where scope = 'total' or (scope = 'wave' and value = ${wave}::int::text))
  and not t.counters && array(select number from spent)
  and (t.power_cycles = 0 or not t.counters && array(select number from hurried))`;

/** Retries up to this wave whose bounds on targets at work have room. */
const againDue = (sql: Db, rollout: RolloutUuid, wave: number) => sql`
  t.rollout = ${rollout} and t.state = 'failed' and t.wave <= ${wave} and t.retry_asked_at > t.ended_at
  and (t.not_before is null or t.not_before <= now())
  and not t.counters && array(select number from rollout_counters where rollout = ${rollout} and ${atMost(sql)})`;

export const rolloutDue = (sql: Db) => ({
  /**
   * Targets of a wave that may begin now and retries up to this wave, in the order of the plan. Targets on held or frozen nodes come last
   * and block no others. @param skip targets already found to wait
   */
  targets(rollout: RolloutUuid, wave: number, limit: number, skip = 0): Promise<TargetRow[]> {
    const upTo = limit + skip;
    // Each part stops at its limit, so that a page is read, not all pending targets.
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
   * The first spent bound that blocks the rest up to this wave. Undefined if a target is at work, may begin now or later, or none remains.
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

  /** The next end of a soak or begin of a target. */
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

  /** Number of targets that wait for a time, and the earliest one. Undefined if other targets up to this wave remain. */
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
