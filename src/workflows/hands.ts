/** The interpreter's hands on the engine: activities, timers, scopes, and what people send. */
import {
  type ActivityOptions,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  patched,
  proxyActivities,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { BmcActivities } from '../activities/bmc';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import { actRow, acts, nameOf } from '../model/lifecycle/steps';
import type { Lock, RunInput } from '../model/runs/runs';
import { attributes, groupQueue } from './contract';
import { codeOf, isHeldBack, messageOf, type Trying } from './failures';
import { endAsked, type Here } from './here';
import { Aborted, type Hands } from './interpreter';
import { guardedAct, tidyLimit } from './patience';
import { onBmc } from './profiles';
import type { Recorder } from './recorder';
import { details, label } from './telling';
import { takeTurn } from './turns';

/** A step on another node goes under that node's own fence. */
const lockOf = ({ lock, also }: RunInput, { on }: PlannedStep): Lock =>
  on && also?.[on.node_uuid] !== undefined
    ? { run: lock.run, node_uuid: on.node_uuid, fence: also[on.node_uuid]! }
    : lock;

const minute = 60_000;
const halfAnHour = 30 * minute;
// A message says when a freeze was ended; looks are for those that run out by themselves. Few, for a freeze may last weeks.
const thawLookMs = minute;
const longestThawLookMs = 10 * minute;

// The API's message wakes the run at once; a read finds what a message did not bring. Thousands may wait for hours.
const contactLookMs = 5 * minute;

/** Hands for one run; `here` is what its messages write. */
export const handsOf = (run: RunInput, here: Here, store: Recorder): Hands => {
  const queue = groupQueue(run.conductor_group, run.queue_prefix);
  const queueOf = ({ on }: PlannedStep): string => (on ? groupQueue(on.conductor_group, run.queue_prefix) : queue);
  const { runAct } = proxyActivities<BmcActivities>({ taskQueue: queue, startToCloseTimeout: '1m' }); // each call says its own
  let trying: Trying | undefined;
  const tries = new Map<string, number>();
  const deadlines = new Map<number, number>();
  let asked = 0;
  let guarded = false;

  // A step's own timeout is for all its acts; the engine's clock is the same in every replay.
  const limited = (step: PlannedStep, given: ActivityOptions): ActivityOptions => {
    const limit = tidyLimit(run, here);
    const options = { ...given, ...(limit !== undefined && { scheduleToCloseTimeout: limit }) };
    const retry = { ...options.retry, ...(step.attempts && { maximumAttempts: step.attempts }) };
    if (step.timeoutMs === undefined) return { ...options, retry };
    const deadline = deadlines.get(step.index) ?? Date.now() + step.timeoutMs;
    deadlines.set(step.index, deadline);
    return { ...options, retry, scheduleToCloseTimeout: Math.max(1, deadline - Date.now()) };
  };

  const unless = async (met: () => boolean): Promise<void> => {
    await condition(() => met() || endAsked(here));
    if (endAsked(here)) throw new Aborted();
  };

  const show = (step: PlannedStep, state: Here['state'], waitingFor: string | null): void => {
    here.cursor = step.index;
    here.state = state;
    here.waitingFor = waitingFor;
    setCurrentDetails(details(run, here));
  };

  const agentTimeout = (step: PlannedStep, awaits: Awaited) =>
    ApplicationFailure.nonRetryable(
      `The ramdisk did not ${awaits === 'inspection' ? 'send what it found' : 'call back'} in time (${nameOf(step)}); look at the node's console: whether it started from the image, has a network, and can reach this API.`,
      'AgentTimeout',
    );

  // Its outcome is unknown, and it may still be under way.
  const doubted = (thrown: unknown, step: PlannedStep): never => {
    if (codeOf(thrown) !== 'Timeout' || !patched('2026-11-timeouts-of-once-are-unknown')) throw thrown;
    throw ApplicationFailure.nonRetryable(
      `Step ${nameOf(step)} did not end in time, and whether it took effect cannot be known: ${messageOf(thrown, trying)}`,
      'StepOutcomeUnknown',
    );
  };

  const shownNext = (): Pick<RunInput, 'provision_state'> =>
    here.provision_state ? { provision_state: here.provision_state } : {};

  const isFailure = (thrown: unknown): boolean =>
    !isCancellation(thrown) && ![undefined, 'StaleOperation'].includes(codeOf(thrown));

  return {
    act(step, index) {
      const { act, effect } = step.acts[index]!;
      if (step.index === run.boot?.index) here.booted = true;
      const key = `step-${String(step.index).padStart(2, '0')}-${nameOf(step)}-${act}`;
      const time = (tries.get(key) ?? 0) + 1;
      tries.set(key, time);
      here.attempt = time;
      const what = step.acts.length > 1 || nameOf(step) !== `power.${act}` ? `: ${acts[act].says}` : '';
      const lock = lockOf(run, step);
      const options = limited(step, onBmc(act, effect, queueOf(step), run.timing));
      trying = { what: `${nameOf(step)} (${acts[act].says})`, limitMs: Number(options.scheduleToCloseTimeout) };
      asked += 1;
      const nth = asked;
      const start = () =>
        runAct.executeWithOptions(
          {
            ...options,
            activityId: time === 1 ? key : `${key}-${time}`,
            summary: `${label(here, step)}${what}`,
          },
          [
            {
              lock,
              step,
              act,
              last: index === step.acts.length - 1 && !step.awaits,
              timing: run.timing,
              story: run.story,
              nth,
            },
          ],
        );
      const outcome = guarded ? guardedAct(run, here, store, { step, index, nth, lock, start }) : start();
      return effect === 'once' ? outcome.catch((thrown: unknown) => doubted(thrown, step)) : outcome;
    },
    move: (event) => store.move(event),
    async mark(step, state, facts) {
      if (state === 'parked') {
        here.error = facts?.error ?? null;
        setCurrentDetails(details(run, here));
      }
      await store.mark(step, state, facts);
    },
    at(index, state, waitingFor) {
      // The first step is where the attribute begins.
      if (index !== here.cursor) here.attempt = 1;
      if (index !== here.cursor) upsertSearchAttributes([{ key: attributes.stepIndex, value: index }]);
      here.cursor = index;
      here.state = state;
      here.waitingFor = waitingFor;
      here.error = null;
      here.unheld = false;
      here.decision = null;
      setCurrentDetails(details(run, here));
    },
    async sleep(ms, summary) {
      // A shorter wait is part of the work, and standing in line again would take longer.
      const others =
        run.limit !== undefined &&
        ms >= (run.timing.longWaitMs ?? minute) &&
        patched('2026-11-long-waits-give-their-turn-back');
      if (others) await store.giveTurnBack();
      await sleep(ms, { summary });
      if (others && !(await store.turn())) await takeTurn(run, here, store);
    },
    async unheld() {
      await unless(() => here.unheld);
      await store.record();
    },
    async decided(step) {
      await unless(() => here.decision !== null);
      await store.record();
      deadlines.delete(step.index);
      return here.decision!;
    },
    again: (step, args) => store.again(step, args),
    abortAsked: () => endAsked(here),
    async unpaused(step) {
      if (!here.paused) return;
      here.cursor = step.index;
      here.state = 'paused';
      here.waitingFor = 'a caller to resume it';
      setCurrentDetails(details(run, here));
      await store.show();
      await unless(() => !here.paused);
      await store.record();
    },
    async scoped(canAbort, work) {
      if (!canAbort) {
        guarded = true;
        return CancellationScope.nonCancellable(work).finally(() => {
          guarded = false;
        });
      }
      if (endAsked(here)) throw new Aborted(); // received while nothing was there to cancel
      const scope = new CancellationScope();
      here.cutShort = () => scope.cancel();
      try {
        return await scope.run(work);
      } catch (thrown) {
        // An attempt that fails while it is being cut short reports its failure, and the engine tries no other.
        const cutShort = endAsked(here) && (isCancellation(thrown) || isFailure(thrown));
        throw cutShort ? new Aborted() : thrown;
      } finally {
        here.cutShort = null;
      }
    },
    isFailure,
    isUnknown: (thrown) => codeOf(thrown) === 'StepOutcomeUnknown',
    describe: (thrown) => messageOf(thrown, trying),
    startsOver: (thrown, step, index) =>
      codeOf(thrown) === 'AgentGone' &&
      actRow(step.acts[index]!.act).startsOver === true &&
      patched('2026-11-a-lost-ramdisk-starts-over'),
    isFrozen: isHeldBack,
    async thawed(step, why, { evenAborted = false } = {}) {
      const { state, waitingFor } = here;
      show(step, 'waiting', why);
      here.waitsOn = 'freeze';
      await store.show();
      here.waitsOn = null;
      const ended = () => endAsked(here) && !evenAborted;
      for (let pause = thawLookMs, frozen = true; frozen; pause = Math.min(2 * pause, longestThawLookMs)) {
        here.thaw = false;
        await condition(() => here.thaw || ended(), pause);
        if (ended()) throw new Aborted();
        frozen = await store.frozen(step);
      }
      deadlines.delete(step.index);
      show(step, state, waitingFor);
      await store.show();
    },
    async contacted(step, awaits) {
      const { agentTimeoutMs = halfAnHour, agentPollMs = contactLookMs } = run.timing;
      here.contact = false;
      show(step, 'waiting', `the ramdisk to ${awaits === 'inspection' ? 'send what it found' : 'call back'}`);
      const deadline = Date.now() + (step.timeoutMs ?? agentTimeoutMs);
      let there = await store.awaitContact(step, awaits);
      for (let pause = agentPollMs; !there; pause = Math.min(pause * 3, 6 * agentPollMs)) {
        const left = deadline - Date.now();
        if (left <= 0) throw agentTimeout(step, awaits);
        const met = await condition(() => here.contact || endAsked(here), Math.min(pause, left));
        if (endAsked(here)) throw new Aborted();
        // A message is as good as a look: the API has checked who sent it.
        there = met || (await store.contacted(awaits));
      }
      show(step, 'running', null);
      await store.heard(step);
    },
    async join(step, rest, reported) {
      const planned = await store.join(step, rest, reported);
      here.steps = [...here.steps.slice(0, step.index + 1), ...planned];
      return planned;
    },
    boot: run.boot,
    cutsHistory: () => {
      const { continueAsNewSuggested, historyLength } = workflowInfo();
      return continueAsNewSuggested || historyLength > (run.timing.historyLength ?? Number.POSITIVE_INFINITY);
    },
    async queueOn() {
      await store.record();
      if (endAsked(here)) throw new Aborted();
      return continueAsNew<(run: RunInput) => Promise<unknown>>({
        ...run,
        ...shownNext(),
        carries: { from: 0, seq: store.seq, steps: run.steps, paused: here.paused, waitsTurn: true },
      });
    },
    async goOn(from, steps) {
      await store.record();
      if (endAsked(here)) throw new Aborted(); // received with the last task
      return continueAsNew<(run: RunInput) => Promise<unknown>>({
        ...run,
        ...shownNext(),
        carries: { from, seq: store.seq, steps, paused: here.paused, booted: here.booted },
      });
    },
  };
};
