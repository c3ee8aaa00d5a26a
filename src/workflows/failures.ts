/** What a thrown error is to a story: a code of the list, and a text for people. */
import { ApplicationFailure, rootCause, TimeoutFailure } from '@temporalio/workflow';

/** The code an activity failed with; `Timeout` where the engine gave up; undefined for anything else, a bug of ours included. */
export const codeOf = (thrown: unknown): string | undefined => {
  const cause = causeOf(thrown);
  if (cause instanceof ApplicationFailure) return cause.type ?? 'Unexpected';
  return cause instanceof Error && cause.name === 'TimeoutFailure' ? 'Timeout' : undefined;
};

// Activity failures wrap what happened; timeouts carry the last failure within.
const causeOf = (thrown: unknown): unknown => {
  let cause = thrown;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause;
};

/** What an act last said of itself; undefined where it said nothing that tells a person more than the engine does. */
const lastSign = (thrown: unknown): string | undefined => {
  if (!(thrown instanceof TimeoutFailure)) return undefined;
  const { what, doing, seen, state } = (thrown.lastHeartbeatDetails ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof what !== 'string') return undefined;
  const last = seen ?? state;
  return `Time was up at: ${what}${doing ? ` (${doing})` : ''}${last ? `; last seen: ${last}` : ''}.`;
};

/** Why, in the words of what failed first; where time ran out, in those of the last sign of life. */
export const messageOf = (thrown: unknown): string =>
  (lastSign(causeOf(thrown)) ?? rootCause(thrown) ?? String(thrown)).slice(0, 2_000);
