/** How each class of act is tried again; the one place where retries are decided. */
import type { ActivityOptions } from '@temporalio/workflow';
import type { Timing } from '../model/runs';
import type { Effect } from '../model/steps';

// Codes of model/errors.ts that no repeat can cure.
const final = [
  'BmcAuthFailed',
  'BmcUnsupported',
  'BmcRejected',
  'BmcTlsFailed',
  'BmcAddressRefused',
  'InvalidStepArgs',
  'StepRejected',
  'StepOutcomeUnknown',
  'StaleOperation',
  'DriverInfoInvalid',
];

/** Single statements on the store: repeated until it answers. */
export const onStore: ActivityOptions = {
  startToCloseTimeout: '10s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '30s', nonRetryableErrorTypes: final },
};

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

const profiles = {
  /** Only looks. Confirming a BIOS change waits through a whole start, hence the long limits. */
  read: {
    startToCloseMs: 15 * minute,
    scheduleToCloseMs: hour,
    heartbeatMs: 20 * second,
    retryMs: second,
    maxRetryMs: 30 * second,
  },
  /** Looks before it acts, so a repeat is harmless. */
  converge: {
    startToCloseMs: 15 * minute,
    scheduleToCloseMs: hour,
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

/** Options for an act on a BMC. What the run froze at acceptance wins over today's defaults. */
export const onBmc = (effect: Effect, taskQueue: string, timing: Timing): ActivityOptions => {
  const { startToCloseMs, scheduleToCloseMs, heartbeatMs, retryMs, maxRetryMs }: Profile = {
    ...profiles[effect],
    ...timing.limits?.[effect],
  };
  return {
    taskQueue,
    startToCloseTimeout: startToCloseMs,
    scheduleToCloseTimeout: scheduleToCloseMs,
    heartbeatTimeout: heartbeatMs,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED', // the lock is not given up while a call may still be out
    retry: {
      initialInterval: retryMs,
      backoffCoefficient: 2,
      maximumInterval: Math.max(maxRetryMs, retryMs),
      nonRetryableErrorTypes: final,
    },
  };
};
