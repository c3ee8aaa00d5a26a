/** Admission of targets: a target begins only if all its counters have room. */
import type { NodeUuid, RolloutUuid, RunUuid } from '../../model/ids';
import type { TargetState } from '../../model/rollouts/states';
import type { Db } from '../database';
import { atMost, powerStarts } from './due';

export type AdmissionOrder = {
  readonly rollout: RolloutUuid;
  readonly plan_hash: string;
  readonly position: number;
  readonly node_uuid: NodeUuid;
  readonly run: RunUuid;
};

/**
 * `closed`: the rollout does not run with this plan. `begun`: the target has begun, is over, or may not begin yet. `changed`: the node's
 * owner or lease changed. `full`: the first bound without room.
 */
export type Admission =
  | { readonly is: 'admitted' | 'closed' | 'begun' | 'changed' }
  | { readonly is: 'full'; readonly scope: string; readonly value: string };

type TargetRow = { readonly state: TargetState; readonly counters: number[]; readonly beginnable: boolean };

export const rolloutAdmission = (sql: Db) => {
  const isOpen = async ({ rollout, plan_hash }: AdmissionOrder): Promise<boolean> => {
    const open = await sql`
      select 1 from rollouts where id = ${rollout} and state = 'running' and plan_hash = ${plan_hash} for share`;
    return open.length === 1;
  };

  /**
   * Locks the node before counters, as ends of runs do. Reads `beginnable` under the target's lock: its state may have changed since a
   * coordinator listed it.
   */
  const unchanged = async ({ rollout, position, node_uuid }: AdmissionOrder): Promise<TargetRow | undefined> => {
    await sql`select 1 from nodes where uuid = ${node_uuid} for no key update`;
    const [target] = await sql<TargetRow[]>`
      select t.state, t.counters, coalesce(case t.state
        when 'pending' then t.not_before is null or t.not_before <= now()
        when 'failed' then t.retry_asked_at > t.ended_at end, false) as beginnable
      from rollout_targets t join nodes n on n.uuid = t.node_uuid
      where t.rollout = ${rollout} and t.position = ${position} and n.uuid = ${node_uuid}
        and (t.owner, t.lessee, t.lease_id) is not distinct from (n.owner, n.lessee, n.lease_id)
      for no key update of t`;
    return target;
  };

  const full = async ({ rollout }: AdmissionOrder, keys: readonly number[]): Promise<Admission> => {
    const [first] = await sql<{ scope: string; value: string }[]>`
      select scope, value from rollout_counters where rollout = ${rollout} and number = ${Math.min(...keys)}`;
    return { is: 'full', ...first! };
  };

  /** The counter whose nodes started as often in the last minute as their power supply allows. Lock the counters before. */
  const countersAtStartLimit = async (
    { rollout, position }: AdmissionOrder,
    keys: number[],
  ): Promise<Admission | undefined> => {
    const [first] = await sql<{ scope: string; value: string }[]>`
      select c.scope, c.value from rollout_counters c
      where c.rollout = ${rollout} and c.number = any (${keys}) and c.per_minute is not null
        and exists (select from rollout_targets where rollout = ${rollout} and position = ${position} and power_cycles > 0)
        and c.per_minute <= (
          select ${powerStarts(sql)} from rollout_targets t where t.rollout = c.rollout and t.power_cycles > 0
            and t.admitted_at > now() - interval '1 minute' and t.counters @> array[c.number])
      order by c.number limit 1`;
    return first && { is: 'full', ...first };
  };

  return {
    /**
     * Takes a place in all counters or in none; commit only `admitted`. Call it in the transaction that accepts the run, before the run
     * takes the node.
     */
    async admit(order: AdmissionOrder): Promise<Admission> {
      if (!(await isOpen(order))) return { is: 'closed' };
      const target = await unchanged(order);
      if (!target) return { is: 'changed' };
      if (!target.beginnable) return { is: 'begun' };
      const { rollout, position, run } = order;
      const { counters: keys } = target;
      // A retry leaves the failed targets when it enters those in flight.
      const again = target.state === 'failed' ? 1 : 0;
      // Prevents deadlocks of admissions whose targets share two domains.
      await sql`
        select 1 from rollout_counters where rollout = ${rollout} and number = any (${keys}) order by number for no key update`;
      const taken = await sql<{ number: number }[]>`
        update rollout_counters set in_flight = in_flight + 1, failed = failed - ${again}::int
        where rollout = ${rollout} and number = any (${keys})
          and (budget is null or failed + parked + in_flight - ${again}::int < budget) and (${atMost(sql)}) is not true
        returning number`;
      const spent = keys.filter((key) => !taken.some(({ number }) => number === key));
      if (spent.length > 0) return full(order, spent);
      const pace = await countersAtStartLimit(order, keys);
      if (pace) return pace;
      await sql`
        update rollout_targets set state = 'admitted', run_id = ${run}, code = null, rule = null, reason = null, begun_before = admitted_at, admitted_at = now(),
          ended_at = null
        where rollout = ${rollout} and position = ${position}`;
      return { is: 'admitted' };
    },
  };
};
