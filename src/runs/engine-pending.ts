/** What Temporal knows of a run's activities under way, in the terms of the API. */
import type { Client } from '@temporalio/client';
import type { LiveRun } from './contract';

type Described = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['describe']>>['raw'];

type Failure = { message?: string | null; timeoutFailureInfo?: unknown; cause?: Failure | null } | null | undefined;

/** The last attempt's failure in words of ours: the engine's timers say nothing to an operator of nodes. */
const lastErrorOf = (failure: Failure): string | null => {
  if (!failure?.timeoutFailureInfo) return failure?.message ?? null;
  return failure.cause?.message ?? 'The worker that carried out the last attempt gave no more sign of life.';
};

/** Its activities that have not ended, from a workflow's description. */
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
    return null; // encoded by a payload codec: not ours to read here
  }
};
