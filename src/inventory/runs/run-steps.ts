/** Steps of a run, with their acts and intents: written at acceptance, replanned, and marked by the workflow. */
import type { RunUuid } from '../../model/ids';
import type { PlannedStep } from '../../model/lifecycle/step-types';
import { type ActName, actRow, acts } from '../../model/lifecycle/steps';
import type { Lock, StepState } from '../../model/runs/runs';
import { columnsOf, type Db, jsonOf } from '../database';
import { type Fenced, heldBy } from '../fence';

import { showStep, stepActs } from './acts';
import { actIntents } from './intents';

export type { ActKey, Begun, Cut, CutAct } from './acts';

export type StepRow = {
  readonly index: number;
  readonly interface: string;
  readonly step: string;
  readonly args: Record<string, unknown>;
  /** Added by Temper, not by the caller. */
  readonly system: boolean;
  readonly abortable: boolean;
  readonly state: StepState;
  readonly act: string | null;
  readonly acts_done: number;
  readonly attempt: number;
  readonly attempts: number;
  readonly note: string | null;
  readonly last_error: string | null;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
};

/** The API shows a waiting step like a running one. */
const showRunningStep = async (sql: Db, lock: Lock, index: number): Promise<void> => {
  await sql`
    update nodes set
    ${showStep(sql, sql`shown.step`)}
    from (select jsonb_build_object('interface', s.interface, 'step', s.step, 'args', s.args) as step
      from run_steps s where s.run_id = ${lock.run} and s.index = ${index} and not s.system) shown
    where uuid = ${lock.node_uuid}`;
};

const stepRows = (run: RunUuid, steps: readonly PlannedStep[]) =>
  steps.map(({ index, interface: of, step, args, system = false, abortable }) => ({
    run_id: run,
    index,
    interface: of,
    step,
    args,
    system,
    abortable,
  }));

const plannedSteps = (sql: Db) => ({
  async insert(run: RunUuid, steps: readonly PlannedStep[]): Promise<void> {
    if (steps.length === 0) return;
    await sql`
    insert into run_steps ${columnsOf(sql, stepRows(run, steps))}
    on conflict (run_id, index) do nothing`;
  },

  /** Replaces pending steps. */
  async renew(lock: Lock, steps: readonly PlannedStep[]): Promise<void> {
    const [held] = await heldBy(sql, lock);
    if (!held || steps.length === 0) return;
    await sql`
    insert into run_steps ${columnsOf(sql, stepRows(lock.run, steps))}
    on conflict (run_id, index) do update set interface = excluded.interface, step = excluded.step, args = excluded.args,
      system = excluded.system, abortable = excluded.abortable
    where run_steps.state = 'pending'`;
  },

  /** Replaces pending steps after `index`. */
  async replaceAfter(lock: Fenced, index: number, steps: readonly PlannedStep[]): Promise<void> {
    const [held] = await heldBy(sql, lock);
    if (!held) return;
    await sql`delete from run_steps where run_id = ${lock.run} and index > ${index} and state = 'pending'`;
    await this.insert(lock.run, steps);
  },

  /** Prepares a retry. Former intents no longer count, except ledgers without doubt. */
  async again(lock: Fenced, index: number, args?: Readonly<Record<string, unknown>>): Promise<void> {
    const [held] = await heldBy(sql, lock);
    if (!held) return;
    const { run } = lock;
    if (args)
      await sql`update run_steps set args = ${jsonOf(sql, args)}, acts_done = 0, acts_ended = '{}', outcomes = '{}' where run_id = ${run} and index = ${index}`;
    const ledgers = Object.keys(acts).filter((act) => actRow(act as ActName).ledger);
    await sql`delete from intents where run_id = ${run} and index = ${index} and (act not in ${sql(ledgers)} or detail ? 'doubted')`;
  },

  /** For steps that the workflow itself carries: waiting, parked, skipped. In a transaction; nothing if the lock is lost. */
  async mark(
    lock: Fenced,
    index: number,
    state: StepState,
    { note, error }: { note?: string | null; error?: string | null },
  ): Promise<void> {
    const [held] = await heldBy(sql, lock);
    if (!held) return;
    const { run } = lock;
    await sql`
    update run_steps set state = ${state}, note = coalesce(${note ?? null}, note), last_error = coalesce(${error ?? null}, last_error),
      started_at = coalesce(started_at, now()), finished_at = case when ${state} in ('done', 'skipped', 'failed') then now() end
    where run_id = ${run} and index = ${index}`;
    if (state === 'waiting' || state === 'parked') await showRunningStep(sql, lock, index);
    await sql`update runs set cursor = ${state === 'done' || state === 'skipped' ? index + 1 : index} where id = ${run}`;
  },

  /** Completes steps that the run has passed but a restored backup has as open. */
  async passed(lock: Lock, before: number, note: string): Promise<void> {
    await sql`
    with held as (${heldBy(sql, lock)})
    update run_steps set state = 'done', note = ${note}, started_at = coalesce(started_at, now()), finished_at = now()
    where run_id = ${lock.run} and index < ${before} and state in ('pending', 'running', 'waiting', 'parked')
      and exists (select 1 from held)`;
  },

  async failAt(run: RunUuid, index: number, error: string | null): Promise<void> {
    await sql`
    update run_steps set state = 'failed', last_error = coalesce(${error}, last_error), finished_at = now()
    where run_id = ${run} and index = ${index} and state not in ('done', 'skipped', 'pending')`;
  },

  async ofRun(run: RunUuid): Promise<StepRow[]> {
    return sql<StepRow[]>`
    select index, interface, step, args, system, abortable, state, act, acts_done, attempt, attempts, note, last_error, started_at, finished_at
    from run_steps where run_id = ${run} order by index`;
  },

  async ofRuns(runs: readonly RunUuid[]): Promise<(StepRow & { run_id: RunUuid })[]> {
    if (runs.length === 0) return [];
    return sql<(StepRow & { run_id: RunUuid })[]>`
    select run_id, index, interface, step, args, system, abortable, state, act, acts_done, attempt, attempts, note, last_error, started_at, finished_at
    from run_steps where run_id in ${sql(runs)} order by run_id, index`;
  },
});

export const runSteps = (sql: Db) => ({
  ...plannedSteps(sql),
  ...stepActs(sql),
  ...actIntents(sql),
});
