/** Acceptance of a run: takes the node, raises its fence and inserts the run in one statement. */
import type { NodeUuid, ProjectId, RolloutUuid, RunUuid } from '../../model/ids';
import type { ProvisionState } from '../../model/lifecycle/states';
import type { Lock, Requester, RunInput } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';

export type Acceptance = {
  readonly run: RunUuid;
  readonly node_uuid: NodeUuid;
  /** Acceptance fails if these have changed. */
  readonly from: ProvisionState;
  readonly revision: string | null;
  /** Null keeps the provision state. */
  readonly to: ProvisionState | null;
  readonly target: ProvisionState | null;
  readonly target_power_state: string | null;
  readonly kind: string;
  readonly verb: string;
  readonly runbook: { readonly uuid: string; readonly name: string; readonly revision: number } | null;
  readonly requester: Requester;
  readonly rule_set: string;
  readonly workflow_id: string;
  /** Without the fence, which only this statement has. */
  readonly input: Omit<RunInput, 'lock'>;
  /** Null takes only a free node. */
  readonly displaces?: RunUuid | null;
  readonly instance_info?: Readonly<Record<string, unknown>> | null;
  /** Becomes the lessee of a node without one. */
  readonly lessee?: ProjectId | null;
  readonly limit_class?: string | null;
  /** With masked secrets. */
  readonly parameters?: Readonly<Record<string, unknown>> | null;
  readonly resumes?: { readonly run: RunUuid; readonly from: number } | null;
  readonly batch?: RolloutUuid | null;
};

// Left out if not given: the BMC workers' role accepts power sync runs and may not write lessees.
const becomesLessee = (sql: Db, lessee: string | null | undefined) =>
  lessee == null
    ? sql``
    : sql`
  driver_internal_info = case when lessee is null
    then driver_internal_info || '{"automatic_lessee": true}' else driver_internal_info end,
  lessee = coalesce(lessee, ${lessee}),`;

export const acceptedRuns = (sql: Db) => ({
  /** Undefined if the node is held, gone, or no longer in `from`. Write steps, secrets and audit in the same transaction. */
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
      insert into runs (id, node_uuid, node_name, fence, kind, verb, runbook_uuid, runbook_name, runbook_revision, input, owner, lessee, lease_id,
        requester, rule_set, workflow_id, provision_state_before, target, limit_class, resumes, resume_from, batch, parameters)
      select ${order.run}, uuid, name, fence, ${order.kind}, ${order.verb}, ${order.runbook?.uuid ?? null}, ${order.runbook?.name ?? null}, ${order.runbook?.revision ?? null}::int,
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

  /** @returns fences by uuid; undefined if a node is held or gone. Do not commit then */
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

  /** Ends the run that was taken over from. Its workflow gets a signal to end, and the fence stops its writes. */
  async displaced(run: RunUuid, error: string): Promise<void> {
    await sql`
      update runs set state = 'aborted', last_error = ${error}, waiting_for = null, awaits = null, finished_at = now(), updated_at = now()
      where id = ${run} and finished_at is null`;
    await sql`update nodes set reservation = null where reservation = ${run}`;
  },

  /** False if the node is held or no longer in `from`. */
  async moveAtOnce(node: NodeUuid, from: ProvisionState, to: ProvisionState): Promise<boolean> {
    const moved = await sql`
      update nodes set provision_state = ${to}, target_provision_state = null, provision_updated_at = now(), updated_at = now(), last_error = null
      where uuid = ${node} and reservation is null and provision_state = ${from} returning 1`;
    return moved.length === 1;
  },
});
