/** The interpreter's hands on the engine: activities, timers, scopes, and what people send. */
import {
  type ActivityOptions,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { BmcActivities } from '../activities/bmc';
import type { RunInput } from '../model/runs';
import { acts, nameOf, type PlannedStep } from '../model/steps';
import { attributes, groupQueue } from './contract';
import { codeOf, messageOf } from './failures';
import type { Here } from './here';
import { Aborted, type Hands } from './interpreter';
import { onBmc } from './profiles';
import type { Recorder } from './recorder';
import { details, label } from './telling';

/** Hands for one run; `here` is what its messages write. */
export const handsOf = (run: RunInput, here: Here, store: Recorder): Hands => {
  const queue = groupQueue(run.conductor_group, run.queue_prefix);
  const { runAct } = proxyActivities<BmcActivities>({ taskQueue: queue, startToCloseTimeout: '1m' }); // each call says its own
  const tries = new Map<string, number>();
  const deadlines = new Map<number, number>();

  // A step's own timeout is for all its acts; the engine's clock is the same in every replay.
  const limited = (step: PlannedStep, options: ActivityOptions): ActivityOptions => {
    const retry = { ...options.retry, ...(step.attempts && { maximumAttempts: step.attempts }) };
    if (step.timeoutMs === undefined) return { ...options, retry };
    const deadline = deadlines.get(step.index) ?? Date.now() + step.timeoutMs;
    deadlines.set(step.index, deadline);
    return { ...options, retry, scheduleToCloseTimeout: Math.max(1, deadline - Date.now()) };
  };

  const unless = async (met: () => boolean): Promise<void> => {
    await condition(() => met() || here.aborted);
    if (here.aborted) throw new Aborted();
  };

  const isFailure = (thrown: unknown): boolean =>
    !isCancellation(thrown) && ![undefined, 'StaleOperation'].includes(codeOf(thrown));

  return {
    act(step, index) {
      const { act, effect } = step.acts[index]!;
      const key = `step-${String(step.index).padStart(2, '0')}-${nameOf(step)}-${act}`;
      const time = (tries.get(key) ?? 0) + 1;
      tries.set(key, time);
      const what = step.acts.length > 1 || nameOf(step) !== `power.${act}` ? `: ${acts[act].says}` : '';
      return runAct.executeWithOptions(
        {
          ...limited(step, onBmc(act, effect, queue, run.timing)),
          activityId: time === 1 ? key : `${key}-${time}`,
          summary: `${label(run, step)}${what}`,
        },
        [{ lock: run.lock, step, act, last: index === step.acts.length - 1, timing: run.timing, story: run.story }],
      );
    },
    move: (event) => store.move(event),
    mark: (step, state, facts) => store.mark(step, state, facts).then(() => undefined),
    at(index, state, waitingFor) {
      // The first step is where the attribute begins.
      if (index !== here.cursor) upsertSearchAttributes([{ key: attributes.stepIndex, value: index }]);
      here.cursor = index;
      here.state = state;
      here.waitingFor = waitingFor;
      here.unheld = false;
      here.decision = null;
      setCurrentDetails(details(run, here));
    },
    sleep: (ms, summary) => sleep(ms, { summary }),
    unheld: () => unless(() => here.unheld),
    async decided(step) {
      await unless(() => here.decision !== null);
      deadlines.delete(step.index);
      return here.decision!;
    },
    abortAsked: () => here.aborted,
    async unpaused(step) {
      if (!here.paused) return;
      here.cursor = step.index;
      here.state = 'paused';
      here.waitingFor = 'somebody to resume it';
      setCurrentDetails(details(run, here));
      await store.show();
      await unless(() => !here.paused);
    },
    async scoped(canAbort, work) {
      if (!canAbort) return CancellationScope.nonCancellable(work);
      if (here.aborted) throw new Aborted(); // heard while nothing was there to cancel
      const scope = new CancellationScope();
      here.cutShort = () => scope.cancel();
      try {
        return await scope.run(work);
      } catch (thrown) {
        // An attempt that fails while it is being cut short reports its failure, and the engine tries no other.
        const cutShort = here.aborted && (isCancellation(thrown) || isFailure(thrown));
        throw cutShort ? new Aborted() : thrown;
      } finally {
        here.cutShort = null;
      }
    },
    isFailure,
    isUnknown: (thrown) => codeOf(thrown) === 'StepOutcomeUnknown',
    describe: messageOf,
  };
};
