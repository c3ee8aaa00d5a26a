/** Waits of a run. */
import { ApplicationFailure, condition, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { Awaited, PlannedStep } from '../model/lifecycle/step-types';
import { nameOf } from '../model/lifecycle/steps';
import type { RunInput } from '../model/runs/runs';
import type { Acts } from './acts';
import { Aborted, type Decided } from './effects-contract';
import type { Journal } from './journal';
import { type ExecutionState, endAsked } from './state';
import { waitForTurn } from './turns';
import { details } from './ui';

const minute = 60_000;
const halfAnHour = 30 * minute;
// A signal reports the end of a freeze; rare polls find one that expires, which may take weeks.
const freezeReadMs = minute;
const longestFreezeReadMs = 10 * minute;

// Polls replace lost signals. They are rare, because thousands of runs may wait for hours.
const callbackReadMs = 5 * minute;

type Waiting = {
  readonly run: RunInput;
  readonly state: ExecutionState;
  readonly journal: Journal;
  readonly acts: Pick<Acts, 'forgetDeadline'>;
};

const unlessAborted = async (state: ExecutionState, met: () => boolean): Promise<void> => {
  await condition(() => met() || endAsked(state));
  if (endAsked(state)) throw new Aborted();
};

const showWait = (
  { run, state }: Waiting,
  step: PlannedStep,
  next: ExecutionState['state'],
  why: string | null,
): void => {
  state.cursor = step.index;
  state.state = next;
  state.waitingFor = why;
  setCurrentDetails(details(run, state));
};

const sleepFor = async ({ run, state, journal }: Waiting, ms: number, summary: string): Promise<void> => {
  // In a shorter wait the run keeps its turn, because a new one would take longer.
  const others = run.limit !== undefined && ms >= (run.timing.longWaitMs ?? minute);
  if (others) await journal.giveTurnBack();
  await sleep(ms, { summary });
  if (others && !(await journal.turn())) await waitForTurn(run, state, journal);
};

const resumed = async ({ run, state, journal }: Waiting, step: PlannedStep): Promise<void> => {
  if (!state.paused) return;
  state.cursor = step.index;
  state.state = 'paused';
  state.waitingFor = 'a caller to resume it';
  setCurrentDetails(details(run, state));
  await journal.show();
  await unlessAborted(state, () => !state.paused);
  await journal.record();
};

const unfrozen = async (
  waiting: Waiting,
  step: PlannedStep,
  why: string,
  { evenAborted = false }: { readonly evenAborted?: boolean } = {},
): Promise<void> => {
  const { state, journal, acts } = waiting;
  const { state: before, waitingFor } = state;
  showWait(waiting, step, 'waiting', why);
  state.waitsOn = 'freeze';
  await journal.show();
  state.waitsOn = null;
  const ended = () => endAsked(state) && !evenAborted;
  for (let pause = freezeReadMs, frozen = true; frozen; pause = Math.min(2 * pause, longestFreezeReadMs)) {
    state.unfreeze = false;
    await condition(() => state.unfreeze || ended(), pause);
    if (ended()) throw new Aborted();
    frozen = await journal.frozen(step);
  }
  acts.forgetDeadline(step);
  showWait(waiting, step, before, waitingFor);
  await journal.show();
};

const ramdiskTimeout = (step: PlannedStep, awaits: Awaited) =>
  ApplicationFailure.nonRetryable(
    `The ramdisk did not ${awaits === 'inspection' ? 'send what it found' : 'call back'} in time (${nameOf(step)}). Look at the node's console: whether it started from the image, has a network, and can reach this API.`,
    'AgentTimeout',
  );

/** In a recovery the API rejects the ramdisk's messages, so the timeout restarts afterwards. @returns false without a recovery */
const waitsAnew = async ({ state, journal }: Waiting): Promise<boolean> => {
  if (!(await journal.recovering())) return false;
  for (let pause = freezeReadMs, held = true; held; pause = Math.min(2 * pause, longestFreezeReadMs)) {
    state.unfreeze = false;
    await condition(() => state.unfreeze || state.ramdiskLost || endAsked(state), pause);
    if (endAsked(state)) throw new Aborted();
    held = await journal.recovering();
  }
  return true;
};

/** @returns `lost` if the ramdisk must boot again after a restore */
const calledBack = async (waiting: Waiting, step: PlannedStep, awaits: Awaited): Promise<'lost' | undefined> => {
  const { run, state, journal } = waiting;
  const { agentTimeoutMs = halfAnHour, agentPollMs = callbackReadMs } = run.timing;
  const limitMs = step.timeoutMs ?? agentTimeoutMs;
  Object.assign(state, { contact: false, ramdiskLost: false, awaits });
  showWait(waiting, step, 'waiting', `the ramdisk to ${awaits === 'inspection' ? 'send what it found' : 'call back'}`);
  let deadline = Date.now() + limitMs;
  let received = await journal.awaitContact(step, awaits);
  for (let pause = agentPollMs; !received; pause = Math.min(pause * 3, 6 * agentPollMs)) {
    if (deadline <= Date.now() && !(await waitsAnew(waiting))) throw ramdiskTimeout(step, awaits);
    if (deadline <= Date.now()) deadline = Date.now() + limitMs;
    const left = deadline - Date.now();
    const met = await condition(() => state.contact || state.ramdiskLost || endAsked(state), Math.min(pause, left));
    if (endAsked(state)) throw new Aborted();
    if (state.ramdiskLost && !state.contact) {
      Object.assign(state, { ramdiskLost: false, awaits: null });
      showWait(waiting, step, 'running', null);
      return 'lost';
    }
    // No poll after a signal, because the API has checked the sender.
    received = met || (await journal.contacted(awaits));
  }
  state.awaits = null;
  showWait(waiting, step, 'running', null);
  await journal.contactReceived(step);
  return undefined;
};

/** Each throws Aborted if the run has to end first. */
export const createWaits = (run: RunInput, state: ExecutionState, journal: Journal, acts: Acts) => {
  const waiting: Waiting = { run, state, journal, acts };
  return {
    sleep: (ms: number, summary: string) => sleepFor(waiting, ms, summary),
    async unheld(): Promise<void> {
      await unlessAborted(state, () => state.unheld);
      await journal.record();
    },
    async decided(step: PlannedStep): Promise<Decided> {
      await unlessAborted(state, () => state.decision !== null);
      await journal.record();
      acts.forgetDeadline(step);
      return state.decision!;
    },
    unpaused: (step: PlannedStep) => resumed(waiting, step),
    unfrozen: (step: PlannedStep, why: string, options?: { readonly evenAborted?: boolean }) =>
      unfrozen(waiting, step, why, options),
    contacted: (step: PlannedStep, awaits: Awaited) => calledBack(waiting, step, awaits),
  };
};
