/** What a thrown error is to a story: a code of the list, and a text for people. */
import { ApplicationFailure, rootCause } from '@temporalio/workflow';

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

/** Why, in the words of what failed first. */
export const messageOf = (thrown: unknown): string => (rootCause(thrown) ?? String(thrown)).slice(0, 2_000);
