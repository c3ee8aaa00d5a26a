/** Common frame of all runs: claim, handlers, plan, end. */
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  ContinueAsNew,
  condition,
  isCancellation,
} from '@temporalio/workflow';
import type { PlannedStep } from '../model/lifecycle/step-types';
import type { RunKind } from '../model/lifecycle/verbs';
import type { RunEnding, RunInput } from '../model/runs/runs';
import { abortTimeoutMs } from './abort-timeout';
import { createEffects } from './effects';
import { Aborted, type Effects, FailedByPerson } from './effects-contract';
import { codeOf } from './failures';
import { runSteps, tidy } from './interpreter';
import { createJournal, type Journal } from './journal';
import { registerHandlers } from './messages';
import { type ExecutionState, initialState } from './state';
import { waitForTurn } from './turns';

export type RunResult = { readonly outcome: 'succeeded' | 'aborted' };

type Execution = {
  readonly run: RunInput;
  readonly state: ExecutionState;
  readonly journal: Journal;
  readonly effects: Effects;
};

export const runWorkflow =
  (name: RunKind) =>
  async (run: RunInput): Promise<RunResult> => {
    if (run.kind !== name)
      throw ApplicationFailure.nonRetryable(`This input is for ${run.kind}, not ${name}`, 'StaleOperation');
    const state = initialState(run);
    registerHandlers(run, state);
    const journal = createJournal(run, state);
    const effects = createEffects(run, state, journal);
    const execution: Execution = { run, state, journal, effects };
    const turn = await journal.claim();
    try {
      if (run.carries?.ending) return await endAgain(run.carries.ending, execution);
      const scope = new CancellationScope();
      noticeCancellation(scope, state);
      await scope.run(async () => {
        if (run.displaces && (!run.carries || run.carries.resumed)) await journal.displace();
        if (!turn)
          await waitForTurn(run, state, journal, async () => {
            if (effects.cutsHistory()) await effects.queueOn();
          });
        // From the beginning, or from the previous execution's end.
        const { steps = run.steps, from, within } = run.carries ?? {};
        await runSteps(steps, effects, from, within);
      });
      await CancellationScope.nonCancellable(() => journal.finish('succeeded'));
      return { outcome: 'succeeded' };
    } catch (thrown) {
      if (thrown instanceof ContinueAsNew) throw thrown;
      return await CancellationScope.nonCancellable(() => endBadly(thrown, execution));
    } finally {
      await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    }
  };

/** A cancellation counts as an abort for work that must not be cut short; Temporal cancels only other scopes. */
const noticeCancellation = (scope: CancellationScope, state: ExecutionState): void => {
  scope.cancelRequested.catch(() => {
    state.cancelled = true;
    state.abortedAt ??= Date.now();
    state.cutShort?.();
  });
};

/** Temporal lost the run during its clean-up, which is idempotent. It runs again, and the run ends as recorded. */
const endAgain = (ending: RunEnding, execution: Execution): Promise<RunResult> =>
  CancellationScope.nonCancellable(async () =>
    ending.outcome === 'aborted' ? endAborted(ending, execution) : endFailed(ending, execution),
  );

const endBadly = async (thrown: unknown, execution: Execution): Promise<RunResult> => {
  const { state, effects } = execution;
  if (codeOf(thrown) === 'StaleOperation') throw thrown; // fenced off: the node belongs to another run now
  const { cursor, aborted } = state;
  if (thrown instanceof Aborted || isCancellation(thrown)) {
    const unknown = thrown instanceof Aborted && thrown.message !== '' ? ` ${thrown.message}` : '';
    const why = aborted ? 'By request, the run was aborted.' : 'The run was cancelled in the workflow engine.';
    const error = `${why}${unknown}`;
    if (!aborted) state.unrecorded.push({ act: 'cancel', by: '', reason: '' });
    const ended = await endAborted({ outcome: 'aborted', error, cursor }, execution);
    if (aborted) return ended;
    throw isCancellation(thrown) ? thrown : new CancelledFailure(error);
  }
  if (!(thrown instanceof FailedByPerson) && !codeOf(thrown)) throw thrown; // a bug: fail the workflow task and keep the run
  return endFailed({ outcome: 'failed', error: effects.describe(thrown), cursor }, execution);
};

/** In this order: the record of who aborted, the clean-up, the end. */
const endAborted = async (ending: RunEnding, execution: Execution): Promise<RunResult> => {
  const { journal } = execution;
  await journal.record();
  const fault = await tidyUp(ending, execution);
  await journal.finish('aborted', withFault(ending.error, fault), ending.cursor, fault !== undefined);
  return { outcome: 'aborted' };
};

const endFailed = async (ending: RunEnding, execution: Execution): Promise<never> => {
  const { error, cursor } = ending;
  await tidyUp(ending, execution);
  await execution.journal.finish('failed', error, cursor);
  throw ApplicationFailure.nonRetryable(error, 'RunFailed');
};

const withFault = (says: string, fault: string | undefined): string =>
  fault === undefined ? says : `${says} What it left on the node could not be tidied: ${fault}`;

/** Removes the ramdisk after an early end. @returns the first failure */
const tidyUp = async (ending: RunEnding, { run, state, journal, effects }: Execution): Promise<string | undefined> => {
  const steps: readonly PlannedStep[] | undefined = state.booted ? run.tidy?.[ending.outcome] : run.tidy?.unbooted;
  if (!steps || steps.length === 0) return undefined;
  if (ending.outcome === 'aborted') state.tidyBy = Date.now() + abortTimeoutMs(run);
  const first = state.steps.length;
  const added = steps.map((step, position) => ({ ...step, index: first + position }));
  state.steps = [...state.steps, ...added];
  state.ending = ending;
  await journal.add(added, ending);
  return tidy(added, effects);
};
