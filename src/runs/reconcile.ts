/** Ends rows whose workflow is gone, so that a terminated run never keeps its node. */
import { endRun } from './ending';
import { createEngine } from './engine';
import { type RelayHands, relayOnce } from './relay';

// A row younger than this is left alone: its workflow may be about to write it.
const quietForMs = 30_000;

/** What a closed workflow says of a run that the store believes to be open. */
const verdicts: Readonly<Record<string, { outcome: 'failed' | 'aborted'; says: string }>> = {
  TERMINATED: { outcome: 'aborted', says: 'The run was terminated in the workflow engine.' },
  CANCELLED: { outcome: 'aborted', says: 'The run was cancelled in the workflow engine.' },
  UNKNOWN: { outcome: 'failed', says: 'The workflow engine has lost this run.' },
  FAILED: { outcome: 'failed', says: 'The run failed in the workflow engine before it could say why.' },
  TIMED_OUT: { outcome: 'failed', says: 'The run timed out in the workflow engine.' },
  COMPLETED: { outcome: 'failed', says: 'The run ended in the workflow engine without telling the store.' },
};

/** One pass: starts what was accepted, then ends what is gone. @returns counts, for the workflow's result */
export const reconcileOnce = async (
  hands: RelayHands,
  { olderThanMs = quietForMs, beat = () => {} }: { olderThanMs?: number; beat?: () => void } = {},
): Promise<{ started: number; ended: number }> => {
  // What is gone is ended whether or not something can be started.
  const started = await relayOnce(hands).then(
    (relayed) => relayed.started,
    (thrown) => {
      hands.log.warn('nothing can be started now', { reason: String(thrown) });
      return 0;
    },
  );
  const engine = createEngine(hands.client);
  const quiet = await hands.inventory.runs.quiet(olderThanMs);
  let ended = 0;
  for (const run of quiet) {
    beat();
    const verdict = verdicts[await engine.status(run.workflow_id)];
    if (!verdict) continue;
    const input = await hands.inventory.runs.input(run.id);
    if (!input) continue;
    await hands.inventory.transaction((store) =>
      endRun(store, {
        lock: { run: run.id, node_uuid: run.node_uuid, fence: run.fence },
        outcome: verdict.outcome,
        ends: input.ends,
        fault: input.fault,
        error: verdict.says,
        cursor: run.cursor,
        power: input.power ?? null,
      }),
    );
    hands.log.warn('reconciler ended a run', { run: run.id, node_uuid: run.node_uuid, says: verdict.says });
    ended++;
  }
  await hands.inventory.runs.touch(quiet.map((run) => run.id));
  await hands.inventory.secrets.sweep();
  return { started, ended };
};
