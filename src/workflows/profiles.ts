/**
 * How each class of act is tried again: how often, how long, with what pauses. What no repeat can cure is not listed: a
 * failure says so itself, as its row of model/errors.ts has it (activities/failures.ts).
 */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import { type ActName, actRow, type Effect, type Patience } from '../model/lifecycle/steps';
import type { Timing } from '../model/runs/runs';

/** Single statements on the store: repeated until it answers. */
export const onStore: Pick<ActivityOptions, 'startToCloseTimeout' | 'retry'> = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
};

/** The same, within the workflow task; a store that is away for longer is waited for by the engine's timers. */
export const locally: LocalActivityOptions & typeof onStore = { ...onStore, localRetryThreshold: '5s' };

type Profile = {
  startToCloseMs: number;
  scheduleToCloseMs: number;
  heartbeatMs: number;
  retryMs: number;
  maxRetryMs: number;
};
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

// A BMC that does not answer for longer than `scheduleToCloseMs` fails the run.
const profiles = {
  /** Only looks. */
  read: {
    startToCloseMs: 90 * second,
    scheduleToCloseMs: 5 * minute,
    heartbeatMs: 20 * second,
    retryMs: second,
    maxRetryMs: 30 * second,
  },
  /** Looks before it acts, so a repeat is harmless. */
  converge: {
    startToCloseMs: 5 * minute,
    scheduleToCloseMs: 15 * minute,
    heartbeatMs: 20 * second,
    retryMs: 2 * second,
    maxRetryMs: minute,
  },
  /** Doing it twice may harm: a second attempt only looks and goes on watching. */
  once: {
    startToCloseMs: 4 * hour,
    scheduleToCloseMs: 12 * hour,
    heartbeatMs: 30 * second,
    retryMs: 5 * second,
    maxRetryMs: 5 * minute,
  },
} as const satisfies Record<Effect, Profile>;

/** How long an act that waits for the world may wait, beyond what its profile allows. */
const patience: Readonly<Record<Patience, (timing: Timing) => number>> = {
  power: (timing) => timing.powerTimeoutMs,
  'soft power': (timing) => timing.softPowerTimeoutMs,
  start: () => 15 * minute, // a start with memory training and option ROMs
  job: () => 4 * hour,
};

/** Options for an act on a BMC. What the run froze at acceptance wins over today's defaults. */
export const onBmc = (act: ActName, effect: Effect, taskQueue: string, timing: Timing): ActivityOptions => {
  const profile: Profile = { ...profiles[effect], ...timing.limits?.[effect] };
  const wait = actRow(act).patience;
  const longestWait = wait === undefined ? 0 : patience[wait](timing) + minute;
  return {
    taskQueue,
    startToCloseTimeout: Math.max(profile.startToCloseMs, longestWait),
    scheduleToCloseTimeout: Math.max(profile.scheduleToCloseMs, 2 * longestWait),
    heartbeatTimeout: profile.heartbeatMs,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED', // the lock is not given up while a call may still be out
    retry: {
      initialInterval: profile.retryMs,
      backoffCoefficient: 2,
      maximumInterval: Math.max(profile.maxRetryMs, profile.retryMs),
    },
  };
};
