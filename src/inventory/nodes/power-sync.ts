/** Queries of power sync: whose power is to be looked at now, and what a look changes. */
import type { NodeUuid, ProjectId } from '../../model/ids';
import { type Fault, type PowerState, type ProvisionState, powerSyncSkips } from '../../model/lifecycle/states';
import { aheadOfClock, columnsOf, type Db, textArray } from '../database';

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
  /** The slot that it was due in. */
  readonly slot: number;
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

/** Slots of an interval. Each node has one, by its uuid (power_looks), and is due once when the clock enters it. */
export const powerSlots = 1_024;

/** Slots are counted from the epoch, by the clock of the database: an interval later the same nodes have their turn. */
export type Claim = {
  readonly conductor_group: string;
  readonly drivers: readonly string[];
  /** The first and the last slot whose nodes are due; at most an interval of them. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** Until a node is due again. */
  readonly everyMs: number;
};

/** The columns of the table of slots that the range covers. */
const slotsWithin = ({ from, to }: Pick<Claim, 'from' | 'to'>): number[] =>
  Array.from({ length: Math.min(to - from + 1, powerSlots) }, (_, at) => (from + at) % powerSlots);

/** By its key, one by one: `offset 0` keeps the planner from joining whole tables where it thinks that many are due. */
const nodeOf = (sql: Db, looks: string) => sql`select * from nodes where uuid = ${sql(looks)}.node_uuid offset 0`;

export const powerSync = (sql: Db) => ({
  /** Makes the nodes of a group known that are not yet. */
  async enlist(conductor_group: string): Promise<void> {
    await sql`
      insert into power_looks (node_uuid) select uuid from nodes
      where conductor_group = ${conductor_group} and not exists (select 1 from power_looks where node_uuid = nodes.uuid)
      on conflict do nothing`;
  },

  /** The slot in which the clock of the database is. */
  async slotNow(everyMs: number): Promise<number> {
    const [row] = await sql<{ slot: number }[]>`
      select floor(extract(epoch from clock_timestamp()) * ${(1_000 * powerSlots) / everyMs}::float8)::bigint as slot`;
    return row!.slot;
  },

  /**
   * Takes nodes whose slot is in the range and that were not looked at since it began, for this worker alone, the earliest
   * slot first. Nodes that a run holds, that are on their way, or that are in maintenance for another reason are left out.
   */
  async claim(claim: Claim): Promise<DueNode[]> {
    const { conductor_group, drivers, to, limit, everyMs } = claim;
    return sql<DueNode[]>`
      with due as (
        select l.node_uuid
        from power_looks l
        cross join lateral (select ${to}::bigint - mod(${to}::bigint - l.slot, ${powerSlots}) as slot) at
        cross join lateral (select to_timestamp(at.slot * ${everyMs / 1_000 / powerSlots}::float8) as began) slot
        cross join lateral (${nodeOf(sql, 'l')}) nodes
        where l.slot = any (${slotsWithin(claim)}::smallint[]) 
          and (l.looked_at is null or l.looked_at < slot.began or ${aheadOfClock(sql, 'l.looked_at')})
          and nodes.conductor_group = ${conductor_group} and nodes.driver = any (${textArray(sql, drivers)})
          and nodes.reservation is null and nodes.target_power_state is null
          and nodes.provision_state <> all (${textArray(sql, powerSyncSkips)})
          and (not nodes.maintenance or nodes.fault = 'power failure')
        order by at.slot, l.looked_at nulls first limit ${limit} for update of l skip locked
      ), taken as (
        update power_looks l set looked_at = clock_timestamp() where l.node_uuid = any (array(select node_uuid from due))
        returning l.node_uuid, ${to}::bigint - mod(${to}::bigint - l.slot, ${powerSlots}) as slot
      )
      select nodes.uuid, name, driver, conductor_group, driver_info, properties, provision_state, power_state, boot_mode,
        secure_boot, disable_power_off, fault, coalesce(p.failures, 0) as failures, taken.slot
      from taken cross join lateral (${nodeOf(sql, 'taken')}) nodes left join power_sync p on p.node_uuid = nodes.uuid`;
  },

  /** The node as it is now, locked for the rest of the transaction; undefined where a run has it. */
  async hold(node: NodeUuid): Promise<SyncedNode | undefined> {
    const [row] = await sql<SyncedNode[]>`
      select nodes.power_state, maintenance, maintenance_reason, fault, last_error, owner, lessee, p.reason
      from nodes left join power_sync p on p.node_uuid = nodes.uuid
      where nodes.uuid = ${node} and reservation is null and target_power_state is null for update of nodes`;
    return row;
  },

  /** Writes what a look changed; the row must be held. */
  async change(node: NodeUuid, changes: Changes): Promise<void> {
    await sql`update nodes set ${columnsOf(sql, changes)}, updated_at = now() where uuid = ${node}`;
  },

  /** Counts a look that failed. @returns how many in a row; 0 where the node is gone */
  async failed(node: NodeUuid): Promise<number> {
    const [row] = await sql<{ failures: number }[]>`
      insert into power_sync (node_uuid, failures) select uuid, 1 from nodes where uuid = ${node}
      on conflict (node_uuid) do update set failures = power_sync.failures + 1 returning failures`;
    return row?.failures ?? 0;
  },

  /** Begins to count anew, and keeps the maintenance reason that power sync gave the node, or none; writes only what is new. */
  async settle(node: NodeUuid, reason: string | null): Promise<void> {
    await sql`
      update power_sync set failures = 0, reason = ${reason}
      where node_uuid = ${node} and (failures > 0 or reason is distinct from ${reason})`;
  },
});
