/** The second of two translators of errors: from the list to what Temporal retries, or does not. */
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { isTemperError } from '../model/errors';
import { maskText } from '../model/secrets';

// Longer texts would only fill histories.
const longest = 2_000;

const benign = new Set(['BmcLeaseHeld', 'BmcBusy']);
const waitsFor: Readonly<Record<string, number>> = { BmcLeaseHeld: 2_000 };

/** An error as the engine understands it: `type` is the code, retryable as its row says, no secret and no stack of ours in it. */
export const toFailure = (thrown: unknown): Error => {
  if (thrown instanceof CancelledFailure || thrown instanceof ApplicationFailure) return thrown;
  if (!isTemperError(thrown)) {
    const message = maskText(thrown instanceof Error ? thrown.message : String(thrown)).slice(0, longest);
    return ApplicationFailure.create({ message, type: 'Unexpected', nonRetryable: false });
  }
  const wait = typeof thrown.facts.retryAfterMs === 'number' ? thrown.facts.retryAfterMs : waitsFor[thrown.code];
  return ApplicationFailure.create({
    message: maskText(thrown.message).slice(0, longest),
    type: thrown.code,
    nonRetryable: !thrown.retry,
    ...(wait !== undefined && { nextRetryDelay: wait }),
    ...(benign.has(thrown.code) && { category: ApplicationFailureCategory.BENIGN }),
  });
};

/** An activity whose errors reach the engine translated. */
export const guarded =
  <In extends unknown[], Out>(work: (...input: In) => Promise<Out>) =>
  async (...input: In): Promise<Out> => {
    try {
      return await work(...input);
    } catch (thrown) {
      throw toFailure(thrown);
    }
  };
