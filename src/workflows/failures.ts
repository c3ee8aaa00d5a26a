/** What a thrown error is to a workflow: a code of the list, and a text for people. */
import { ActivityFailure, ApplicationFailure, rootCause, TimeoutFailure } from '@temporalio/workflow';

/** The code an activity failed with; `Timeout` where the engine gave up; undefined for anything else, a bug of ours included. */
export const codeOf = (thrown: unknown): string | undefined => {
  const cause = causeOf(thrown);
  if (cause instanceof ApplicationFailure) return cause.type ?? 'Unexpected';
  return cause instanceof Error && cause.name === 'TimeoutFailure' ? 'Timeout' : undefined;
};

/** Codes of acts that are held back for now: by an operator's freeze of the node, or by a recovery of all nodes. */
const heldBackBy: readonly (string | undefined)[] = ['NodeFrozen', 'RecoveryPending'];

/** Whether an act did not fail, but waits until it may go on. */
export const isHeldBack = (thrown: unknown): boolean => heldBackBy.includes(codeOf(thrown));

// Activity failures wrap what happened; timeouts carry the last failure within.
const causeOf = (thrown: unknown): unknown => {
  let cause = thrown;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause;
};

/** What was being tried when a run failed, for its text. */
export type Trying = {
  /** The step and what its act does: `deploy.write_image (write the image to the disk)`. */
  readonly what: string;
  /** How long all attempts together might take, in milliseconds. */
  readonly limitMs: number;
};

// In our words: the engine's own texts speak of its timers, which say nothing to an operator of nodes.
const reasons: Readonly<Record<string, string>> = {
  HEARTBEAT: 'the worker that carried it out gave no more sign of life',
  START_TO_CLOSE: 'the last attempt took longer than one may',
};
const noWorker = 'no worker took it up, or none finished it';

type Sign = Readonly<Record<string, unknown>>;
const signOf = ({ lastHeartbeatDetails }: TimeoutFailure): Sign =>
  typeof lastHeartbeatDetails === 'object' && lastHeartbeatDetails !== null ? (lastHeartbeatDetails as Sign) : {};

/** Time was up: what the act said of itself last, or how its last attempt ended. */
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

/** How often and until when, where the engine tried until no time was left. */
const effort = (thrown: unknown, { limitMs }: Trying): string | undefined => {
  if (!(thrown instanceof ActivityFailure) || thrown.retryState !== 'TIMEOUT') return undefined;
  const times = attemptsOf(causeOf(thrown));
  const often = times === undefined ? 'Tried' : times === 1 ? 'Tried once' : `Tried ${times} times`;
  return `${often} in ${durationOf(limitMs)}, until ${new Date().toISOString().slice(0, 19)}Z.`;
};

/**
 * Why, in the words of what failed first; where time ran out, in those of the last sign of life. Never in the engine's.
 * @param trying what the run was doing, so that the text says how often and until when it was tried
 */
export const messageOf = (thrown: unknown, trying?: Trying): string => {
  const cause = causeOf(thrown);
  const why = cause instanceof TimeoutFailure ? wordsOf(cause, trying) : (rootCause(thrown) ?? String(thrown));
  const more = trying && effort(thrown, trying);
  return (more ? `${why} ${more}` : why).slice(0, 2_000);
};
