/** Queries of allocation passes, which give each node once, even concurrently. */
import { randomUUID } from 'node:crypto';
import type { AllocationUuid, NodeUuid } from '../model/ids';
import type { Allocation, AllocationWish, Shortage } from '../model/resources/allocations';
import type { EventKind } from '../model/resources/event-kinds';
import { type Db, jsonOf, textArray, uuidArray } from './database';

export type WaitingAllocation = Pick<Allocation, 'uuid' | 'name' | 'created_at'> &
  AllocationWish & {
    readonly tries: number;
    /** Seconds since the request, by PostgreSQL's clock. */
    readonly age_s: number;
  };

export const allocationPasses = (sql: Db) => {
  // The first three conditions must match the index nodes_free.
  const free = sql`
    provision_state = 'available' and instance_uuid is null and not maintenance
    and power_state is not null and parent_node is null`;

  /** Suitable nodes apart from traits. Child nodes go with their parents. */
  const available = ({ resource_class, candidate_nodes, owner }: AllocationWish) => sql`
    resource_class = ${resource_class} and ${free}
    ${candidate_nodes.length > 0 ? sql`and uuid = any (${uuidArray(sql, candidate_nodes)})` : sql``}
    ${owner === null ? sql`` : sql`and (owner = ${owner} or lessee = ${owner})`}`;

  const suited = ({ traits }: AllocationWish) =>
    traits.length > 0 ? sql`traits @> ${textArray(sql, traits)}` : sql`true`;

  return {
    /** Due allocations, oldest first, locked against other passes for the rest of the transaction. */
    async take(limit: number, among?: readonly AllocationUuid[]): Promise<WaitingAllocation[]> {
      return sql<WaitingAllocation[]>`
        select uuid, name, resource_class, traits, candidate_nodes, owner, tries, created_at,
          extract(epoch from now() - created_at)::float8 as age_s from allocations
        where state = 'allocating' and due_at <= now()
          ${among ? sql`and uuid = any (${uuidArray(sql, among)})` : sql``}
        order by id limit ${limit} for update skip locked`;
    },

    /** The same without a lock. */
    async waiting(limit: number): Promise<AllocationUuid[]> {
      const rows = await sql<{ uuid: AllocationUuid }[]>`
        select uuid from allocations where state = 'allocating' and due_at <= now() order by id limit ${limit}`;
      return rows.map(({ uuid }) => uuid);
    },

    /**
     * Gives the free node with the allocation's name, else any. One statement; it starts at a random UUID and skips locked nodes, so passes
     * seldom meet.
     */
    async reserve(allocation: WaitingAllocation): Promise<NodeUuid | undefined> {
      const { uuid, name, traits } = allocation;
      const from = randomUUID();
      const fits = sql`${available(allocation)} and ${suited(allocation)} and reservation is null`;
      const [given] = await sql<{ node_uuid: NodeUuid }[]>`
        with namesake as (
          select uuid from nodes where ${fits} and name = ${name} limit 1 for update skip locked
        ), later as (
          select uuid from nodes where ${fits} and uuid >= ${from} and not exists (select from namesake)
          order by uuid limit 1 for update skip locked
        ), earlier as (
          select uuid from nodes
          where ${fits} and uuid < ${from} and not exists (select from namesake) and not exists (select from later)
          order by uuid limit 1 for update skip locked
        ), reserved as (
          update nodes set instance_uuid = ${uuid}, allocation_uuid = ${uuid}, updated_at = now()
            ${traits.length > 0 ? sql`, instance_info = instance_info || ${jsonOf(sql, { traits })}` : sql``}
          where uuid = (select uuid from namesake union all select uuid from later union all select uuid from earlier)
          returning uuid
        ), given as (
          update allocations set state = 'active', node_uuid = reserved.uuid, last_error = null, updated_at = now()
          from reserved where allocations.uuid = ${uuid} and state = 'allocating'
          returning allocations.uuid, node_uuid, owner, name
        ), told as (
          insert into events (kind, node_uuid, project, data)
          select ${'allocation.reserved' satisfies EventKind}, node_uuid, owner,
            jsonb_build_object('allocation_uuid', uuid, 'name', name, 'node_uuid', node_uuid)
          from given
        )
        select node_uuid from given`;
      return given?.node_uuid;
    },

    /** Counts nodes regardless of runs and allocations, to explain why an allocation gets none. */
    async shortage(allocation: AllocationWish): Promise<Shortage> {
      const [row] = await sql<Shortage[]>`
        select count(*)::int as available, (count(*) filter (where ${suited(allocation)}))::int as suitable
        from nodes where ${available(allocation)}`;
      return row!;
    },

    /** @returns the number of tries; 0 if it no longer waits */
    async postpone(uuid: AllocationUuid, ms: number): Promise<number> {
      const [row] = await sql<{ tries: number }[]>`
        update allocations set tries = tries + 1, due_at = now() + ${ms} * interval '1 millisecond'
        where uuid = ${uuid} and state = 'allocating' returning tries`;
      return row?.tries ?? 0;
    },

    async fail(uuid: AllocationUuid, error: string): Promise<void> {
      await sql`
        with failed as (
          update allocations set state = 'error', last_error = ${error}, updated_at = now()
          where uuid = ${uuid} and state = 'allocating' returning uuid, name, owner
        )
        insert into events (kind, project, data)
        select ${'allocation.failed' satisfies EventKind}, owner, jsonb_build_object('allocation_uuid', uuid, 'name', name, 'error', ${error}::text)
        from failed`;
    },
  };
};
