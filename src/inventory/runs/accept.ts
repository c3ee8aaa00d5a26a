/** How a run is accepted: node taken, fence raised, run written, in one statement. */
import type { NodeUuid, ProjectId, RolloutUuid, RunUuid } from '../../model/ids';
import type { ProvisionState } from '../../model/lifecycle/states';
import type { Lock, Requester, RunInput } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';

export type Acceptance = {
  readonly run: RunUuid;
  readonly node_uuid: NodeUuid;
  /** What the handler saw; acceptance fails when it has changed. */
  readonly from: ProvisionState;
  readonly revision: string | null;
  /** Null leaves the provision state alone. */
  readonly to: ProvisionState | null;
  readonly target: ProvisionState | null;
  readonly target_power_state: string | null;
  readonly story: string;
  readonly verb: string;
  readonly runbook: { readonly uuid: string; readonly name: string; readonly revision: number } | null;
  readonly requester: Requester;
  readonly rule_set: string;
  readonly workflow_id: string;
  /** The workflow's input but for the fence, which only this statement knows. */
  readonly input: Omit<RunInput, 'lock'>;
  /** The run that is taken over from; null takes only a free node. */
  readonly displaces?: RunUuid | null;
  /** Replaces the node's document, where the run brings something of its own. */
  readonly instance_info?: Readonly<Record<string, unknown>> | null;
  /** Becomes the lessee of a node that has none. */
  readonly lessee?: ProjectId | null;
  readonly limit_class?: string | null;
  /** Of its runbook, secret values masked. */
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly resumes?: { readonly run: RunUuid; readonly from: number } | null;
  /** The rollout that it is a part of. */
  readonly batch?: RolloutUuid | null;
};

// Named only where it is given: the BMC workers' role, which accepts runs of power sync, may not write lessees.
const becomesLessee = (sql: Db, lessee: string | null | undefined) =>
  lessee == null
    ? sql``
    : sql`
  driver_internal_info = case when lessee is null
    then driver_internal_info || '{"automatic_lessee": true}' else driver_internal_info end,
  lessee = coalesce(lessee, ${lessee}),`;

export const acceptedRuns = (sql: Db) => ({
  /**
   * Lock, fence, state and run row in one statement; undefined when the node is held, gone, or no longer in `from`.
   * The caller adds steps, secrets and audit in the same transaction.
   */
  async accept(
    order: Acceptance,
  ): Promise<{ lock: Lock; owner: ProjectId | null; lessee: ProjectId | null } | undefined> {
    const [row] = await sql<{ fence: number; owner: ProjectId | null; lessee: ProjectId | null }[]>`
      with taken as (
        update nodes set
          reservation = ${order.run}, fence = fence + 1, updated_at = now(), last_error = null,
          instance_info = ${!order.instance_info ? sql`instance_info` : jsonOf(sql, order.instance_info)},
          ${becomesLessee(sql, order.lessee)}
          inspection_started_at = case when ${order.to}::text = 'inspecting' then now() else inspection_started_at end,
          inspection_finished_at = case when ${order.to}::text = 'inspecting' then null else inspection_finished_at end,
          target_power_state = coalesce(${order.target_power_state}, target_power_state),
          provision_state = coalesce(${order.to}, provision_state),
          target_provision_state = case when ${order.to}::text is null then target_provision_state else ${order.target} end,
          provision_updated_at = case when ${order.to}::text is null then provision_updated_at else now() end
        where uuid = ${order.node_uuid} and reservation is not distinct from ${order.displaces ?? null}::uuid and provision_state = ${order.from}
          and (${order.revision}::text is null or xmin::text = ${order.revision})
        returning uuid, name, fence, owner, lessee, lease_id
      )
      insert into runs (id, node_uuid, node_name, fence, story, verb, runbook_uuid, runbook_name, runbook_revision, input, owner, lessee, lease_id,
        requester, rule_set, workflow_id, provision_state_before, target, limit_class, resumes, resume_from, batch, parameters)
      select ${order.run}, uuid, name, fence, ${order.story}, ${order.verb}, ${order.runbook?.uuid ?? null}, ${order.runbook?.name ?? null}, ${order.runbook?.revision ?? null}::int,
        ${jsonOf(sql, order.input)}::jsonb || jsonb_build_object('lock', jsonb_build_object('run', ${order.run}::text, 'node_uuid', uuid::text, 'fence', fence)),
        owner, lessee, lease_id, ${jsonOf(sql, order.requester)}, ${order.rule_set}, ${order.workflow_id}, ${order.from}, ${order.target},
        ${order.limit_class ?? null}, ${order.resumes?.run ?? null}, ${order.resumes?.from ?? null}, ${order.batch ?? null},
        ${order.parameters ? jsonOf(sql, order.parameters) : null}::jsonb
      from taken
      returning fence, owner, lessee`;
    if (!row) return undefined;
    return {
      lock: { run: order.run, node_uuid: order.node_uuid, fence: row.fence },
      owner: row.owner,
      lessee: row.lessee,
    };
  },

  /**
   * Takes further nodes for a run that has its own already. @returns their fences by uuid; undefined where one of them is held
   * or gone: the caller's transaction must not be committed then.
   */
  async acceptAlso(run: RunUuid, nodes: readonly NodeUuid[]): Promise<Record<string, number> | undefined> {
    const taken = await sql<{ uuid: NodeUuid; fence: number }[]>`
      update nodes set reservation = ${run}, fence = fence + 1, updated_at = now()
      where uuid in (select uuid from nodes where uuid in ${sql([...nodes])} order by uuid for update) and reservation is null
      returning uuid, fence`;
    if (taken.length !== nodes.length) return undefined;
    const also = Object.fromEntries(taken.map(({ uuid, fence }) => [uuid, fence]));
    await sql`update runs set input = input || jsonb_build_object('also', ${sql.json(also)}::jsonb) where id = ${run}`;
    return also;
  },

  /** The run that was taken over from: its workflow is signalled to end, and finds no row any more. */
  async displaced(run: RunUuid, error: string): Promise<void> {
    await sql`
      update runs set state = 'aborted', last_error = ${error}, waiting_for = null, awaits = null, finished_at = now(), updated_at = now()
      where id = ${run} and finished_at is null`;
    await sql`update nodes set reservation = null where reservation = ${run}`;
  },

  /** A move straight to a resting state; false when the node is held or no longer in `from`. */
  async moveAtOnce(node: NodeUuid, from: ProvisionState, to: ProvisionState): Promise<boolean> {
    const moved = await sql`
      update nodes set provision_state = ${to}, target_provision_state = null, provision_updated_at = now(), updated_at = now(), last_error = null
      where uuid = ${node} and reservation is null and provision_state = ${from} returning 1`;
    return moved.length === 1;
  },
});
