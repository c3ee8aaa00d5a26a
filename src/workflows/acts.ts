/** Acts of a run, one activity each on the queue of the node's group. */
import {
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
} from '@temporalio/workflow';
import type { BmcActivities } from '../activities/bmc';
import type { PlannedStep } from '../model/lifecycle/step-types';
import { acts, nameOf } from '../model/lifecycle/steps';
import type { ActOutcome, Lock, RunInput } from '../model/runs/runs';
import { guardedAct, tidyLimit } from './abort-timeout';
import { groupQueue } from './contract';
import { Aborted } from './effects-contract';
import { codeOf, messageOf, type Trying } from './failures';
import type { Journal } from './journal';
import { onBmc } from './profiles';
import { type ExecutionState, endAsked } from './state';
import { details, label } from './ui';

/** A step on another node uses that node's fence. */
const lockOf = ({ lock, also }: RunInput, { on }: PlannedStep): Lock =>
  on && also?.[on.node_uuid] !== undefined
    ? { run: lock.run, node_uuid: on.node_uuid, fence: also[on.node_uuid]! }
    : lock;

const queueOf = (run: RunInput, step?: PlannedStep): string =>
  groupQueue(step?.on?.conductor_group ?? run.conductor_group, run.queue_prefix);

/** A known failure: no lost lock, no cancellation, no bug. */
export const isFailure = (thrown: unknown): boolean =>
  !isCancellation(thrown) && ![undefined, 'StaleOperation'].includes(codeOf(thrown));

type ActCounts = {
  readonly attempts: Map<string, number>;
  /** Epoch milliseconds of Temporal's clock, for steps with a timeout. */
  readonly deadlines: Map<number, number>;
  count: number;
  guarded: boolean;
  trying: Trying | undefined;
};

// A step's timeout covers all its acts. Temporal's clock is the same in every replay.
const limitedOptions = (
  run: RunInput,
  state: ExecutionState,
  { deadlines }: ActCounts,
  { step, given }: { readonly step: PlannedStep; readonly given: ActivityOptions },
): ActivityOptions => {
  const limit = tidyLimit(run, state);
  const options = { ...given, ...(limit !== undefined && { scheduleToCloseTimeout: limit }) };
  const retry = { ...options.retry, ...(step.attempts && { maximumAttempts: step.attempts }) };
  if (step.timeoutMs === undefined) return { ...options, retry };
  const deadline = deadlines.get(step.index) ?? Date.now() + step.timeoutMs;
  deadlines.set(step.index, deadline);
  return { ...options, retry, scheduleToCloseTimeout: Math.max(1, deadline - Date.now()) };
};

// The outcome is unknown, and the act may still be under way.
const asOutcomeUnknown = (thrown: unknown, step: PlannedStep, trying: Trying | undefined): never => {
  if (codeOf(thrown) !== 'Timeout') throw thrown;
  throw ApplicationFailure.nonRetryable(
    `Step ${nameOf(step)} did not end in time, and whether it took effect cannot be known: ${messageOf(thrown, trying)}`,
    'StepOutcomeUnknown',
  );
};

/** Throws Aborted after an abort. */
const cancellable = async <T>(state: ExecutionState, work: () => Promise<T>): Promise<T> => {
  if (endAsked(state)) throw new Aborted(); // received while no scope was open
  const scope = new CancellationScope();
  state.cutShort = () => scope.cancel();
  try {
    return await scope.run(work);
  } catch (thrown) {
    // A cancelled attempt may report a failure instead, and Temporal does not retry it.
    const cutShort = endAsked(state) && (isCancellation(thrown) || isFailure(thrown));
    throw cutShort ? new Aborted() : thrown;
  } finally {
    state.cutShort = null;
  }
};

export type Acts = ReturnType<typeof createActs>;

/** Message handlers write `state`. */
export const createActs = (run: RunInput, state: ExecutionState, journal: Journal) => {
  const { runAct } = proxyActivities<BmcActivities>({ taskQueue: queueOf(run), startToCloseTimeout: '1m' });
  const asked: ActCounts = { attempts: new Map(), deadlines: new Map(), count: 0, guarded: false, trying: undefined };

  const act = (step: PlannedStep, index: number): Promise<ActOutcome> => {
    const { act: name, effect } = step.acts[index]!;
    if (step.index === run.boot?.index) state.booted = true;
    const key = `step-${String(step.index).padStart(2, '0')}-${nameOf(step)}-${name}`;
    const time = (asked.attempts.get(key) ?? 0) + 1;
    asked.attempts.set(key, time);
    const what = step.acts.length > 1 || nameOf(step) !== `power.${name}` ? `: ${acts[name].says}` : '';
    const lock = lockOf(run, step);
    const given = onBmc(name, effect, queueOf(run, step), run.timing);
    const options = limitedOptions(run, state, asked, { step, given });
    asked.trying = { what: `${nameOf(step)} (${acts[name].says})`, limitMs: Number(options.scheduleToCloseTimeout) };
    asked.count += 1;
    const nth = asked.count;
    state.nth = nth;
    state.attempt = 1;
    setCurrentDetails(details(run, state));
    const last = index === step.acts.length - 1 && !step.awaits;
    const activityId = time === 1 ? key : `${key}-${time}`;
    const start = () =>
      runAct.executeWithOptions({ ...options, activityId, summary: `${label(state, step)}${what}` }, [
        { lock, step, act: name, last, timing: run.timing, kind: run.kind, nth },
      ]);
    const outcome = asked.guarded ? guardedAct({ run, state, journal }, { step, index, nth, lock, start }) : start();
    return effect === 'once'
      ? outcome.catch((thrown: unknown) => asOutcomeUnknown(thrown, step, asked.trying))
      : outcome;
  };

  return {
    act,
    /** An abort cancels the work, or waits for it. */
    async scoped<T>(canAbort: boolean, work: () => Promise<T>): Promise<T> {
      if (canAbort) return cancellable(state, work);
      asked.guarded = true;
      return CancellationScope.nonCancellable(work).finally(() => {
        asked.guarded = false;
      });
    },
    describe: (thrown: unknown): string => messageOf(thrown, asked.trying),
    /** A retried step gets its full time again. */
    forgetDeadline: ({ index }: PlannedStep): void => void asked.deadlines.delete(index),
  };
};
