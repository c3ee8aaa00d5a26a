/** The heart of rollouts: a target is begun only while every bound that counts it has room, by counters that are locked in one order. */
import type { NodeUuid, RolloutUuid, RunUuid } from '../../model/ids';
import type { TargetState } from '../../model/rollouts/states';
import type { Db } from '../database';
import { atMost, powerStarts } from './due';

/** Which target is to be begun by which run, by which plan. */
export type AdmissionOrder = {
  readonly rollout: RolloutUuid;
  readonly plan_hash: string;
  readonly position: number;
  readonly node_uuid: NodeUuid;
  readonly run: RunUuid;
};

/**
 * `admitted`, or why not: the rollout is not running by this plan (`closed`), the target is begun or over already, or not to be begun
 * yet (`begun`), its node changed hands after the plan (`changed`), or a bound has no room (`full`, naming the first).
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
   * The target whose node is as it was planned; the node stays locked, for the ends of runs lock it before counters, too. Whether
   * it may be begun is decided under its lock: its state may be another by now than when a coordinator listed it as due.
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

  /** The counter whose nodes were begun as often in the last minute as their power supply bears. The counters are locked by now. */
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
     * Takes the target's place in all its counters, or in none: anything but `admitted` must not be committed. Belongs into the
     * transaction that accepts the run, before that takes the node.
     */
    async admit(order: AdmissionOrder): Promise<Admission> {
      if (!(await isOpen(order))) return { is: 'closed' };
      const target = await unchanged(order);
      if (!target) return { is: 'changed' };
      if (!target.beginnable) return { is: 'begun' };
      const { rollout, position, run } = order;
      const { counters: keys } = target;
      // A failed target that is tried again gives its harm back in the moment in which it may do harm once more.
      const again = target.state === 'failed' ? 1 : 0;
      // Without the order, two admissions of targets that share two domains could wait for each other.
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
