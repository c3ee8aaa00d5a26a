/** Ends or restarts runs that are open in PostgreSQL and have no open workflow in Temporal. */

import type { Inventory } from '../inventory';
import type { RunRow } from '../inventory/runs/runs';
import type { Log } from '../model/log';
import { endRun } from './ending';
import type { Engine } from './engine';
import { resumeRun } from './resuming';

type GoneDeps = { readonly inventory: Inventory; readonly log: Log };

/** `says` is null for a success. */
export type GoneVerdict = { readonly outcome: 'succeeded' | 'failed' | 'aborted'; readonly says: string | null };

/** By the status of a closed workflow. */
const verdicts: Readonly<Record<string, GoneVerdict>> = {
  TERMINATED: { outcome: 'aborted', says: 'The run was terminated in the workflow engine.' },
  CANCELLED: { outcome: 'aborted', says: 'The run was cancelled in the workflow engine.' },
  FAILED: { outcome: 'failed', says: 'The run failed in the workflow engine before it could say why.' },
  TIMED_OUT: { outcome: 'failed', says: 'The run timed out in the workflow engine.' },
  COMPLETED: { outcome: 'failed', says: 'The run ended in Temporal, and PostgreSQL has no record of its end.' },
};

const lost = 'The workflow engine has lost this run.';

/**
 * Ends the run, or restarts it if Temporal has lost the workflow. A failure never blocks other runs.
 * @returns what was done; undefined during a recovery, for an open workflow, or if another pass was first
 */
export const reconcileRun = async (
  run: RunRow,
  engine: Engine,
  deps: GoneDeps,
): Promise<'ended' | 'restarted' | undefined> => {
  if (await deps.inventory.recovery.current()) return undefined;
  const status = await engine.status(run.workflow_id);
  try {
    const gone = status === 'UNKNOWN' || Object.hasOwn(verdicts, status);
    // No workflow exists yet, or only the previous, terminated one.
    if (gone && (await deps.inventory.runs.isRestarting(run.id))) return status === 'UNKNOWN' ? 'restarted' : undefined;
    if (status === 'UNKNOWN') return (await resumeRun(run, lost, deps)) ? 'restarted' : undefined;
    const verdict = verdicts[status];
    return verdict && (await endAs(run, verdict, deps)) ? 'ended' : undefined;
  } catch (thrown) {
    const { id, node_uuid } = run;
    deps.log.warn('a run without a workflow cannot be put right now', { run: id, node_uuid, reason: String(thrown) });
    return undefined;
  }
};

/** Ends a run instead of its workflow. @returns false if the run's record is gone */
export const endAs = async (
  run: RunRow,
  { outcome, says }: GoneVerdict,
  { inventory, log }: GoneDeps,
): Promise<boolean> => {
  const input = await inventory.runs.input(run.id);
  if (!input) return false;
  await inventory.transaction((store) =>
    endRun(store, {
      lock: { run: run.id, node_uuid: run.node_uuid, fence: run.fence },
      outcome,
      ends: input.ends,
      fault: input.fault,
      error: says,
      cursor: run.cursor,
      power: input.power ?? null,
    }),
  );
  log.warn('a run without a workflow was ended', { run: run.id, node_uuid: run.node_uuid, says });
  return true;
};
