/** Error codes of failures in workflows, and texts for operators. */
import { ActivityFailure, ApplicationFailure, rootCause, TimeoutFailure } from '@temporalio/workflow';

/** Code of a failed activity; `Timeout` if Temporal gave up; undefined for a bug or anything else. */
export const codeOf = (thrown: unknown): string | undefined => {
  const cause = causeOf(thrown);
  if (cause instanceof ApplicationFailure) return cause.type ?? 'Unexpected';
  return cause instanceof Error && cause.name === 'TimeoutFailure' ? 'Timeout' : undefined;
};

const heldBackBy: readonly (string | undefined)[] = ['NodeFrozen', 'RecoveryPending'];

/** The act did not fail; it waits for the end of a freeze or recovery. */
export const isHeldBack = (thrown: unknown): boolean => heldBackBy.includes(codeOf(thrown));

// Activity failures wrap the cause, timeouts the last failure.
const causeOf = (thrown: unknown): unknown => {
  let cause = thrown;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause;
};

export type Trying = {
  /** For example `deploy.write_image (write the image to the disk)`. */
  readonly what: string;
  /** For all attempts together. */
  readonly limitMs: number;
};

// Temporal's own texts name its timers, which mean nothing to operators.
const reasons: Readonly<Record<string, string>> = {
  HEARTBEAT: 'the worker that carried it out gave no more sign of life',
  START_TO_CLOSE: 'the last attempt took longer than one may',
};
const noWorker = 'no worker took it up, or none finished it';

type Sign = Readonly<Record<string, unknown>>;
const signOf = ({ lastHeartbeatDetails }: TimeoutFailure): Sign =>
  typeof lastHeartbeatDetails === 'object' && lastHeartbeatDetails !== null ? (lastHeartbeatDetails as Sign) : {};

/** The act's last heartbeat, or how its last attempt ended. */
const wordsOf = (timeout: TimeoutFailure, trying: Trying | undefined): string => {
  const { what, doing, seen, state } = signOf(timeout);
  const last = seen ?? state;
  if (typeof what === 'string')
    return `Time was up at: ${what}${doing ? ` (${doing})` : ''}${last ? `; last seen: ${last}` : ''}.`;
  return `Time was up${trying ? ` for ${trying.what}` : ''}: ${reasons[String(timeout.timeoutType)] ?? noWorker}.`;
};

const attemptsOf = (cause: unknown): number | undefined => {
  const said =
    cause instanceof TimeoutFailure ? signOf(cause) : cause instanceof ApplicationFailure ? cause.details?.[0] : null;
  const attempt = (said as Sign | null | undefined)?.attempt;
  return typeof attempt === 'number' ? attempt : undefined;
};

const durationOf = (ms: number): string =>
  ms >= 2 * 60_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1_000)} s`;

/** Undefined unless Temporal retried until the timeout. */
const effort = (thrown: unknown, { limitMs }: Trying): string | undefined => {
  if (!(thrown instanceof ActivityFailure) || thrown.retryState !== 'TIMEOUT') return undefined;
  const times = attemptsOf(causeOf(thrown));
  const often = times === undefined ? 'Tried' : times === 1 ? 'Tried once' : `Tried ${times} times`;
  return `${often} in ${durationOf(limitMs)}, until ${new Date().toISOString().slice(0, 19)}Z.`;
};

/**
 * Text of the first cause, or of the last heartbeat after a timeout; never Temporal's texts.
 * @param trying adds number and duration of the attempts
 */
export const messageOf = (thrown: unknown, trying?: Trying): string => {
  const cause = causeOf(thrown);
  const why = cause instanceof TimeoutFailure ? wordsOf(cause, trying) : (rootCause(thrown) ?? String(thrown));
  const more = trying && effort(thrown, trying);
  return (more ? `${why} ${more}` : why).slice(0, 2_000);
};
