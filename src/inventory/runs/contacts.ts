/** Queries of what a run awaits from the ramdisk. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { Awaited } from '../../model/lifecycle/step-types';
import type { Lock } from '../../model/runs/runs';
import type { Db } from '../database';
import { heldBy } from '../fence';

export const contacts = (sql: Db) => ({
  /** Null if it no longer waits. */
  async await(lock: Lock, awaits: Awaited | null): Promise<void> {
    await sql`
      with held as (${heldBy(sql, lock)})
      update runs set awaits = ${awaits} where id = ${lock.run} and exists (select 1 from held)`;
  },

  /** The run that holds a node, and its workflow. */
  async waiting(node: NodeUuid): Promise<{ run: RunUuid; workflow_id: string; awaits: Awaited | null } | undefined> {
    const [row] = await sql<{ run: RunUuid; workflow_id: string; awaits: Awaited | null }[]>`
      select r.id as run, r.workflow_id, r.awaits from runs r join nodes n on n.reservation = r.id
      where n.uuid = ${node} and r.finished_at is null and r.state <> 'accepted'`;
    return row;
  },

  async awaited(lock: Lock): Promise<Awaited | null> {
    const [row] = await sql<{ awaits: Awaited | null }[]>`select awaits from runs where id = ${lock.run}`;
    return row?.awaits ?? null;
  },

  /** The ramdisk has sent it since its boot. Power-off deletes what an earlier one sent. */
  async there(lock: Lock, awaits: Awaited): Promise<boolean> {
    const found =
      awaits === 'heartbeat'
        ? await sql`
            select 1 from agents where node_uuid = ${lock.node_uuid} and last_heartbeat_at is not null`
        : await sql`
            select 1 from node_details d, runs r join run_steps s on s.run_id = r.id and s.index = r.cursor
            where d.node_uuid = ${lock.node_uuid} and r.id = ${lock.run} and d.inventory_at >= s.started_at`;
    return found.length > 0;
  },
});
