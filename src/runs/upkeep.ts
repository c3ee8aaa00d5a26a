/** Each control worker looks after what the engine may lose: the schedule, and the workflows of runs. One does it at a time. */
import { createEngine } from './engine';
import { lookAtMarks } from './marks';
import { lookAtQuiet } from './reconcile';
import { pause, type RelayHands } from './relay';

export type UpkeepHands = RelayHands & {
  /** Makes the schedule of the reconciler where there is none. */
  readonly ensureSchedule: () => Promise<void>;
  /** First part of the queue names. */
  readonly queuePrefix: string;
};

const everyMs = 20_000;
// The mark is moved on about every minute: a backup that is older than that is noticed when it is restored.
const marksEachPass = 3;
// Open workflows are listed from the engine's visibility store, which is no place to ask often.
const orphansEachPass = 15;
// A workflow that has written its end closes within seconds; a control worker that is away may take longer.
const closesWithinMs = 10 * 60_000;

/** The id of the run in a workflow's id; undefined where it is no run's. */
export const runOfWorkflow = (workflowId: string): string | undefined =>
  /^node-[0-9a-f-]{36}\.[a-z-]+\.([0-9a-f-]{36})$/.exec(workflowId)?.[1];

/**
 * Terminates open workflows of which the store has no run, or one that ended long ago: a start after a run was given up, an
 * engine that came back with what it had lost. @returns how many
 */
export const endOrphans = async ({ client, inventory, log, queuePrefix }: UpkeepHands): Promise<number> => {
  const engine = createEngine(client);
  let ended = 0;
  for await (const workflowId of engine.open(queuePrefix)) {
    const id = runOfWorkflow(workflowId);
    if (id === undefined || !(await inventory.runs.isOver(id as never, closesWithinMs))) continue;
    if (!(await engine.terminate(workflowId, 'The store has no open run for this workflow.'))) continue;
    log.warn('a workflow without a run was terminated', { workflow: workflowId });
    ended++;
  }
  return ended;
};

/** One pass, unless another worker is at it. @returns whether this one did it */
export const upkeepOnce = async (hands: UpkeepHands, pass = 0): Promise<boolean> =>
  (await hands.inventory.alone('upkeep', async () => {
    await hands.ensureSchedule();
    if (!(await lookAtMarks(hands, pass % marksEachPass === 0))) return true;
    await lookAtQuiet(hands);
    if (pass % orphansEachPass === 0) await endOrphans(hands);
    return true;
  })) ?? false;

/** Passes until the signal. An engine or store that is away is tried again at the next one. */
export const runUpkeep = async (hands: UpkeepHands, signal: AbortSignal): Promise<void> => {
  for (let pass = 0; !signal.aborted; pass++) {
    await upkeepOnce(hands, pass).catch((thrown) => {
      if (!signal.aborted) hands.log.warn('engine and store are not compared now', { reason: String(thrown) });
    });
    await pause(everyMs, signal);
  }
};
