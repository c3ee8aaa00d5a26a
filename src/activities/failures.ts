/** Conversion of Temper errors to Temporal failures. */
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common';
import { maskSecrets, shownMessage } from '../model/access/secrets';
import { type Facts, isTemperError } from '../model/errors';

// Limits the size of histories.
const longestMessage = 2_000;
const longestFact = 500;

const benign = new Set(['BmcLeaseHeld', 'BmcBusy', 'BmcResting']);
const waitsFor: Readonly<Record<string, number>> = { BmcLeaseHeld: 2_000 };

/** Short texts, numbers and flags; nothing nested, no secrets. */
const plainFacts = (facts: Facts): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(maskSecrets(facts))
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([key, value]) => [key, typeof value === 'string' ? value.slice(0, longestFact) : value]),
  );

/**
 * `type` is the error code, and its row decides about retries. Secrets and stacks are removed.
 * `more` adds facts; its `attempt` is the number of attempts.
 */
export const toFailure = (thrown: unknown, more: Facts = {}): Error => {
  if (thrown instanceof CancelledFailure || thrown instanceof ApplicationFailure) return thrown;
  if (!isTemperError(thrown)) {
    const message = shownMessage(thrown, longestMessage);
    return ApplicationFailure.create({ message, type: 'Unexpected', nonRetryable: false, details: [plainFacts(more)] });
  }
  const wait = typeof thrown.facts.retryAfterMs === 'number' ? thrown.facts.retryAfterMs : waitsFor[thrown.code];
  return ApplicationFailure.create({
    message: shownMessage(thrown, longestMessage),
    type: thrown.code,
    details: [plainFacts({ ...thrown.facts, ...more })],
    nonRetryable: !thrown.retryAfter(typeof more.attempt === 'number' ? more.attempt : 1),
    ...(wait !== undefined && { nextRetryDelay: wait }),
    ...(benign.has(thrown.code) && { category: ApplicationFailureCategory.BENIGN }),
  });
};

export const guarded =
  <In extends unknown[], Out>(work: (...input: In) => Promise<Out>) =>
  async (...input: In): Promise<Out> => {
    try {
      return await work(...input);
    } catch (thrown) {
      throw toFailure(thrown);
    }
  };
