/** What every story has in common: it claims its run, answers questions, hears messages, ends well or says why not. */
import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
} from '@temporalio/workflow';
import type { RunInput } from '../model/runs';
import type { Story } from '../model/verbs';
import { codeOf, messageOf } from './failures';
import { handsOf } from './hands';
import { type Here, startingPoint } from './here';
import { Aborted, FailedByPerson, type Hands } from './interpreter';
import { listen } from './messages';
import { type Recorder, recorder } from './recorder';

export type RunResult = { readonly outcome: 'succeeded' | 'aborted' };
type Tale = (run: RunInput, hands: Hands) => Promise<void>;

/** Makes a workflow of a tale: everything that all runs share is done here, once. */
export const story =
  (name: Story, tell: Tale) =>
  async (run: RunInput): Promise<RunResult> => {
    if (run.story !== name)
      throw ApplicationFailure.nonRetryable(`This input is for ${run.story}, not ${name}`, 'StaleOperation');
    const here = startingPoint();
    listen(run, here);
    const store = recorder(run, here);
    await store.claim();
    try {
      await new CancellationScope().run(() => tell(run, handsOf(run, here, store)));
      await CancellationScope.nonCancellable(() => store.finish('succeeded'));
      return { outcome: 'succeeded' };
    } catch (thrown) {
      return await CancellationScope.nonCancellable(() => endBadly(thrown, here, store));
    } finally {
      await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
    }
  };

const endBadly = async (thrown: unknown, here: Here, store: Recorder): Promise<RunResult> => {
  if (codeOf(thrown) === 'StaleOperation') throw thrown; // fenced off: the node belongs to somebody else now
  if (thrown instanceof Aborted || (isCancellation(thrown) && here.aborted)) {
    await store.finish('aborted', 'By request, the run was aborted.');
    return { outcome: 'aborted' };
  }
  if (isCancellation(thrown)) {
    await store.finish('aborted', 'The run was cancelled in the workflow engine.');
    throw thrown;
  }
  if (!(thrown instanceof FailedByPerson) && !codeOf(thrown)) throw thrown; // a bug of ours: keep the run, fail the task
  const reason = messageOf(thrown);
  await store.finish('failed', reason);
  throw ApplicationFailure.nonRetryable(reason, 'RunFailed');
};
