/** Writes of a run that holds its node, each under the fence; and its end. */
import type { NodeUuid, ProjectId } from '../../model/ids';
import type { Fault, ProvisionState } from '../../model/lifecycle/states';
import type { PlannedStep } from '../../model/lifecycle/step-types';
import type { EventKind } from '../../model/resources/event-kinds';
import { type CauseCode, ramdiskSilent } from '../../model/runs/causes';
import type { Lock, RunEnding, RunState, WaitsOn } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { type Fenced, heldBy } from '../fence';

export type HeldNode = {
  readonly uuid: NodeUuid;
  readonly provision_state: ProvisionState;
  readonly target_provision_state: ProvisionState | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  readonly maintenance: boolean;
};

// The lessee goes only if the deployment set it.
const withoutInstance = (sql: Db) => sql`
  instance_info = '{}', instance_uuid = null, instance_name = null, allocation_uuid = null,
  lessee = case when driver_internal_info ? 'automatic_lessee' then null else lessee end,
  driver_internal_info = driver_internal_info - '{automatic_lessee,instance,root_uuid_or_disk_id,is_whole_disk_image,is_source_a_path,deploy_boot_mode}'::text[]`;

/** A change to these states appends an event. Other states have events of their causes. */
const isAnnounced = (state: RunState): state is 'waiting' | 'parked' | 'paused' =>
  ['waiting', 'parked', 'paused'].includes(state);

export const heldRuns = (sql: Db) => ({
  /** Compare-and-set accepted -> running; idempotent. False if the run is unknown, fenced off or ended. */
  async claim(lock: Lock, workflowRun: string, previous?: string): Promise<boolean> {
    const claimed = await sql`
      with held as (${heldBy(sql, lock)})
      update runs set state = 'running', waiting_for = case when state = 'accepted' then null else waiting_for end,
        workflow_run_id = ${workflowRun}, restart_at = null, started_at = coalesce(started_at, now()), updated_at = now(),
        act_nth = case when workflow_run_id = ${workflowRun} then act_nth else 0 end, -- another execution counts its acts anew
        act_cut = case when workflow_run_id = ${workflowRun} then act_cut else 0 end,
        act_id = case when workflow_run_id = ${workflowRun} then act_id end
      where id = ${lock.run}
        and (state = 'accepted' or restart_at is not null or (finished_at is null and workflow_run_id in (${workflowRun}, ${previous ?? workflowRun})))
        and exists (select 1 from held)
      returning 1`;
    return claimed.length === 1;
  },

  /** Locks the node; undefined if the lock is lost. */
  async held(lock: Fenced): Promise<HeldNode | undefined> {
    const columns = ['uuid', 'provision_state', 'target_provision_state', 'owner', 'lessee', 'maintenance'];
    const [node] = await sql<HeldNode[]>`${heldBy(sql, lock, columns)}`;
    return node;
  },

  /** Counter of the run's last projection; undefined if the lock is lost. */
  async seqOf(lock: Lock): Promise<number | undefined> {
    const [row] = await sql<{ seq: number }[]>`
      with held as (${heldBy(sql, lock)}) select seq from runs where id = ${lock.run} and exists (select 1 from held)`;
    return row?.seq;
  },

  /** False if this projection was made before. */
  async advance(
    lock: Lock,
    seq: number,
    state: RunState,
    waiting_for: string | null,
    waits_on: WaitsOn | null = null,
  ): Promise<boolean> {
    const held = ['uuid', 'owner', 'lessee'];
    const kind: EventKind | null = isAnnounced(state) ? `run.${state}` : null;
    const advanced = await sql`
      with held as (${heldBy(sql, lock, held)}
      ), before as (
        select state from runs where id = ${lock.run}
      ), advanced as (
        update runs set seq = ${seq}, state = ${state}, waiting_for = ${waiting_for}, waits_on = ${waits_on}, updated_at = now()
        where id = ${lock.run} and seq < ${seq} and exists (select 1 from held) returning cursor
      ), said as (
        insert into events (kind, node_uuid, run_id, project, lessee, data)
        select ${kind}, held.uuid, ${lock.run}, held.owner, held.lessee,
          jsonb_build_object('from', before.state, 'index', advanced.cursor, 'waiting_for', ${waiting_for}::text)
        from held, before, advanced where before.state <> ${state} and ${kind}::text is not null
      )
      select 1 from advanced`;
    return advanced.length === 1;
  },

  /** Counts a projection that changes nothing of the run. False if it was made before. */
  async counted(lock: Lock, seq: number): Promise<boolean> {
    const counted = await sql`
      with held as (${heldBy(sql, lock)})
      update runs set seq = ${seq}, updated_at = now()
      where id = ${lock.run} and seq < ${seq} and exists (select 1 from held) returning 1`;
    return counted.length === 1;
  },

  async moveNode(lock: Lock, to: ProvisionState, forgets: 'instance' | null = null): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      update nodes set provision_state = ${to}, provision_updated_at = now(), updated_at = now()
        ${forgets === 'instance' ? sql`, ${withoutInstance(sql)}` : sql``}
      where uuid in (select uuid from held)`;
  },

  /** Adds the ramdisk's own steps. */
  async replan(lock: Lock, steps: readonly PlannedStep[]): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      update runs set plan = ${jsonOf(sql, steps)} where id = ${lock.run} and exists (select 1 from held)`;
  },

  /** Records how a run in cleanup will end, so that another execution can end it. */
  async endsAs(lock: Lock, ending: RunEnding): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      update runs set ending = ${jsonOf(sql, ending)} where id = ${lock.run} and exists (select 1 from held)`;
  },
});

/** A run that waits for a ramdisk has no failed attempt. */
const errorCode = (sql: Db, { run }: Lock, { state, cursor }: { readonly state: RunState; readonly cursor: number }) =>
  state === 'succeeded'
    ? sql`null`
    : sql`coalesce((select last_code from run_steps where run_id = ${run} and index = ${cursor}),
        case when awaits is not null then ${ramdiskSilent satisfies CauseCode} end)`;

export const finishedRuns = (sql: Db) => ({
  /** Ends a run and frees its nodes in one statement. False if it has ended before. */
  async finish(
    lock: Lock,
    end: {
      state: RunState;
      to: ProvisionState | null;
      target: ProvisionState | null;
      error: string | null;
      fault: Fault | null;
      cursor: number;
      forgetPower: boolean;
      forgetInstance: boolean;
    },
  ): Promise<boolean> {
    const ended = await sql`
      with held as (${heldBy(sql, lock)}
      ), ended as (
        update runs set state = ${end.state}, last_error = ${end.error}, cursor = ${end.cursor}, waiting_for = null, awaits = null,
          finished_at = now(), updated_at = now(), started_at = coalesce(started_at, now()), error_code = ${errorCode(sql, lock, end)}
        where id = ${lock.run} and exists (select 1 from held)
        returning id
      ), freed as (
        update nodes set
          reservation = null, target_power_state = null, clean_step = null, service_step = null, deploy_step = null, updated_at = now(),
          ${end.forgetInstance ? sql`${withoutInstance(sql)},` : sql``}
          inspection_finished_at = case when ${end.to}::text = 'manageable' and provision_state in ('inspecting', 'inspect wait')
            then now() else inspection_finished_at end,
          provision_state = coalesce(${end.to}, provision_state),
          target_provision_state = case when ${end.to}::text is null then target_provision_state else ${end.target} end,
          provision_updated_at = case when ${end.to}::text is null then provision_updated_at else now() end,
          power_state = case when ${end.forgetPower} then null else power_state end,
          last_error = ${end.error},
          fault = case when fault = 'ramdisk conflict' then fault else coalesce(${end.fault}, fault) end,
          maintenance = maintenance or ${end.fault !== null},
          maintenance_reason = case when ${end.fault !== null} and maintenance_reason is null then ${end.error} else maintenance_reason end
        where uuid in (select uuid from held) and exists (select 1 from ended)
      ), freed_also as (
        update nodes set reservation = null, updated_at = now()
        where reservation = ${lock.run} and uuid <> ${lock.node_uuid} and exists (select 1 from ended)
      )
      select 1 from ended`;
    return ended.length === 1;
  },

  /**
   * Ends the maintenance that a failed run set, after its fault is over. An operator's maintenance stays: its reason is no run's error.
   * @returns false if there was none
   */
  async leaveFault(node: NodeUuid, fault: Fault): Promise<boolean> {
    const left = await sql`
      update nodes set fault = null, maintenance = false, maintenance_reason = null, updated_at = now()
      where uuid = ${node} and fault = ${fault} and maintenance
        and exists (select 1 from runs r where r.node_uuid = nodes.uuid and r.last_error = nodes.maintenance_reason)
      returning 1`;
    return left.length === 1;
  },
});
