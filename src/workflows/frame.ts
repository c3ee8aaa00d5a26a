/** What every story has in common: it claims its run, answers questions, hears messages, ends well or says why not. */
import {
  type ActivityOptions,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  rootCause,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { BmcActivities } from '../activities/bmc';
import type { ControlActivities } from '../activities/control';
import { endedStates, type RunInput, type RunState } from '../model/runs';
import type { Event } from '../model/states';
import { acts, nameOf, type PlannedStep } from '../model/steps';
import type { Story } from '../model/verbs';
import {
  abortSignal,
  attributes,
  type Decision,
  failOperation,
  groupQueue,
  type Message,
  type Progress,
  planQuery,
  progressQuery,
  retryStep,
  setPaused,
  skipStep,
  unholdSignal,
} from './contract';
import { Aborted, type DecisionKind, FailedByPerson, type Hands } from './interpreter';
import { onBmc, onStore } from './profiles';

export type RunResult = { readonly outcome: 'succeeded' | 'aborted' };
type Tale = (run: RunInput, hands: Hands) => Promise<void>;
type Here = {
  state: RunState;
  cursor: number;
  waitingFor: string | null;
  aborted: boolean;
  paused: boolean;
  unheld: boolean;
  decision: DecisionKind | null;
};

/** Makes a workflow of a tale: everything that all runs share is done here, once. */
export const story =
  (name: Story, tell: Tale) =>
  async (run: RunInput): Promise<RunResult> => {
    if (run.story !== name)
      throw ApplicationFailure.nonRetryable(`This input is for ${run.story}, not ${name}`, 'StaleOperation');
    const here: Here = {
      state: 'running',
      cursor: 0,
      waitingFor: null,
      aborted: false,
      paused: false,
      unheld: false,
      decision: null,
    };
    const scope = new CancellationScope();
    const abortable = { now: null as CancellationScope | null };
    listen(run, here, abortable);
    const store = recorder(run, here);
    await store.claim();
    try {
      await scope.run(() => tell(run, handsOf(run, here, store, abortable)));
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

const codeOf = (thrown: unknown): string | undefined => {
  const cause = causeOf(thrown);
  if (cause instanceof ApplicationFailure) return cause.type ?? 'Unexpected';
  return cause instanceof Error && cause.name === 'TimeoutFailure' ? 'Timeout' : undefined;
};

// Activity failures wrap what happened; timeouts carry the last failure within.
const causeOf = (thrown: unknown): unknown => {
  let cause = thrown;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause;
};

const messageOf = (thrown: unknown): string => (rootCause(thrown) ?? String(thrown)).slice(0, 2_000);

const listen = (run: RunInput, here: Here, abortable: { now: CancellationScope | null }): void => {
  const heard = new Set<string>();
  const fresh = (message: Message): boolean => {
    if (message.operationId !== run.lock.run || heard.has(message.requestId)) return false;
    heard.add(message.requestId);
    return true;
  };
  setHandler(progressQuery, () => progressOf(run, here), { description: 'Where the run is' });
  setHandler(planQuery, () => run.steps, { description: 'The steps as they were accepted' });
  setHandler(
    abortSignal,
    (message) => {
      if (!fresh(message)) return;
      here.aborted = true;
      abortable.now?.cancel();
    },
    { description: 'End the run; a step that must not be cut short ends first' },
  );
  setHandler(
    unholdSignal,
    (message) => {
      if (fresh(message)) here.unheld = true;
    },
    { description: 'Go on after a hold step' },
  );
  const decide = (kind: DecisionKind) => (_decision: Decision) => {
    here.decision = kind;
  };
  const validator = (decision: Decision): void => {
    if (here.state !== 'parked') throw new Error('The run is not parked: there is nothing to decide');
    if (decision.cursor !== here.cursor) throw new Error(`The run is at step ${here.cursor}, not ${decision.cursor}`);
    if (here.decision) throw new Error('Somebody has decided already');
  };
  setHandler(
    setPaused,
    ({ paused }) => {
      here.paused = paused;
      upsertSearchAttributes([{ key: attributes.paused, value: paused }]);
    },
    {
      description: 'Stop before the next step, or go on',
      validator: ({ paused }: { paused: boolean; by: string }): void => {
        if (endedStates.includes(here.state)) throw new Error('The run has ended');
        if (paused === here.paused) throw new Error(paused ? 'The run is paused already' : 'The run is not paused');
      },
    },
  );
  setHandler(retryStep, decide('retry'), { validator, description: 'Run the parked step again' });
  setHandler(skipStep, decide('skip'), { validator, description: 'Go on as if the parked step were done' });
  setHandler(failOperation, decide('fail'), { validator, description: 'End the run as failed' });
};

const progressOf = (run: RunInput, here: Here): Progress => ({
  verb: run.verb,
  state: here.state,
  cursor: here.cursor,
  total: run.steps.length,
  step: run.steps[here.cursor] ? nameOf(run.steps[here.cursor]!) : null,
  waitingFor: here.waitingFor,
  parked: here.state === 'parked',
  abortAsked: here.aborted,
});

type Recorder = ReturnType<typeof recorder>;

/** The store's side of a run: every projection carries a counter, so that a late repeat finds no row. */
const recorder = (run: RunInput, here: Here) => {
  const control = proxyActivities<ControlActivities>(onStore);
  let seq = 0;
  const next = () => ({ lock: run.lock, seq: ++seq });
  return {
    claim: () => control.claim.executeWithOptions({ ...onStore, summary: 'take the run' }, [{ lock: run.lock }]),
    async move(event: Event): Promise<void> {
      const summary = `node: ${event}`;
      const { provision_state } = await control.move.executeWithOptions({ ...onStore, summary }, [
        { ...next(), event, state: here.state, waiting_for: here.waitingFor },
      ]);
      upsertSearchAttributes([
        { key: attributes.provisionState, value: provision_state },
        { key: attributes.stepIndex, value: here.cursor },
      ]);
    },
    /** Shows a state that no move of the node and no step goes with. */
    show: () =>
      control.show.executeWithOptions({ ...onStore, summary: `run: ${here.state}` }, [
        { ...next(), state: here.state, waiting_for: here.waitingFor },
      ]),
    mark: (
      step: PlannedStep,
      state: 'waiting' | 'parked' | 'skipped' | 'done' | 'pending' | 'running' | 'failed',
      facts: { note?: string; error?: string } = {},
    ) =>
      control.mark.executeWithOptions({ ...onStore, summary: `${label(run, step)}: ${state}` }, [
        { ...next(), index: step.index, state, ...facts },
      ]),
    async finish(outcome: 'succeeded' | 'failed' | 'aborted', error?: string): Promise<void> {
      here.state = outcome;
      here.waitingFor = null;
      if (outcome === 'succeeded') here.cursor = run.steps.length;
      setCurrentDetails(details(run, here, error));
      const { provision_state } = await control.finish.executeWithOptions({ ...onStore, summary: `end: ${outcome}` }, [
        {
          ...next(),
          outcome,
          ends: run.ends,
          fault: run.fault,
          error: error ?? null,
          cursor: here.cursor,
          power: run.power ?? null,
        },
      ]);
      if (provision_state) upsertSearchAttributes([{ key: attributes.provisionState, value: provision_state }]);
    },
  };
};

const label = (run: RunInput, step: PlannedStep): string => `${step.index + 1}/${run.steps.length} ${nameOf(step)}`;

const ticks: Readonly<Record<string, string>> = {
  before: '✓',
  parked: '?',
  waiting: '…',
  running: '▶',
  failed: '✗',
  aborted: '✗',
};

const details = (run: RunInput, here: Here, error?: string): string =>
  [
    `**${run.verb}** on ${run.node_name ?? run.lock.node_uuid}: ${here.state}${here.waitingFor ? `, waiting for ${here.waitingFor}` : ''}`,
    '',
    ...run.steps.map((step) => {
      const tick =
        step.index < here.cursor ? ticks.before : step.index === here.cursor ? (ticks[here.state] ?? ' ') : ' ';
      return `- ${tick} ${nameOf(step)}`;
    }),
    ...(error ? ['', error] : []),
  ].join('\n');

const handsOf = (run: RunInput, here: Here, store: Recorder, abortable: { now: CancellationScope | null }): Hands => {
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
      abortable.now = scope;
      try {
        return await scope.run(work);
      } catch (thrown) {
        throw isCancellation(thrown) && here.aborted ? new Aborted() : thrown;
      } finally {
        abortable.now = null;
      }
    },
    isFailure: (thrown) => !isCancellation(thrown) && ![undefined, 'StaleOperation'].includes(codeOf(thrown)),
    isUnknown: (thrown) => codeOf(thrown) === 'StepOutcomeUnknown',
    describe: messageOf,
  };
};
