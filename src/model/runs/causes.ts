/** Causes of failed runs: a closed list, each with the error codes that lead to it. */
import type { ErrorCode } from '../errors';

/** The workflow's own code, for a ramdisk that did not call in time. */
export const ramdiskSilent = 'AgentTimeout';
export type CauseCode = ErrorCode | typeof ramdiskSilent;

type CauseRow = { readonly says: string; readonly codes: readonly CauseCode[] };

export const causes = {
  bmc_silent: {
    says: 'The BMC did not answer.',
    codes: ['BmcUnreachable', 'BmcResting', 'BmcLeaseHeld'],
  },
  bmc_access: {
    says: 'The BMC refused credentials, or its certificate, address or system is not the recorded one.',
    codes: ['BmcAuthFailed', 'BmcTlsFailed', 'BmcWrongSystem', 'BmcAddressRefused', 'DriverInfoInvalid'],
  },
  bmc_error: {
    says: 'The BMC answered with a server error, or was busy.',
    codes: ['BmcServerError', 'BmcBusy'],
  },
  bmc_refused: {
    says: 'The BMC refused the command, or does not offer it.',
    codes: ['BmcRejected', 'BmcUnsupported', 'StepRejected', 'InvalidStepArgs', 'DriverUnsupported', 'SubscriptionNotFound'],
  },
  no_effect: {
    says: 'The BMC accepted the command, and the node did not reach the state in time.',
    codes: ['BmcTimeout', 'BmcStuck', 'CommandLate'],
  },
  job_failed: {
    says: 'A job of the BMC failed, or did not end.',
    codes: ['BmcJobFailed', 'BmcJobEndless'],
  },
  effect_unknown: {
    says: 'Whether the command took effect cannot be known.',
    codes: ['StepOutcomeUnknown'],
  },
  ramdisk_silent: {
    says: 'The ramdisk did not call in time, did not answer or disappeared.',
    codes: [ramdiskSilent, 'AgentUnreachable', 'AgentGone'],
  },
  ramdisk_error: {
    says: 'The ramdisk refused, failed, or was not the one that was booted.',
    codes: ['AgentServerError', 'AgentBusy', 'AgentRejected', 'AgentAuthFailed', 'AgentTlsFailed', 'AgentAddressRefused', 'RamdiskConflict'],
  },
  image: {
    says: 'An image, a ramdisk or the source of one was missing or refused.',
    codes: ['OriginRefused', 'ImageNotFound', 'ImageNotServed', 'RamdiskNotFound', 'RamdiskNotServed', 'InstanceInfoInvalid', 'NetworkDataRefused'],
  },
  installation: {
    says: 'Temper, its database, Temporal or a worker did not do its part.',
    codes: ['Unexpected', 'StoreUnavailable', 'StoreContended', 'EngineUnavailable', 'ProgramMissing', 'NoWorker'],
  },
} as const satisfies Readonly<Record<string, CauseRow>>; // biome-ignore format: one row of codes

/** `aborted`: by a caller. `no_attempt`: no attempt of its last step failed with a code. `other`: a code without a row. */
export const causeNames = [
  ...(Object.keys(causes) as (keyof typeof causes)[]),
  'aborted',
  'no_attempt',
  'other',
] as const;
export type Cause = (typeof causeNames)[number];

/** One pair for each code. */
export const causesByCode: readonly (readonly [code: CauseCode, cause: Cause])[] = Object.entries(causes).flatMap(
  ([cause, { codes }]) => codes.map((code) => [code, cause as Cause] as const),
);
