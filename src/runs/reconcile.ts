/** Reconciliation: a terminated run must not keep its node. */
import pLimit from 'p-limit';
import { allocateAll } from './allocating';
import { createEngine } from './engine';
import { reconcileRun } from './gone';
import { type RunRelayDeps, relayOnce } from './relay';
import { forgetHistory } from './retention';

// A younger row is skipped, because its workflow may be about to write it.
const quietForMs = 30_000;

// Concurrent calls to Temporal; thousands of runs may be waiting.
const looksAtOnce = 20;

/** Future months are created early, so that a later pass can repair a failure. */
const keepAudit = async ({ inventory, log, auditMonths = 0 }: RunRelayDeps): Promise<void> => {
  try {
    const dropped = await inventory.audit.keep(auditMonths);
    if (dropped > 0) log.info('months of the audit trail dropped', { dropped, kept: auditMonths });
  } catch (thrown) {
    log.warn('months of the audit trail not seen to', { reason: String(thrown) });
  }
};

/** Checks the workflows of runs without recent writes. @returns how many were ended or restarted */
export const lookAtQuiet = async (
  deps: RunRelayDeps,
  { olderThanMs = quietForMs, beat = () => {} }: { olderThanMs?: number; beat?: () => void } = {},
): Promise<number> => {
  const engine = createEngine(deps.client);
  const quiet = await deps.inventory.runs.quiet(olderThanMs);
  let done = 0;
  const limit = pLimit(looksAtOnce);
  const lookAt = async (run: (typeof quiet)[number]): Promise<void> => {
    beat();
    if (await reconcileRun(run, engine, deps)) done++;
  };
  await Promise.all(quiet.map((run) => limit(lookAt, run)));
  await deps.inventory.runs.touch(quiet.map((run) => run.id));
  return done;
};

/** One pass. @returns counts for the workflow's result */
export const reconcileOnce = async (
  deps: RunRelayDeps,
  { olderThanMs = quietForMs, beat = () => {} }: { olderThanMs?: number; beat?: () => void } = {},
): Promise<{ started: number; ended: number }> => {
  if (await deps.inventory.recovery.current()) return { started: 0, ended: 0 };
  // A failed start must not prevent the next part.
  const started = await relayOnce(deps).then(
    (relayed) => relayed.started,
    (thrown) => {
      deps.log.warn('nothing can be started now', { reason: String(thrown) });
      return 0;
    },
  );
  const ended = await lookAtQuiet(deps, { olderThanMs, beat });
  await deps.inventory.secrets.sweep();
  await deps.inventory.idempotency.sweep();
  await keepAudit(deps);
  await forgetHistory(deps, beat);
  await allocateAll(deps);
  return { started, ended };
};
