/** Pending activities of a run in the API's terms. */
import type { Client } from '@temporalio/client';
import type { LiveRun } from './contract';

type Described = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['describe']>>['raw'];

type Failure = { message?: string | null; timeoutFailureInfo?: unknown; cause?: Failure | null } | null | undefined;

/** A timeout gets its own text, because Temporal's timer names mean nothing to operators. */
const lastErrorOf = (failure: Failure): string | null => {
  if (!failure?.timeoutFailureInfo) return failure?.message ?? null;
  return failure.cause?.message ?? 'The worker that carried out the last attempt gave no more sign of life.';
};

export const pendingOf = (raw: Described): NonNullable<LiveRun['pending']> =>
  (raw.pendingActivities ?? []).map((activity) => ({
    activity: activity.activityId ?? '',
    attempt: activity.attempt ?? 1,
    last_error: lastErrorOf(activity.lastFailure),
    next_retry_at: isoOf(activity.nextAttemptScheduleTime ?? (activity.state === 1 ? activity.scheduledTime : null)),
    last_heartbeat_at: isoOf(activity.lastHeartbeatTime),
    heartbeat: heartbeatOf(activity.heartbeatDetails),
    paused: activity.paused ?? false,
  }));

type Stamp = { seconds?: unknown; nanos?: number | null } | null | undefined;
const isoOf = (time: Stamp): string | null =>
  time?.seconds === undefined || time.seconds === null
    ? null
    : new Date(Number(time.seconds) * 1_000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString();

const heartbeatOf = (details: { payloads?: { data?: Uint8Array | null }[] | null } | null | undefined): unknown => {
  const data = details?.payloads?.[0]?.data;
  if (!data) return null;
  try {
    return JSON.parse(Buffer.from(data).toString('utf8'));
  } catch {
    return null; // encoded by a payload codec
  }
};
