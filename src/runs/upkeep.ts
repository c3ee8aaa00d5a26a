/**
 * Upkeep by one control worker at a time: compares marks and workflows of PostgreSQL and Temporal.
 * It uses no Temporal schedule, because that may be lost and fills the list of workflows.
 */
import { passUntil, pause } from '../model/passes';
import { partsOfId } from '../workflows/contract';
import { createEngine } from './engine';
import { detectRestore } from './marks';
import { lookAtQuiet, reconcileOnce } from './reconcile';
import type { RunRelayDeps } from './relay';

export type UpkeepDeps = RunRelayDeps & {
  /** Creates the schedule that carries Temporal's mark. */
  readonly ensureMarkHolder: () => Promise<void>;
  readonly onReconciled?: (pass: { readonly started: number; readonly ended: number }) => void;
  readonly queuePrefix: string;
};

const everyMs = 20_000;
// About a minute: the interval of marks and sweeps. A backup older than the last mark is detected after a restore.
const wholeEachPass = 3;
// Temporal's visibility must not be queried often.
const orphansEachPass = 15;
// Usually seconds; longer if the control worker is away.
const closesWithinMs = 10 * 60_000;

/**
 * Terminates open workflows whose run is missing or ended long ago: late starts, or workflows that Temporal had lost and got back.
 * @returns how many
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

/** One pass, each third one whole, unless another worker does it. @returns whether this worker did it */
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

export const runUpkeep = async (given: UpkeepDeps, signal: AbortSignal): Promise<void> => {
  const deps = { historyPlaces: {}, ...given };
  const wait = () => pause(everyMs, signal);
  let pass = 0;
  await passUntil({ signal, log: deps.log, failing: 'engine and store are not compared now', wait }, () =>
    upkeepOnce(deps, pass++),
  );
};
