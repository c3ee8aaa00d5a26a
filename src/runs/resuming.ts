/** A run whose workflow the engine has lost goes on from its record, in a new execution. */

import type { Inventory } from '../inventory';
import type { RunRow } from '../inventory/runs/runs';
import type { Log } from '../model/log';
import { carriedFrom, placeOf } from '../model/runs/resume';

/**
 * Writes down that a run is to be started anew; the relay starts it. False where it has ended, or another pass has it by now.
 * @param why for the run's events: what became of its workflow
 */
export const resumeRun = async (
  run: RunRow,
  why: string,
  { inventory, log }: { readonly inventory: Inventory; readonly log: Log },
): Promise<boolean> => {
  const lock = { run: run.id, node_uuid: run.node_uuid, fence: run.fence };
  const at = await inventory.transaction(async (store) => {
    const record = await store.resumes.record(lock);
    const input = record && (await store.runs.input(run.id));
    if (!record || !input) return undefined;
    const carries = carriedFrom(input, record);
    await store.resumes.restart(lock, carries);
    const { id: run_id, node_uuid, owner: project, lessee } = run;
    const data = { reason: why, goes_on_at: placeOf(carries) };
    await store.events.append({ kind: 'run.restarted', node_uuid, run_id, project, lessee, data });
    return placeOf(carries);
  });
  if (at !== undefined) log.warn('a run goes on from its record', { run: run.id, node_uuid: run.node_uuid, why, at });
  return at !== undefined;
};
