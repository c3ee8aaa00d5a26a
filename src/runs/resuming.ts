/** Restarts of runs from their record, in a new execution, after Temporal has lost the workflow. */

import type { Inventory } from '../inventory';
import type { RunRow } from '../inventory/runs/runs';
import type { Log } from '../model/log';
import { carriedFrom, placeOf } from '../model/runs/resume';

/**
 * Records the restart; the relay starts the run. False if the run has ended or another pass was first.
 * @param why cause for the run's events
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
