/** Queries of a rollout's targets: insert, list and move. See ./due.ts for targets that may begin now. */
import type { LeaseUuid, NodeUuid, ProjectId, RolloutUuid, RunUuid } from '../../model/ids';
import { always, type Predicate } from '../../model/predicates';
import type { Counter } from '../../model/rollouts/layout';
import type { TargetState } from '../../model/rollouts/states';
import type { WaveSpec } from '../../model/rollouts/waves';
import type { Db } from '../database';
import { jsonOf } from '../database';
import { conditionOf } from '../predicates';

export type TargetRow = {
  readonly position: number;
  readonly node_uuid: NodeUuid;
  readonly node_name: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  readonly lease_id: LeaseUuid | null;
  /** Null if the plan refused it. */
  readonly wave: number | null;
  readonly state: TargetState;
  readonly code: string | null;
  readonly rule: string | null;
  readonly reason: string | null;
  readonly power_cycles: number;
  readonly erases: boolean;
  /** Other nodes of its steps. Null for plans of older versions. */
  readonly also_nodes: readonly NodeUuid[] | null;
  readonly expected_ms: number | null;
  /** 95th percentile of the duration. It must fit into the rest of a window. */
  readonly p95_ms: number | null;
  /** Earliest begin, from the tenant's answer or a window. */
  readonly not_before: Date | null;
  /** Null if consent was not required so far. */
  readonly asked_at: Date | null;
  readonly run_id: RunUuid | null;
  readonly admitted_at: Date | null;
  readonly soak_until: Date | null;
  readonly ended_at: Date | null;
  /** A later time than `ended_at` requests a retry. */
  readonly retry_asked_at: Date | null;
};

/** As the plan sets it. */
export type PlannedTarget = Omit<
  TargetRow,
  'not_before' | 'asked_at' | 'run_id' | 'admitted_at' | 'soak_until' | 'ended_at' | 'retry_asked_at'
> & {
  readonly counters: readonly number[];
};

export type TargetSelection = {
  /** Over columns of nodes. */
  readonly visible: Predicate;
  /** Over owner and lessee in the plan. The lessee counts during its lease. */
  readonly own?: Predicate;
  readonly state?: TargetState;
  readonly wave?: number;
  readonly code?: string;
  readonly node?: NodeUuid;
  readonly limit: number;
  /** Position of the last target before the page. */
  readonly after?: number;
};

export const targetColumns = [
  'position', 'node_uuid', 'node_name', 'owner', 'lessee', 'lease_id', 'wave', 'state', 'code', 'rule', 'reason', 'power_cycles', 'erases',
  'also_nodes', 'expected_ms', 'p95_ms', 'not_before', 'asked_at', 'run_id', 'admitted_at', 'soak_until', 'ended_at',
  'retry_asked_at',
] as const; // biome-ignore format: one row of names

// Bounds the size of a statement's parameter.
const targetsAtOnce = 5_000;

/** Waves follow each other in the plan, so a page of one state is an index range. */
const pageOf = (sql: Db, rollout: RolloutUuid, { state, wave, after }: TargetSelection) => {
  if (state !== undefined && wave === undefined) {
    const waveOf = sql`(select m.wave from rollout_targets m where m.rollout = ${rollout} and m.position = ${after ?? null})`;
    const follows =
      state === 'refused'
        ? sql`t.position > ${after ?? null}`
        : sql`(t.wave, t.position) > (${waveOf}, ${after ?? null}::int)`;
    return sql`
      ${state === 'refused' ? sql`and t.wave is null` : sql``} ${after === undefined ? sql`` : sql`and ${follows}`}
      order by t.wave, t.position`;
  }
  const begins = sql`(select coalesce(sum(w.size), 0)::int from rollout_waves w where w.rollout = ${rollout} and w.wave < ${wave ?? null})`;
  return sql`
    ${wave === undefined || state !== undefined ? sql`` : sql`and t.position >= ${begins}`}
    ${after === undefined ? sql`` : sql`and t.position > ${after}`} order by t.position`;
};

/** Owner and lessee of target `t` on node `n`. The lessee counts during the lease of the plan, not if the project leases the node again. */
export const projectsOfTarget = (sql: Db) =>
  sql`(select t.owner, case when t.lease_id = n.lease_id then t.lessee end as lessee)`;

export const rolloutTargets = (sql: Db) => ({
  /** Call it in the transaction that inserts the plan. */
  async insert(
    rollout: RolloutUuid,
    {
      waves,
      counters,
      targets,
    }: {
      readonly waves: readonly (WaveSpec & { readonly size: number })[];
      readonly counters: readonly Counter[];
      readonly targets: readonly PlannedTarget[];
    },
  ): Promise<void> {
    const rows = waves.map(({ size, advance, soak_ms }, wave) => ({ rollout, wave, size, advance, soak_ms }));
    if (rows.length > 0) await sql`insert into rollout_waves ${sql(rows)}`;
    for (let from = 0; from < counters.length; from += targetsAtOnce)
      await sql`
        insert into rollout_counters (rollout, number, scope, value, budget, most, per_minute)
        select ${rollout}, number, scope, value, budget, most, per_minute
        from jsonb_to_recordset(${jsonOf(sql, counters.slice(from, from + targetsAtOnce))})
          as c (number int, scope text, value text, budget int, most int, per_minute int)`;
    for (let from = 0; from < targets.length; from += targetsAtOnce)
      await sql`
        insert into rollout_targets (rollout, position, node_uuid, node_name, owner, lessee, lease_id, wave, counters, state, code, rule, reason,
          power_cycles, erases, also_nodes, expected_ms, p95_ms)
        select ${rollout}, position, node_uuid, node_name, owner, lessee, lease_id, wave, counters, state, code, rule, reason,
          power_cycles, erases, also_nodes, expected_ms, p95_ms
        from jsonb_to_recordset(${jsonOf(sql, targets.slice(from, from + targetsAtOnce))})
          as t (position int, node_uuid uuid, node_name text, owner text, lessee text, lease_id uuid, wave int, counters int[], state text,
            code text, rule text, reason text, power_cycles int, erases boolean, also_nodes uuid[], expected_ms bigint, p95_ms bigint)`;
  },

  /**
   * In the order of the plan. Targets of deleted nodes are visible only to callers who see all nodes. Other callers get their own
   * `position`: the plan's would reveal the number of hidden targets.
   */
  list: (rollout: RolloutUuid, selection: TargetSelection): Promise<TargetRow[]> => {
    const { visible, own = always, state, wave, code, node, limit, after } = selection;
    const whole = visible.is === 'true' && own.is === 'true';
    const position = whole ? sql`t.position` : sql`(row_number() over (order by t.position))::int - 1`;
    return sql<TargetRow[]>`
      select ${sql(targetColumns.map((name) => `t.${name}`))} from (
        select ${sql(targetColumns.filter((name) => name !== 'position').map((name) => `t.${name}`))}, ${position} as position
        from rollout_targets t left join nodes n on n.uuid = t.node_uuid cross join lateral ${projectsOfTarget(sql)} planned
        where t.rollout = ${rollout} and ${conditionOf(sql, visible, 'n')} and ${conditionOf(sql, own, 'planned')}) t
      where true ${state === undefined ? sql`` : sql`and t.state = ${state}`} ${wave === undefined ? sql`` : sql`and t.wave = ${wave}`}
        ${code === undefined ? sql`` : sql`and t.code = ${code}`} ${node === undefined ? sql`` : sql`and t.node_uuid = ${node}`}
        ${whole ? pageOf(sql, rollout, selection) : sql`${after === undefined ? sql`` : sql`and t.position > ${after}`} order by t.position`}
      limit ${limit}`;
  },

  /** Failure domains of targets by position: values by name of the bound. */
  async domains(
    rollout: RolloutUuid,
    targets: readonly Pick<TargetRow, 'position'>[],
  ): Promise<ReadonlyMap<number, Readonly<Record<string, string>>>> {
    const positions = targets.map(({ position }) => position);
    const rows = await sql<{ position: number; domains: Record<string, string> }[]>`
      select t.position, jsonb_object_agg(c.scope, c.value) as domains
      from rollout_targets t join rollout_counters c on c.rollout = t.rollout and c.number = any (t.counters)
      where t.rollout = ${rollout} and t.position = any (${positions}) and c.scope not in ('total', 'wave')
      group by t.position`;
    return new Map(rows.map(({ position, domains }) => [position, domains]));
  },

  async find(rollout: RolloutUuid, node: NodeUuid): Promise<TargetRow | undefined> {
    const [row] = await sql<TargetRow[]>`
      select ${sql(targetColumns)} from rollout_targets where rollout = ${rollout} and node_uuid = ${node}`;
    return row;
  },

  /** `tenants` counts projects; `own` is true if all nodes belong to this project. */
  async facts(rollout: RolloutUuid, project: ProjectId | null) {
    const [row] = await sql<{ nodes: number; tenants: number; own: boolean; erases: boolean; power: boolean }[]>`
      select count(*)::int as nodes, count(distinct coalesce(lessee, owner, ''))::int as tenants,
        coalesce(bool_and(${project}::text is not null and coalesce(lessee, owner) is not distinct from ${project}), false) as own,
        coalesce(bool_or(erases), false) as erases, coalesce(bool_or(power_cycles > 0), false) as power
      from rollout_targets where rollout = ${rollout} and wave is not null`;
    return row!;
  },

  soaked: (rollout: RolloutUuid): Promise<{ position: number }[]> => sql`
    select position from rollout_targets
    where rollout = ${rollout} and state = 'soaking' and soak_until <= now() order by position`,

  /**
   * Ends a soak: the target is done, or failed if its node has a fault. False if no soak is over. Reads target and node under the target's
   * lock, so that a delayed coordinator cannot move a target that was begun again.
   */
  async closeSoak(rollout: RolloutUuid, position: number): Promise<boolean> {
    const [row] = await sql<{ moved: boolean }[]>`
      with held as materialized (
        select node_uuid from rollout_targets
        where rollout = ${rollout} and position = ${position} and state = 'soaking' and soak_until <= now() for no key update),
      looked as materialized (
        select case when n.uuid is null then 'the node is gone'
          when n.fault is not null then 'the node has the fault ' || n.fault
          when n.maintenance then 'the node is in maintenance'
          when n.power_state = 'error' then 'the power state of the node is error'
          when n.health = 'Critical' then 'the BMC reports the node''s health as Critical' end as fault
        from held left join nodes n on n.uuid = held.node_uuid)
      select move_rollout_target(${rollout}, ${position}, case when fault is null then 'done' else 'failed' end,
        case when fault is not null then 'soak_failed' end, fault) as moved from looked`;
    return row?.moved ?? false;
  },

  /** Moves its counters, too. False if it is in that state already. */
  async move(
    rollout: RolloutUuid,
    position: number,
    to: TargetState,
    code: string | null,
    reason: string | null,
  ): Promise<boolean> {
    const [row] = await sql<{ moved: boolean }[]>`
      select move_rollout_target(${rollout}, ${position}, ${to}, ${code}, ${reason}) as moved`;
    return row!.moved;
  },

  /** False if it has begun. */
  async skip(
    rollout: RolloutUuid,
    position: number,
    why: { readonly code: string; readonly rule?: string; readonly reason: string },
  ) {
    const skipped = await sql`
      update rollout_targets set state = 'skipped', code = ${why.code}, rule = ${why.rule ?? null}, reason = ${why.reason}, ended_at = now()
      where rollout = ${rollout} and position = ${position} and state in ('pending', 'asked') returning 1`;
    // A failed target that waits for a retry stays failed, with the new reason.
    if (skipped.length === 0)
      await sql`
        update rollout_targets set retry_asked_at = null, code = ${why.code}, rule = ${why.rule ?? null}, reason = ${why.reason}
        where rollout = ${rollout} and position = ${position} and state = 'failed'`;
    return skipped.length === 1;
  },

  /**
   * Marks targets under way as aborted by the rollout. Locks rows in one order, because two coordinators may do so at once.
   * @returns runs that no caller has aborted
   */
  async abortAsked(rollout: RolloutUuid): Promise<RunUuid[]> {
    const rows = await sql<{ run_id: RunUuid }[]>`
      with working as materialized (
        select t.position, t.run_id from rollout_targets t join runs r on r.id = t.run_id
        where t.rollout = ${rollout} and t.state in ('admitted', 'parked') and r.finished_at is null and r.abort_at is null
        order by t.position for no key update of t)
      update rollout_targets t set abort_asked = true from working w
      where t.rollout = ${rollout} and t.position = w.position
      returning t.run_id`;
    return rows.map(({ run_id }) => run_id);
  },
});
