/** Nodes that wait for a ramdisk which their run has booted, as far as the API can tell. */
import { randomUUID } from 'node:crypto';
import type { Sql } from '../../src/inventory/database';

/** A run has powered these nodes on for its ramdisk; a node that no run holds is held by one from now on. */
export const bootRamdisks = async (sql: Sql, ...nodes: readonly string[]): Promise<void> => {
  await sql`update nodes set reservation = coalesce(reservation, ${randomUUID()}) where uuid in ${sql(nodes)}`;
  await sql`
    insert into ramdisk_boots (node_uuid, run_id) select uuid, reservation from nodes where uuid in ${sql(nodes)}
    on conflict (node_uuid) do update set run_id = excluded.run_id, address = null, conflict = null, noticed = null, inspection_hash = null`;
};
