/** End of a run, and its traces on the node. */
import type { NodeUuid } from '../../model/ids';
import type { Fault, ProvisionState } from '../../model/lifecycle/states';
import { type CauseCode, ramdiskSilent } from '../../model/runs/causes';
import type { Lock, RunState } from '../../model/runs/runs';
import type { Db } from '../database';
import { heldBy } from '../fence';

import { withoutInstance } from './hold';

/** A run that waits for a ramdisk has no failed attempt. */
const codeOf = (sql: Db, { run }: Lock, { state, cursor }: { readonly state: RunState; readonly cursor: number }) =>
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
          finished_at = now(), updated_at = now(), started_at = coalesce(started_at, now()), error_code = ${codeOf(sql, lock, end)}
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
