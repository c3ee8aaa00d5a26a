/** What every run has in common: it claims its run, answers queries, receives signals, ends well or records why not. */
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  ContinueAsNew,
  condition,
  isCancellation,
  patched,
} from '@temporalio/workflow';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { Story } from '../model/lifecycle/verbs';
import type { RunEnding, RunInput } from '../model/runs/runs';
import { codeOf } from './failures';
import { handsOf } from './hands';
import { type Here, startingPoint } from './here';
import { Aborted, FailedByPerson, type Hands, runSteps, tidy } from './interpreter';
import { listen } from './messages';
import { patienceOf } from './patience';
import { type Recorder, recorder } from './recorder';
import { takeTurn } from './turns';

export type RunResult = { readonly outcome: 'succeeded' | 'aborted' };
type Tale = (run: RunInput, hands: Hands) => Promise<void>;

/** The plan from its beginning, or from where an execution before this one left off. */
const wholePlan: Tale = (run, hands) =>
  runSteps(run.carries?.steps ?? run.steps, hands, run.carries?.from, run.carries?.within);

/** Makes a workflow type of what differs between verbs: everything that all runs share is done here, once. */
export const story =
  (name: Story, tell: Tale = wholePlan) =>
  async (run: RunInput): Promise<RunResult> => {
    if (run.story !== name)
      throw ApplicationFailure.nonRetryable(`This input is for ${run.story}, not ${name}`, 'StaleOperation');
    const here = startingPoint(run);
    listen(run, here);
    const store = recorder(run, here);
    const hands = handsOf(run, here, store);
    const turn = await store.claim();
    try {
      if (run.carries?.ending) return await endAgain(run.carries.ending, run, here, store, hands);
      const scope = new CancellationScope();
      noticeCancellation(scope, here);
      await scope.run(async () => {
        if (run.displaces && (!run.carries || run.carries.resumed)) await store.displace();
        if (!turn)
          await takeTurn(run, here, store, async () => {
            if (hands.cutsHistory()) await hands.queueOn();
          });
        await tell(run, hands);
      });
      await CancellationScope.nonCancellable(() => store.finish('succeeded'));
      return { outcome: 'succeeded' };
    } catch (thrown) {
      if (thrown instanceof ContinueAsNew) throw thrown;
      return await CancellationScope.nonCancellable(() => endBadly(thrown, run, here, store, hands));
    } finally {
      await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    }
  };

/**
 * Has what must not be cut short treat a cancellation as an abort; the engine by itself ends only what may be cut short. In a
 * history of before that, a cancellation was waited out.
 */
const noticeCancellation = (scope: CancellationScope, here: Here): void => {
  scope.cancelRequested.catch(() => {
    if (!patched('2026-11-cancels-have-patience')) return;
    here.cancelled = true;
    here.abortedAt ??= Date.now();
    here.cutShort?.();
  });
};

/** The engine lost the run while it was tidying up: it is tidied again, which is harmless, and ends as it was about to. */
const endAgain = (ending: RunEnding, run: RunInput, here: Here, store: Recorder, hands: Hands): Promise<RunResult> =>
  CancellationScope.nonCancellable(async () => {
    const { outcome, error, cursor } = ending;
    const fault = await tidyUp(run, ending, here, store, hands);
    if (outcome === 'aborted') {
      await store.finish('aborted', withFault(error, fault), cursor, fault !== undefined);
      return { outcome };
    }
    await store.finish('failed', error, cursor);
    throw ApplicationFailure.nonRetryable(error, 'RunFailed');
  });

const endBadly = async (
  thrown: unknown,
  run: RunInput,
  here: Here,
  store: Recorder,
  hands: Hands,
): Promise<RunResult> => {
  if (codeOf(thrown) === 'StaleOperation') throw thrown; // fenced off: the node belongs to another run now
  const cursor = here.cursor;
  const unknown = thrown instanceof Aborted && thrown.message !== '' ? ` ${thrown.message}` : '';
  if (here.aborted && (thrown instanceof Aborted || isCancellation(thrown))) {
    await store.record();
    const says = `By request, the run was aborted.${unknown}`;
    const fault = await tidyUp(run, { outcome: 'aborted', error: says, cursor }, here, store, hands);
    await store.finish('aborted', withFault(says, fault), cursor, fault !== undefined);
    return { outcome: 'aborted' };
  }
  if (thrown instanceof Aborted || isCancellation(thrown)) {
    here.unrecorded.push({ act: 'cancel', by: '', reason: '' });
    await store.record();
    const says = `The run was cancelled in the workflow engine.${unknown}`;
    const fault = await tidyUp(run, { outcome: 'aborted', error: says, cursor }, here, store, hands);
    await store.finish('aborted', withFault(says, fault), cursor, fault !== undefined);
    throw isCancellation(thrown) ? thrown : new CancelledFailure(says);
  }
  if (!(thrown instanceof FailedByPerson) && !codeOf(thrown)) throw thrown; // a bug of ours: keep the run, fail the task
  const reason = hands.describe(thrown);
  await tidyUp(run, { outcome: 'failed', error: reason, cursor }, here, store, hands);
  await store.finish('failed', reason, cursor);
  throw ApplicationFailure.nonRetryable(reason, 'RunFailed');
};

const withFault = (says: string, fault: string | undefined): string =>
  fault === undefined ? says : `${says} What it left on the node could not be tidied: ${fault}`;

/** Takes the ramdisk off a node whose run ends early. @returns what went wrong with that */
const tidyUp = async (
  run: RunInput,
  ending: RunEnding,
  here: Here,
  store: Recorder,
  hands: Hands,
): Promise<string | undefined> => {
  const steps: readonly PlannedStep[] | undefined = here.booted ? run.tidy?.[ending.outcome] : run.tidy?.unbooted;
  if (!steps || steps.length === 0) return undefined;
  if (ending.outcome === 'aborted') here.tidyBy = Date.now() + patienceOf(run);
  const first = here.steps.length;
  const added = steps.map((step, position) => ({ ...step, index: first + position }));
  here.steps = [...here.steps, ...added];
  await store.add(added, ending);
  return tidy(added, hands);
};
