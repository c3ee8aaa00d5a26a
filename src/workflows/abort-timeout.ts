/** Aborts of acts that must not be cut short: at once if the command has not left, otherwise after a timeout. */
import { CancellationScope, condition, isCancellation } from '@temporalio/workflow';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { type ActName, nameOf } from '../model/lifecycle/steps';
import type { ActOutcome, Lock, RunInput } from '../model/runs/runs';
import { Aborted } from './effects-contract';
import { codeOf, isHeldBack, messageOf } from './failures';
import type { Journal } from './journal';
import { type ExecutionState, endAsked } from './state';

const twoMinutes = 120_000;

export const abortTimeoutMs = ({ timing }: RunInput): number => timing.abortTimeoutMs ?? twoMinutes;

/** Minimum for an act that tidies up: it may be the only one that reaches the BMC. */
const shortestTidyMs = 10_000;

/** Milliseconds left for the clean-up; undefined if unlimited. */
export const tidyLimit = (run: RunInput, { tidyBy }: ExecutionState): number | undefined =>
  tidyBy === null ? undefined : Math.max(tidyBy - Date.now(), Math.min(abortTimeoutMs(run), shortestTidyMs));

type Execution = { readonly run: RunInput; readonly state: ExecutionState; readonly journal: Journal };

export type GuardedAct = {
  readonly step: PlannedStep;
  readonly index: number;
  readonly nth: number;
  readonly lock: Lock;
  readonly start: () => Promise<ActOutcome>;
};

const at = (step: PlannedStep): string => `Step ${nameOf(step)}`;

const notKnown = (step: PlannedStep, sent: string | null): string =>
  sent === null
    ? `${at(step)} was cut short between its acts; look at the node before it is used.`
    : `${at(step)}: a command was sent at ${sent} and did not end in time. Whether it took effect is not known, so look at the node before it is used.`;

/** A failure of an act during an abort becomes Aborted, except for a lost lock, a freeze or a bug. */
const failedMeanwhile = (thrown: unknown, step: PlannedStep): unknown => {
  const code = codeOf(thrown);
  if (isCancellation(thrown) || code === undefined || code === 'StaleOperation' || isHeldBack(thrown)) return thrown;
  return new Aborted(`${at(step)} did not end well: ${messageOf(thrown)}`);
};

/**
 * Runs an act that an abort may not simply cancel. One transaction checks whether the command has left, and bars it if not.
 * Throws Aborted, whose message names an unknown effect.
 */
export const guardedAct = async ({ run, state, journal }: Execution, act: GuardedAct): Promise<ActOutcome> => {
  const { step, index } = act;
  const scope = new CancellationScope();
  let ended = false;
  const outcome = scope.run(act.start).finally(() => {
    ended = true;
  });
  const settled = outcome.then(
    () => {},
    () => {},
  );
  const abortAsked = new Promise<void>((resolve) => {
    if (endAsked(state)) resolve();
    else state.cutShort = resolve;
  });
  await Promise.race([settled, abortAsked]);
  state.cutShort = null;
  if (ended) return outcome;

  const cut = async (force: boolean): Promise<{ cut: boolean; sent: string | null }> => {
    const answer = await journal.cut(act.lock, step, { act: step.acts[index]!.act as ActName, nth: act.nth, force });
    if (answer.cut) scope.cancel();
    return answer;
  };
  // If earlier acts of the step have changed something, the step is finished if possible.
  const midway = step.acts.slice(0, index).some(({ effect }) => effect !== 'read');
  if (!midway && (await cut(false)).cut) {
    await settled;
    throw new Aborted();
  }
  await condition(() => ended, Math.max(1, (state.abortedAt ?? Date.now()) + abortTimeoutMs(run) - Date.now()));
  if (!ended) {
    const { sent } = await cut(true);
    await settled;
    throw new Aborted(notKnown(step, sent));
  }
  return outcome.catch((thrown: unknown) => {
    throw failedMeanwhile(thrown, step);
  });
};
