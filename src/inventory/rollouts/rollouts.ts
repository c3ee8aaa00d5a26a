/** Queries of rollouts: plan, read, list and change state. */
import type { Caller } from '../../model/access/callers';
import type { ProjectId, RolloutUuid, UuidRange } from '../../model/ids';
import type { Predicate } from '../../model/predicates';
import type { GateRecord } from '../../model/rollouts/gates';
import type { Counter } from '../../model/rollouts/layout';
import type { RolloutSpec, RolloutSummary } from '../../model/rollouts/spec';
import type { PauseCode, RolloutState, TargetState } from '../../model/rollouts/states';
import type { WaveSpec } from '../../model/rollouts/waves';
import type { Requester } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { conditionOf } from '../predicates';
import { projectsOfTarget } from './targets';

export type RolloutRow = {
  readonly id: RolloutUuid;
  readonly name: string | null;
  readonly project: ProjectId | null;
  readonly state: RolloutState;
  readonly code: PauseCode | null;
  readonly reason: string | null;
  readonly verb: string;
  readonly runbook_uuid: string | null;
  readonly runbook_name: string | null;
  readonly runbook_revision: number | null;
  readonly spec: RolloutSpec;
  readonly summary: RolloutSummary;
  readonly plan_hash: string;
  readonly plan_number: number;
  readonly seed: string;
  readonly requester: Requester;
  /** Null for plans of older versions. */
  readonly approvers: number | null;
  readonly guard: GateRecord | null;
  /** The caller whose rights admit targets. Null before the start. */
  readonly granted: Caller | null;
  readonly granted_at: Date | null;
  readonly rule_set: string;
  readonly wave: number;
  readonly refused_in_row: number;
  readonly ending: 'finish' | 'abort' | null;
  readonly reverts: RolloutUuid | null;
  readonly created_at: Date;
  readonly submitted_at: Date | null;
  /** Time of a scheduled start. Null if a user starts it. */
  readonly start_at: Date | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly updated_at: Date;
};

export type WaveRow = Pick<WaveSpec, 'advance' | 'soak_ms'> & {
  readonly wave: number;
  readonly size: number;
  readonly opened_at: Date | null;
  readonly closed_at: Date | null;
  readonly gate: GateRecord | null;
};

export type CounterRow = Counter & {
  readonly in_flight: number;
  readonly failed: number;
  readonly parked: number;
  readonly done: number;
};

export type Planned = Pick<
  RolloutRow,
  'spec' | 'summary' | 'plan_hash' | 'seed' | 'rule_set' | 'runbook_uuid' | 'runbook_name' | 'runbook_revision' | 'verb'
>;
export type NewRollout = Planned &
  Pick<RolloutRow, 'name' | 'project' | 'requester' | 'reverts'> &
  Partial<Pick<RolloutRow, 'approvers'>>;

/** Columns that a move may change besides `state`. */
export type RolloutChange = Partial<
  Pick<
    RolloutRow,
    | 'code'
    | 'reason'
    | 'wave'
    | 'refused_in_row'
    | 'ending'
    | 'approvers'
    | 'submitted_at'
    | 'start_at'
    | 'started_at'
    | 'finished_at'
  >
> & { readonly granted?: Caller };

const rolloutRowColumns = [
  'id', 'name', 'project', 'state', 'code', 'reason', 'verb', 'runbook_uuid', 'runbook_name', 'runbook_revision', 'spec', 'summary',
  'plan_hash', 'plan_number', 'seed', 'requester', 'approvers', 'guard', 'granted', 'granted_at', 'rule_set', 'wave', 'refused_in_row', 'ending', 'reverts',
  'created_at', 'submitted_at', 'start_at', 'started_at', 'finished_at', 'updated_at',
] as const; // biome-ignore format: one row of names

const plannedColumns = (sql: Db, plan: Planned) => ({
  spec: jsonOf(sql, plan.spec),
  summary: jsonOf(sql, plan.summary),
  plan_hash: plan.plan_hash,
  seed: plan.seed,
  rule_set: plan.rule_set,
  verb: plan.verb,
  runbook_uuid: plan.runbook_uuid,
  runbook_name: plan.runbook_name,
  runbook_revision: plan.runbook_revision,
});

export const rollouts = (sql: Db) => ({
  /** Insert the plan's waves, targets and counters in the same transaction. */
  async create(rollout: NewRollout): Promise<RolloutRow> {
    const { name, project, requester, reverts, approvers = null } = rollout;
    const values = {
      name,
      project,
      requester: jsonOf(sql, requester),
      reverts,
      approvers,
      ...plannedColumns(sql, rollout),
    };
    const [row] = await sql<RolloutRow[]>`insert into rollouts ${sql(values)} returning ${sql(rolloutRowColumns)}`;
    return row!;
  },

  /**
   * Deletes the old plan's targets; its votes no longer count. The caller becomes the requester and cannot approve. False if the rollout
   * has begun or has another plan than `before`.
   */
  async replan(
    id: RolloutUuid,
    before: string,
    plan: Planned,
    by: Pick<NewRollout, 'requester' | 'approvers'>,
  ): Promise<boolean> {
    const { requester, approvers = null } = by;
    const planned = await sql`
      update rollouts set ${sql({ ...plannedColumns(sql, plan), requester: jsonOf(sql, requester), approvers })}, plan_number = plan_number + 1, state = 'planned', code = null, reason = null,
        granted = null, granted_at = null, guard = null, submitted_at = null, start_at = null, updated_at = now()
      where id = ${id} and plan_hash = ${before} and state in ('planned', 'awaiting_approval', 'scheduled') returning 1`;
    if (planned.length === 0) return false;
    await sql`delete from rollout_targets where rollout = ${id}`;
    await sql`delete from rollout_waves where rollout = ${id}`;
    await sql`delete from rollout_counters where rollout = ${id}`;
    return true;
  },

  async find(id: RolloutUuid): Promise<RolloutRow | undefined> {
    const [row] = await sql<RolloutRow[]>`select ${sql(rolloutRowColumns)} from rollouts where id = ${id}`;
    return row;
  },

  /**
   * Newest first. `visible` is over columns of rollouts, `nodes` over those of nodes, `own` over owner and lessee in the plan. A rollout is
   * also visible if a target matches `nodes` and `own`.
   */
  async list(of: {
    readonly visible: Predicate;
    readonly nodes: Predicate;
    readonly own: Predicate;
    readonly state?: RolloutState;
    readonly project?: string;
    readonly between?: UuidRange;
    readonly limit: number;
    readonly after?: RolloutUuid;
  }): Promise<RolloutRow[]> {
    const place = sql`(select m.created_at from rollouts m where m.id = ${of.after ?? null})`;
    // Starts from the caller's nodes: otherwise PostgreSQL reads every rollout, or all targets for each one.
    const seen = sql`
      select w.id from rollouts w where ${conditionOf(sql, of.visible, 'w')}
      union select t.rollout from nodes n join rollout_targets t on t.node_uuid = n.uuid cross join lateral ${projectsOfTarget(sql)} planned
      where ${conditionOf(sql, of.nodes, 'n')} and ${conditionOf(sql, of.own, 'planned')}`;
    return sql<RolloutRow[]>`
      select ${sql(rolloutRowColumns.map((name) => `r.${name}`))} from rollouts r
      where ${of.visible.is === 'true' ? sql`true` : sql`r.id = any (array(${seen}))`}
        ${of.state === undefined ? sql`` : sql`and r.state = ${of.state}`}
        ${of.project === undefined ? sql`` : sql`and r.project = ${of.project}`}
        ${of.between ? sql`and r.id between ${of.between.lowest} and ${of.between.highest}` : sql``}
        ${of.after ? sql`and r.created_at <= ${place} and (r.created_at < ${place} or (r.created_at = ${place} and r.id > ${of.after}))` : sql``}
      order by r.created_at desc, r.id limit ${of.limit}`;
  },

  waves: (id: RolloutUuid): Promise<WaveRow[]> => sql<WaveRow[]>`
    select wave, size, advance, soak_ms, opened_at, closed_at, gate from rollout_waves where rollout = ${id} order by wave`,

  counters: (id: RolloutUuid): Promise<CounterRow[]> => sql<CounterRow[]>`
    select number, scope, value, budget, most, per_minute, in_flight, failed, parked, done from rollout_counters where rollout = ${id} order by number`,

  /** Wave null has the targets that the plan refused. */
  counts: (
    id: RolloutUuid,
  ): Promise<{ wave: number | null; state: TargetState; code: string | null; targets: number }[]> => sql`
    select wave, case when state = 'failed' and retry_asked_at > ended_at then 'pending' else state end as state, code, count(*)::int as targets
    from rollout_targets where rollout = ${id} group by 1, 2, 3 order by 1, 2, 3`,

  /**
   * Moves a rollout and wakes its workflow. `change.wave` must follow the present wave. False if state, plan or wave differ. Waits for open
   * admissions: after it returns, none follows that the new state forbids.
   */
  async move(
    { id, plan_hash }: Pick<RolloutRow, 'id' | 'plan_hash'>,
    from: readonly RolloutState[],
    to: RolloutState,
    { granted, ...change }: RolloutChange = {},
  ): Promise<boolean> {
    const moved = await sql`
      update rollouts set ${sql({ ...change, state: to })}
        ${granted ? sql`, granted = ${jsonOf(sql, granted)}, granted_at = now()` : sql``}, updated_at = now()
      where id = ${id} and plan_hash = ${plan_hash} and state in ${sql([...from])}
        ${change.wave === undefined ? sql`` : sql`and wave = ${change.wave - 1}`} returning 1`;
    if (moved.length === 0) return false;
    await sql`select wake_rollout(${id})`;
    return true;
  },

  /** `reason`: an obstacle other than the rollout's own bounds. */
  async waitsFor(id: RolloutUuid, reason: string | null): Promise<void> {
    await sql`
      update rollouts set reason = ${reason}, updated_at = now()
      where id = ${id} and state = 'running' and reason is distinct from ${reason}`;
  },

  /** @returns the expired rollouts */
  async expire(hours: number): Promise<Pick<RolloutRow, 'id' | 'project'>[]> {
    const reason = `The plan was not begun within ${hours} h; plan it again.`;
    return sql<Pick<RolloutRow, 'id' | 'project'>[]>`
      update rollouts set state = 'expired', reason = ${reason}, finished_at = now(), updated_at = now()
      where (state in ('planned', 'awaiting_approval') or state = 'scheduled' and start_at is null)
        and updated_at < now() - ${hours} * interval '1 hour' returning id, project`;
  },

  async openWave(id: RolloutUuid, wave: number): Promise<void> {
    await sql`update rollout_waves set opened_at = coalesce(opened_at, now()) where rollout = ${id} and wave = ${wave}`;
  },

  async closeWave(id: RolloutUuid, wave: number, gate: GateRecord | null = null): Promise<void> {
    await sql`
      update rollout_waves set closed_at = coalesce(closed_at, now()), gate = coalesce(${gate && jsonOf(sql, gate)}, gate)
      where rollout = ${id} and wave = ${wave}`;
  },

  async guarded(id: RolloutUuid, guard: GateRecord): Promise<void> {
    await sql`update rollouts set guard = ${jsonOf(sql, guard)} where id = ${id}`;
  },

  async refusedInRow(id: RolloutUuid, many: number): Promise<void> {
    await sql`update rollouts set refused_in_row = ${many} where id = ${id}`;
  },

  /** Never lowers the bound on targets in flight. */
  async ramp(id: RolloutUuid, most: number): Promise<void> {
    await sql`
      update rollout_counters set most = ${most} where rollout = ${id} and scope = 'total' and most < ${most}`;
  },
});
