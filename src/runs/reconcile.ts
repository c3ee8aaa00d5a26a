/** Ends rows whose workflow is gone, so that a terminated run never keeps its node. */
import type { RunRow } from '../inventory/runs';
import { allocateAll } from './allocating';
import { endRun } from './ending';
import { createEngine, type Engine } from './engine';
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

// Looks at the engine at once; thousands of runs may be waiting.
const looksAtOnce = 20;

/** Ends a run whose workflow is gone. One that cannot be ended never keeps the others waiting. */
const endIfGone = async (run: RunRow, engine: Engine, { inventory, log }: RelayHands): Promise<boolean> => {
  const verdict = verdicts[await engine.status(run.workflow_id)];
  const input = verdict && (await inventory.runs.input(run.id));
  if (!verdict || !input) return false;
  try {
    await inventory.transaction((store) =>
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
  } catch (thrown) {
    log.warn('reconciler could not end a run', { run: run.id, node_uuid: run.node_uuid, reason: String(thrown) });
    return false;
  }
  log.warn('reconciler ended a run', { run: run.id, node_uuid: run.node_uuid, says: verdict.says });
  return true;
};

/** Months ahead are made long before they are needed, so what does not succeed now is left to a later pass. */
const keepAudit = async ({ inventory, log, auditMonths = 0 }: RelayHands): Promise<void> => {
  try {
    const dropped = await inventory.audit.keep(auditMonths);
    if (dropped > 0) log.info('months of the audit trail dropped', { dropped, kept: auditMonths });
  } catch (thrown) {
    log.warn('months of the audit trail not seen to', { reason: String(thrown) });
  }
};

/**
 * One pass: starts what was accepted, ends what is gone, and sees to allocations that nobody has seen to.
 * @returns counts, for the workflow's result
 */
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
  const queue = [...quiet];
  const work = async () => {
    for (let run = queue.shift(); run; run = queue.shift()) {
      beat();
      if (await endIfGone(run, engine, hands)) ended++;
    }
  };
  await Promise.all(Array.from({ length: looksAtOnce }, work));
  await hands.inventory.runs.touch(quiet.map((run) => run.id));
  await hands.inventory.secrets.sweep();
  await hands.inventory.idempotency.sweep();
  await keepAudit(hands);
  await allocateAll(hands);
  return { started, ended };
};
