/** Queries of ramdisk boots: the expected one, its address, and conflicts with a second. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { EventKind } from '../../model/resources/event-kinds';
import type { Lock } from '../../model/runs/runs';
import type { Db } from '../database';
import { type Fenced, heldBy } from '../fence';

type Boot = { readonly run_id: RunUuid; readonly address: string | null; readonly conflict: string | null };

export const ramdiskBoots = (sql: Db) => ({
  /** Records after power-on, under the fence, that a ramdisk is expected. A repeat starts over. */
  async expect(lock: Fenced): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      insert into ramdisk_boots (node_uuid, run_id)
      select uuid, ${lock.run} from held
      on conflict (node_uuid) do update
        set run_id = excluded.run_id, booted_at = now(), address = null, conflict = null, noticed = null, inspection_hash = null`;
  },

  /** Hash of the ramdisk's inspection token. Null if it brought none, undefined if no ramdisk is expected. */
  async brings(node: NodeUuid): Promise<string | null | undefined> {
    const [row] = await sql<{ inspection_hash: string | null }[]>`
      select b.inspection_hash from ramdisk_boots b join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id
      where b.node_uuid = ${node}`;
    return row?.inspection_hash;
  },

  /** The node whose expected ramdisk has this inspection token. */
  async broughtBy(inspection_hash: string): Promise<NodeUuid | undefined> {
    const [row] = await sql<{ uuid: NodeUuid }[]>`
      select n.uuid from ramdisk_boots b join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id
      where b.inspection_hash = ${inspection_hash}`;
    return row?.uuid;
  },

  /**
   * Records the address of a node's ramdisk; the first one counts, also of concurrent ones.
   * @returns the first since the boot; undefined if no run has booted a ramdisk, or two were seen
   */
  async claim(node: NodeUuid, address: string): Promise<string | undefined> {
    const [seen] = await sql<Boot[]>`
      select b.run_id, b.address, b.conflict from ramdisk_boots b join nodes n on n.uuid = b.node_uuid and n.reservation = b.run_id
      where b.node_uuid = ${node}`;
    if (!seen || seen.conflict !== null) return undefined;
    return seen.address ?? this.take(node, seen.run_id, address);
  },

  /** @returns the first address of this run's boot; undefined if it is over */
  async take(node: NodeUuid, run: RunUuid, address: string): Promise<string | undefined> {
    const [taken] = await sql<{ address: string }[]>`
      update ramdisk_boots b set address = coalesce(b.address, ${address}) from nodes n
      where b.node_uuid = ${node} and b.run_id = ${run} and n.uuid = b.node_uuid and n.reservation = b.run_id
      returning b.address`;
    return taken?.address;
  },

  /**
   * A second ramdisk spoke for the node: appends an event and sets maintenance with a fault. False if this is recorded already, or no run
   * expects a ramdisk.
   */
  async contest(node: NodeUuid, address: string, reason: string): Promise<boolean> {
    const contested = await sql`
      with contested as (
        update ramdisk_boots b set conflict = ${address} from nodes n
        where b.node_uuid = ${node} and n.uuid = b.node_uuid and n.reservation = b.run_id and b.conflict is null
        returning b.node_uuid, b.run_id
      ), kept as (
        update nodes set maintenance = true, fault = 'ramdisk conflict', updated_at = now(),
          maintenance_reason = case when maintenance then maintenance_reason else ${reason} end
        from contested where nodes.uuid = contested.node_uuid
        returning nodes.uuid, nodes.owner, nodes.lessee
      )
      insert into events (kind, node_uuid, run_id, project, lessee, data)
      select ${'node.ramdisk_conflict' satisfies EventKind}, kept.uuid, contested.run_id, kept.owner, kept.lessee,
        jsonb_build_object('reason', ${reason}::text)
      from kept, contested returning 1`;
    return contested.length === 1;
  },

  /** True if two ramdisks spoke for the run's node. `at` records that the run has noticed. */
  async contested(lock: Lock, at?: string): Promise<boolean> {
    const found = at
      ? await sql`
          update ramdisk_boots set noticed = coalesce(noticed, ${at})
          where node_uuid = ${lock.node_uuid} and run_id = ${lock.run} and conflict is not null returning 1`
      : await sql`
          select 1 from ramdisk_boots
          where node_uuid = ${lock.node_uuid} and run_id = ${lock.run} and conflict is not null`;
    return found.length > 0;
  },

  /**
   * Forgets the ramdisk after power-off, in a transaction; nothing if the lock is lost. True if the run had not noticed a conflict before
   * `at`: the reports must not count as success. Idempotent per `at`.
   */
  async end(lock: Fenced, at: string): Promise<boolean> {
    const [unnoticed] = await sql`
      with held as (${heldBy(sql, lock)}
      ), unnoticed as (
        update ramdisk_boots set noticed = ${at}
        where node_uuid = ${lock.node_uuid} and run_id = ${lock.run} and conflict is not null
          and (noticed is null or noticed = ${at}) and exists (select 1 from held) returning 1
      ), gone as (
        delete from ramdisk_boots
        where node_uuid = ${lock.node_uuid} and exists (select 1 from held) and not exists (select 1 from unnoticed)
      )
      select 1 from unnoticed`;
    return unnoticed !== undefined;
  },
});
