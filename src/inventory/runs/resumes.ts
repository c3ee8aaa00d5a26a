/** Restarts of runs whose workflow Temporal has lost. */
import type { NodeUuid, RunUuid } from '../../model/ids';
import type { EventKind } from '../../model/resources/event-kinds';
import type { RunRecord, StepRecord } from '../../model/runs/resume';
import type { Carried, Lock } from '../../model/runs/runs';
import { type Db, jsonOf } from '../database';
import { heldBy } from '../fence';

type Kept = Omit<RunRecord, 'steps' | 'paused'>;

export const resumes = (sql: Db) => ({
  /** Locks the run; undefined if the lock is lost. */
  async record(lock: Lock): Promise<RunRecord | undefined> {
    const { run } = lock;
    const [kept] = await sql<Kept[]>`
      with held as (${heldBy(sql, lock)})
      select seq, state, waiting_for, plan, ending, exists (
        select 1 from node_details d join run_steps s on s.run_id = runs.id and s.index = runs.cursor
        where d.node_uuid = runs.node_uuid and d.inventory_at >= s.started_at) as inspected
      from runs
      where id = ${run} and state <> 'accepted' and exists (select 1 from held)`;
    if (!kept) return undefined;
    const steps = await sql<StepRecord[]>`
      select index, interface, step, args, abortable, state, acts_ended, last_error,
        coalesce(extract(epoch from now() - started_at) * 1000, 0)::float8 as age_ms
      from run_steps where run_id = ${run} order by index`;
    return { ...kept, steps, paused: kept.state === 'paused' || (await this.pauseAsked(run)) };
  },

  /** The last pause or resume that was not refused is a pause. */
  async pauseAsked(run: RunUuid): Promise<boolean> {
    const kinds: EventKind[] = ['run.pause', 'run.resume', 'run.pause.refused', 'run.resume.refused'];
    const rows = await sql<{ kind: EventKind }[]>`
      select kind from events where run_id = ${run} and kind in ${sql(kinds)} order by seq`;
    const standing: EventKind[] = [];
    for (const { kind } of rows) {
      if (kind.endsWith('.refused')) standing.pop();
      else standing.push(kind);
    }
    return standing.at(-1) === 'run.pause';
  },

  /**
   * Restarts the workflow under a higher fence on all nodes of the run, so that writes of the lost execution find no row. Messages that it
   * took are sent again.
   */
  async restart({ run, node_uuid }: Lock, carries: Carried): Promise<void> {
    const held = await sql<{ uuid: NodeUuid; fence: number }[]>`
      update nodes set fence = fence + 1, updated_at = now() where reservation = ${run} returning uuid, fence`;
    const fences = Object.fromEntries(held.map(({ uuid, fence }) => [uuid, fence]));
    const { [node_uuid]: fence, ...also } = fences;
    const changed = {
      lock: { run, node_uuid, fence },
      carries,
      ...(Object.keys(also).length > 0 && { also }),
    };
    await sql`
      update runs set fence = (select n.fence from nodes n where n.uuid = ${node_uuid}), input = input || ${jsonOf(sql, changed)}, workflow_run_id = null,
        restart_at = now(), attempts_to_start = 0, act_token = null, act_id = null, act_nth = 0, act_at = null, updated_at = now()
      where id = ${run}`;
    await sql`update run_messages set sent_at = null where run_id = ${run} and kind in ('abort', 'unhold')`;
  },
});
