/** Timeouts and retries by class of act. Permanent failures are marked by their row of model/errors.ts (activities/failures.ts). */
import type { ActivityOptions, LocalActivityOptions } from '@temporalio/workflow';
import { type ActName, type ActTimeout, actRow, type Effect } from '../model/lifecycle/steps';
import type { Timing } from '../model/runs/runs';

/** Single statements on PostgreSQL, retried until they succeed. */
export const onStore: Pick<ActivityOptions, 'startToCloseTimeout' | 'retry'> = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s' },
};

/** In the workflow task; longer outages of PostgreSQL use Temporal's timers. */
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

// A BMC that is silent for longer than `scheduleToCloseMs` fails the run.
const profiles = {
  read: {
    startToCloseMs: 90 * second,
    scheduleToCloseMs: 5 * minute,
    heartbeatMs: 20 * second,
    retryMs: second,
    maxRetryMs: 30 * second,
  },
  /** Reads before it acts, so repeats are idempotent. */
  converge: {
    startToCloseMs: 5 * minute,
    scheduleToCloseMs: 15 * minute,
    heartbeatMs: 20 * second,
    retryMs: 2 * second,
    maxRetryMs: minute,
  },
  /** A second attempt only reads and watches, because a repeat may do harm. */
  once: {
    startToCloseMs: 4 * hour,
    scheduleToCloseMs: 12 * hour,
    heartbeatMs: 30 * second,
    retryMs: 5 * second,
    maxRetryMs: 5 * minute,
  },
} as const satisfies Record<Effect, Profile>;

/** Extra time for an act that waits for hardware. */
const timeout: Readonly<Record<ActTimeout, (timing: Timing) => number>> = {
  power: (timing) => timing.powerTimeoutMs,
  'soft power': (timing) => timing.softPowerTimeoutMs,
  start: () => 15 * minute, // a start with memory training and option ROMs
  job: () => 4 * hour,
};

/** Limits recorded at acceptance override the defaults. */
export const onBmc = (act: ActName, effect: Effect, taskQueue: string, timing: Timing): ActivityOptions => {
  const profile: Profile = { ...profiles[effect], ...timing.limits?.[effect] };
  const wait = actRow(act).timeout;
  const longestWait = wait === undefined ? 0 : timeout[wait](timing) + minute;
  return {
    taskQueue,
    startToCloseTimeout: Math.max(profile.startToCloseMs, longestWait),
    scheduleToCloseTimeout: Math.max(profile.scheduleToCloseMs, 2 * longestWait),
    heartbeatTimeout: profile.heartbeatMs,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED', // hold the lock while a call may be under way
    retry: {
      initialInterval: profile.retryMs,
      backoffCoefficient: 2,
      maximumInterval: Math.max(profile.maxRetryMs, profile.retryMs),
    },
  };
};
