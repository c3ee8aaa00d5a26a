/** Queries of power sync: whose power is to be looked at now, and what a look changes. */
import type { NodeUuid, ProjectId } from '../../model/ids';
import { type Fault, type PowerState, type ProvisionState, powerSyncSkips } from '../../model/lifecycle/states';
import { columnsOf, type Db, textArray } from '../database';

/** A node whose power is due to be read, with what its driver needs. */
export type DueNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly driver: string;
  readonly conductor_group: string;
  readonly driver_info: Record<string, unknown>;
  readonly properties: Record<string, unknown>;
  readonly provision_state: ProvisionState;
  readonly power_state: PowerState | null;
  readonly boot_mode: string | null;
  readonly secure_boot: boolean | null;
  readonly disable_power_off: boolean;
  readonly fault: Fault | null;
  /** Looks in a row that failed. */
  readonly failures: number;
};

/** The columns of a node that a look may change, with what power sync wrote itself. */
export type SyncedNode = {
  readonly power_state: PowerState | null;
  readonly maintenance: boolean;
  readonly maintenance_reason: string | null;
  readonly fault: Fault | null;
  readonly last_error: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  /** The maintenance reason that power sync gave. */
  readonly reason: string | null;
};
type Changes = Partial<Omit<SyncedNode, 'owner' | 'lessee' | 'reason'>>;

export type Claim = {
  readonly conductor_group: string;
  readonly drivers: readonly string[];
  readonly limit: number;
  /** Until a node is due again; the second where its power failed. */
  readonly everyMs: number;
  readonly recoverEveryMs: number;
};

export const powerSync = (sql: Db) => ({
  /** Makes the nodes of a group known that are not yet; each is due at some time of its own within the interval. */
  async enlist(conductor_group: string, everyMs: number): Promise<void> {
    await sql`
      insert into power_sync (node_uuid, due_at)
      select uuid, now() + random() * ${everyMs} * interval '1 millisecond' from nodes
      where conductor_group = ${conductor_group} and not exists (select 1 from power_sync where node_uuid = nodes.uuid)
      on conflict do nothing`;
  },

  /**
   * Takes the nodes that are due longest, for this worker alone: each is due again an interval later, a tenth more or less.
   * Nodes that a run holds, that are on their way, or that are in maintenance for another reason wait until they are not.
   */
  async claim({ conductor_group, drivers, limit, everyMs, recoverEveryMs }: Claim): Promise<DueNode[]> {
    return sql<DueNode[]>`
      with due as (
        select p.node_uuid, case when nodes.maintenance then ${recoverEveryMs}::float8 else ${everyMs}::float8 end as wait_ms
        from power_sync p join nodes on nodes.uuid = p.node_uuid
        where p.due_at <= now() and nodes.conductor_group = ${conductor_group}
          and nodes.driver = any (${textArray(sql, drivers)})
          and nodes.reservation is null and nodes.target_power_state is null
          and nodes.provision_state <> all (${textArray(sql, powerSyncSkips)})
          and (not nodes.maintenance or nodes.fault = 'power failure')
        order by p.due_at limit ${limit} for update of p skip locked
      ), taken as (
        update power_sync p set looked_at = now(), due_at = now() + due.wait_ms * (0.9 + 0.2 * random()) * interval '1 millisecond'
        from due where p.node_uuid = due.node_uuid returning p.node_uuid, p.failures
      )
      select nodes.uuid, name, driver, conductor_group, driver_info, properties, provision_state, power_state, boot_mode,
        secure_boot, disable_power_off, fault, taken.failures
      from taken join nodes on nodes.uuid = taken.node_uuid`;
  },

  /** The node as it is now, locked for the rest of the transaction; undefined where a run has it. */
  async hold(node: NodeUuid): Promise<SyncedNode | undefined> {
    const [row] = await sql<SyncedNode[]>`
      select nodes.power_state, maintenance, maintenance_reason, fault, last_error, owner, lessee, p.reason
      from nodes join power_sync p on p.node_uuid = nodes.uuid
      where nodes.uuid = ${node} and reservation is null and target_power_state is null for update of nodes`;
    return row;
  },

  /** Writes what a look changed; the row must be held. */
  async change(node: NodeUuid, changes: Changes): Promise<void> {
    await sql`update nodes set ${columnsOf(sql, changes)}, updated_at = now() where uuid = ${node}`;
  },

  /** Counts a look that failed. @returns how many in a row */
  async failed(node: NodeUuid): Promise<number> {
    const [row] = await sql<{ failures: number }[]>`
      update power_sync set failures = failures + 1 where node_uuid = ${node} returning failures`;
    return row?.failures ?? 0;
  },

  /** Begins to count anew, and keeps the maintenance reason that power sync gave the node, or none. */
  async settle(node: NodeUuid, reason: string | null): Promise<void> {
    await sql`update power_sync set failures = 0, reason = ${reason} where node_uuid = ${node}`;
  },
});
