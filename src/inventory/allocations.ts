/** Queries of allocations as the API asks them: one, a page, and the writes. */

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
  /** The node that it stands for from the beginning. */
  readonly node_uuid?: NodeUuid;
};

/** A node that a request names, with what decides whether its caller may. */
export type NamedNode = {
  readonly uuid: NodeUuid;
  readonly name: string | null;
  readonly owner: ProjectId | null;
  readonly lessee: ProjectId | null;
};

// Of Postgres' own types.
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

  /** The allocation that was given this node. */
  async ofNode(node: NodeUuid): Promise<Allocation | undefined> {
    const [row] = await sql<Allocation[]>`select * from allocations where node_uuid = ${node}`;
    return row;
  },

  /** Stores a new allocation with its record, in one statement. Throws what `brokenUnique` recognises. */
  async insertRecorded(
    allocation: NewAllocation,
    beside: { readonly audit: AuditRow; readonly event: EventRow },
  ): Promise<Allocation> {
    const [row] = await sql<Allocation[]>`
      with audited as (${auditInsert(sql, beside.audit)}), told as (${eventInsert(sql, beside.event)})
      insert into allocations ${sql(columnsOf(sql, allocation))} returning *`;
    return row!;
  },

  /** Removes an allocation without a node; false where it has one by now. That of a node ends when the node is released. */
  async remove(uuid: AllocationUuid): Promise<boolean> {
    const gone = await sql`delete from allocations where uuid = ${uuid} and node_uuid is null returning 1`;
    return gone.length === 1;
  },

  /** The nodes among these names and UUIDs, in no order. */
  async nodesNamed(idents: readonly string[]): Promise<NamedNode[]> {
    const uuids = idents.flatMap((ident) => asUuid(ident) ?? []);
    const names = idents.filter((ident) => asUuid(ident) === undefined);
    return sql<NamedNode[]>`
      select uuid, name, owner, lessee from nodes
      where uuid = any (${uuidArray(sql, uuids)}) or name = any (${textArray(sql, names)})`;
  },
});

/** Notifies the passes that there is something to do. Listening needs a connection of its own, so it is no part of a transaction. */
export const allocationsChannel = (sql: Sql) => ({
  /**
   * Rings after the commit and in a statement of its own: a commit that announces holds a lock that all commits of the
   * server share until it is on disk. A ring that is lost costs a pass's interval.
   */
  async ring(): Promise<void> {
    await sql`select pg_notify(${channel}, '')`.catch(() => {});
  },

  /** @param onRing also called whenever listening begins: something may have been missed */
  async listen(onRing: () => void): Promise<{ close(): Promise<void> }> {
    const { unlisten } = await sql.listen(channel, onRing, onRing);
    return { close: unlisten };
  },
});
