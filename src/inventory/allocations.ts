/** Queries of allocations for the API: find, list and write. */

import { type AllocationUuid, asUuid, type NodeUuid, type ProjectId } from '../model/ids';
import { type Allocation, allocationTable } from '../model/resources/allocations';
import { type AuditRow, auditInsert } from './audit';
import { type Db, jsonOf, type Sql, textArray, uuidArray } from './database';
import { type EventRow, eventInsert } from './events';
import { resource } from './resources';

export type NewAllocation = Pick<
  Allocation,
  'uuid' | 'name' | 'resource_class' | 'traits' | 'candidate_nodes' | 'owner' | 'extra'
> & {
  /** Set if it has its node from the beginning. */
  readonly node_uuid?: NodeUuid;
};

export type NamedNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
};

const channel = 'temper_allocations';

const columnsOf = (sql: Db, { node_uuid, ...allocation }: NewAllocation) => ({
  ...allocation,
  traits: textArray(sql, allocation.traits),
  candidate_nodes: uuidArray(sql, allocation.candidate_nodes),
  extra: jsonOf(sql, allocation.extra),
  ...(node_uuid && { node_uuid, state: 'active' }),
});

export const allocations = (sql: Db) => ({
  ...resource<Allocation>(sql, { name: 'allocations', table: allocationTable }),

  async ofNode(node: NodeUuid): Promise<Allocation | undefined> {
    const [row] = await sql<Allocation[]>`select * from allocations where node_uuid = ${node}`;
    return row;
  },

  /** One statement, with audit and event. Throws what `brokenUnique` recognises. */
  async insertRecorded(
    allocation: NewAllocation,
    beside: { readonly audit: AuditRow; readonly event: EventRow },
  ): Promise<Allocation> {
    const [row] = await sql<Allocation[]>`
      with audited as (${auditInsert(sql, beside.audit)}), told as (${eventInsert(sql, beside.event)})
      insert into allocations ${sql(columnsOf(sql, allocation))} returning *`;
    return row!;
  },

  /** False if it has a node by now. It then ends at the node's release. */
  async remove(uuid: AllocationUuid): Promise<boolean> {
    const gone = await sql`delete from allocations where uuid = ${uuid} and node_uuid is null returning 1`;
    return gone.length === 1;
  },

  /** Unordered. */
  async nodesNamed(idents: readonly string[]): Promise<NamedNode[]> {
    const uuids = idents.flatMap((ident) => asUuid(ident) ?? []);
    const names = idents.filter((ident) => asUuid(ident) === undefined);
    return sql<NamedNode[]>`
      select uuid, name, owner, lessee from nodes
      where uuid = any (${uuidArray(sql, uuids)}) or name = any (${textArray(sql, names)})`;
  },
});

/** Notifies allocation passes of work. LISTEN needs its own connection, so this is no part of a transaction. */
export const allocationsChannel = (sql: Sql) => ({
  /**
   * Notifies after the commit. A commit with NOTIFY holds a lock that all commits of the server share until it is on disk. A lost
   * notification costs one interval of the passes.
   */
  async ring(): Promise<void> {
    await sql`select pg_notify(${channel}, '')`.catch(() => {});
  },

  /** @param onRing also called when LISTEN begins, as notifications may have been missed */
  async listen(onRing: () => void): Promise<{ close(): Promise<void> }> {
    const { unlisten } = await sql.listen(channel, onRing, onRing);
    return { close: unlisten };
  },
});
