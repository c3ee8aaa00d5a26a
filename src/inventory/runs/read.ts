/** Reads of runs for the API, the relay and activities. */
import type { LeaseUuid, NodeUuid, ProjectId, RunUuid } from '../../model/ids';
import type { ProvisionState } from '../../model/lifecycle/states';
import type { Requester, RunInput, RunState } from '../../model/runs/runs';
import type { Db } from '../database';
import { firstRows } from '../first-rows';

export type RunRow = {
  readonly id: RunUuid;
  readonly node_uuid: NodeUuid;
  readonly node_name: string | null;
  readonly fence: number;
  readonly kind: string;
  readonly verb: string;
  readonly state: RunState;
  readonly runbook_uuid: string | null;
  readonly runbook_name: string | null;
  readonly runbook_revision: number | null;
  /** With masked secrets. Null if the runbook has none. */
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  readonly lease_id: LeaseUuid | null;
  readonly requester: Requester;
  readonly rule_set: string;
  readonly batch: string | null;
  readonly workflow_id: string;
  readonly workflow_run_id: string | null;
  readonly provision_state_before: string | null;
  readonly target: string | null;
  readonly resumes: string | null;
  readonly cursor: number;
  readonly waiting_for: string | null;
  readonly last_error: string | null;
  /** The caller who aborted the run; null if none has. */
  readonly abort_by: string | null;
  readonly abort_at: Date | null;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly updated_at: Date;
};

export const runColumns = [
  'id', 'node_uuid', 'node_name', 'fence', 'kind', 'verb', 'state', 'runbook_uuid', 'runbook_name', 'runbook_revision', 'parameters', 'owner', 'lessee', 'lease_id',
  'requester', 'rule_set', 'batch', 'workflow_id', 'workflow_run_id', 'provision_state_before', 'target', 'resumes', 'cursor', 'waiting_for',
  'last_error', 'abort_by', 'abort_at', 'created_at', 'started_at', 'finished_at', 'updated_at',
] as const; // biome-ignore format: one row of names

export const readRuns = (sql: Db) => ({
  async find(id: RunUuid): Promise<RunRow | undefined> {
    const [row] = await sql<RunRow[]>`select ${sql(runColumns)} from runs where id = ${id}`;
    return row;
  },

  async input(id: RunUuid): Promise<RunInput | undefined> {
    const [row] = await sql<{ input: RunInput }[]>`select input from runs where id = ${id}`;
    return row?.input;
  },

  /** Newest first. PostgreSQL reads the marker's time, because a Date would lose microseconds. */
  async ofNode(
    node: NodeUuid,
    { limit = 100, lease, after }: { limit?: number; lease?: LeaseUuid; after?: RunUuid } = {},
  ): Promise<RunRow[]> {
    const place = sql`(select m.created_at from runs m where m.id = ${after ?? null})`;
    const rows = sql`
      select ${sql(runColumns)} from runs where node_uuid = ${node}
        ${lease ? sql`and lease_id = ${lease}` : sql``} 
        ${after ? sql`and created_at <= ${place} and (created_at < ${place} or (created_at = ${place} and id > ${after}))` : sql``}`;
    return sql<RunRow[]>`${firstRows(sql, rows, sql`order by created_at desc, id`, limit)}`;
  },

  async stateOf(node: NodeUuid): Promise<
    | {
        provision_state: ProvisionState;
        reservation: RunUuid | null;
        owner: ProjectId | null;
        lessee: ProjectId | null;
      }
    | undefined
  > {
    const [row] = await sql<
      {
        provision_state: ProvisionState;
        reservation: RunUuid | null;
        owner: ProjectId | null;
        lessee: ProjectId | null;
      }[]
    >`
      select provision_state, reservation, owner, lessee from nodes where uuid = ${node}`;
    return row;
  },

  /** For the visibility of the node's runs. */
  async standingOf(
    node: NodeUuid,
  ): Promise<{ owner: ProjectId | null; lessee: ProjectId | null; lease_id: LeaseUuid | null } | undefined> {
    const [row] = await sql<{ owner: ProjectId | null; lessee: ProjectId | null; lease_id: LeaseUuid | null }[]>`
      select owner, lessee, lease_id from nodes where uuid = ${node}`;
    return row;
  },

  /** The newest run was accepted under another lease. */
  async lastIsForeign(node: NodeUuid, lease: LeaseUuid | null): Promise<boolean> {
    const [last] = await sql<{ lease_id: LeaseUuid | null }[]>`
      select lease_id from runs where node_uuid = ${node} order by created_at desc limit 1`;
    return last !== undefined && last.lease_id !== lease;
  },

  async holding(node: NodeUuid): Promise<RunRow | undefined> {
    const [row] = await sql<RunRow[]>`
      select ${sql(runColumns.map((name) => `runs.${name}`))} from runs join nodes on nodes.reservation = runs.id where nodes.uuid = ${node}`;
    return row;
  },
});
