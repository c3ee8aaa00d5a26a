/** Queries of power sync: nodes whose power is to be read, and the results. */
import type { NodeUuid, ProjectId } from '../../model/ids';
import { type Fault, type PowerState, type ProvisionState, powerSyncSkips } from '../../model/lifecycle/states';
import { aheadOfClock, columnsOf, type Db, textArray } from '../database';

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
  /** Failed looks in a row. */
  readonly failures: number;
  readonly slot: number;
};

/** Columns that a look may change. */
export type SyncedNode = {
  readonly power_state: PowerState | null;
  readonly maintenance: boolean;
  readonly maintenance_reason: string | null;
  readonly fault: Fault | null;
  readonly last_error: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
  /** The maintenance reason that power sync set. */
  readonly reason: string | null;
};
type Changes = Partial<Omit<SyncedNode, 'owner' | 'lessee' | 'reason'>>;

/** Slots per interval. Each node has one by its uuid (power_looks), and is due when the clock enters it. */
export const powerSlots = 1_024;

/** Slots count from the epoch by PostgreSQL's clock. */
export type Claim = {
  readonly conductor_group: string;
  readonly drivers: readonly string[];
  /** First and last due slot, at most an interval apart. */
  readonly from: number;
  readonly to: number;
  readonly limit: number;
  /** The interval. */
  readonly everyMs: number;
};

const slotsWithin = ({ from, to }: Pick<Claim, 'from' | 'to'>): number[] =>
  Array.from({ length: Math.min(to - from + 1, powerSlots) }, (_, at) => (from + at) % powerSlots);

/** `offset 0` keeps the planner from joining whole tables if it expects many due nodes. */
const nodeOf = (sql: Db, looks: string) => sql`select * from nodes where uuid = ${sql(looks)}.node_uuid offset 0`;

export const powerSync = (sql: Db) => ({
  /** Adds missing nodes of a group to `power_looks`. */
  async enlist(conductor_group: string): Promise<void> {
    await sql`
      insert into power_looks (node_uuid) select uuid from nodes
      where conductor_group = ${conductor_group} and not exists (select 1 from power_looks where node_uuid = nodes.uuid)
      on conflict do nothing`;
  },

  async slotNow(everyMs: number): Promise<number> {
    const [row] = await sql<{ slot: number }[]>`
      select floor(extract(epoch from clock_timestamp()) * ${(1_000 * powerSlots) / everyMs}::float8)::bigint as slot`;
    return row!.slot;
  },

  /**
   * Takes due nodes for this worker alone, earliest slot first. Nodes looked at since their slot began are not due. Leaves out nodes that a
   * run holds, that change state or power, or that are in maintenance for another reason.
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

  /** Locks the node; undefined if a run has it. */
  async hold(node: NodeUuid): Promise<SyncedNode | undefined> {
    const [row] = await sql<SyncedNode[]>`
      select nodes.power_state, maintenance, maintenance_reason, fault, last_error, owner, lessee, p.reason
      from nodes left join power_sync p on p.node_uuid = nodes.uuid
      where nodes.uuid = ${node} and reservation is null and target_power_state is null for update of nodes`;
    return row;
  },

  /** Lock the row with `hold` before. */
  async change(node: NodeUuid, changes: Changes): Promise<void> {
    await sql`update nodes set ${columnsOf(sql, changes)}, updated_at = now() where uuid = ${node}`;
  },

  /** @returns failures in a row; 0 if the node is gone */
  async failed(node: NodeUuid): Promise<number> {
    const [row] = await sql<{ failures: number }[]>`
      insert into power_sync (node_uuid, failures) select uuid, 1 from nodes where uuid = ${node}
      on conflict (node_uuid) do update set failures = power_sync.failures + 1 returning failures`;
    return row?.failures ?? 0;
  },

  /** Resets the count and sets power sync's maintenance reason. Writes only on a change. */
  async settle(node: NodeUuid, reason: string | null): Promise<void> {
    await sql`
      update power_sync set failures = 0, reason = ${reason}
      where node_uuid = ${node} and (failures > 0 or reason is distinct from ${reason})`;
  },
});
