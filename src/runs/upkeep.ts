/**
 * What each control worker sees to by a timer, one at a time: that store and engine agree, on their marks and on the workflows of
 * runs. It needs no schedule of the engine's, which may be lost, and leaves no row in the engine's list of workflows.
 */
import { passUntil, pause } from '../model/passes';
import { partsOfId } from '../workflows/contract';
import { createEngine } from './engine';
import { detectRestore } from './marks';
import { lookAtQuiet, reconcileOnce } from './reconcile';
import type { RunRelayDeps } from './relay';

export type UpkeepDeps = RunRelayDeps & {
  /** Makes what carries the engine's mark where there is none. */
  readonly ensureMarkHolder: () => Promise<void>;
  /** Called after each whole pass with how many runs were started, and ended or restarted. */
  readonly onReconciled?: (pass: { readonly started: number; readonly ended: number }) => void;
  /** First part of the queue names. */
  readonly queuePrefix: string;
};

const everyMs = 20_000;
// About a minute: a backup older than the mark is noticed when it is restored, and what has expired is swept as often.
const wholeEachPass = 3;
// Open workflows are listed from the engine's visibility store, which is no place to ask often.
const orphansEachPass = 15;
// A workflow that has written its end closes within seconds; a control worker that is away may take longer.
const closesWithinMs = 10 * 60_000;

/**
 * Terminates open workflows of which the store has no run, or one that ended long ago: a start after a run was given up, an
 * engine that came back with what it had lost. @returns how many
 */
export const endOrphans = async ({ client, inventory, log, queuePrefix }: UpkeepDeps): Promise<number> => {
  const engine = createEngine(client);
  let ended = 0;
  for await (const workflowId of engine.open(queuePrefix)) {
    const id = partsOfId(workflowId)?.run;
    if (id === undefined || !(await inventory.runs.isOver(id, closesWithinMs))) continue;
    if (!(await engine.terminate(workflowId, 'The store has no open run for this workflow.'))) continue;
    log.warn('a workflow without a run was terminated', { workflow: workflowId });
    ended++;
  }
  return ended;
};

/** One pass, unless another worker is at it; each third one is a whole one. @returns whether this one did it */
export const upkeepOnce = async (deps: UpkeepDeps, pass = 0): Promise<boolean> =>
  (await deps.inventory.alone('upkeep', async () => {
    const whole = pass % wholeEachPass === 0;
    await deps.ensureMarkHolder();
    if (!(await detectRestore(deps, whole))) return true;
    if (whole) deps.onReconciled?.(await reconcileOnce(deps));
    else await lookAtQuiet(deps);
    if (pass % orphansEachPass === 0) await endOrphans(deps);
    return true;
  })) ?? false;

/** Passes until the signal. */
export const runUpkeep = async (given: UpkeepDeps, signal: AbortSignal): Promise<void> => {
  const deps = { historyPlaces: {}, ...given };
  const wait = () => pause(everyMs, signal);
  let pass = 0;
  await passUntil({ signal, log: deps.log, failing: 'engine and store are not compared now', wait }, () =>
    upkeepOnce(deps, pass++),
  );
};
