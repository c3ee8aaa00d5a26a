/** Limits look-ups of invalid tokens: one look-up per token, and a bounded number per sender. */
import { LRUCache } from 'lru-cache';

const forMs = 60_000;
const mostKnown = 5_000;
/** Enough for a gateway with a thousand BMCs, if each still requests the URL of an ended boot. */
const usualMost = 1_000;

export type Guesses = {
  /** True if a token needs no look-up: it was invalid before, or its sender has reached its limit. */
  isOne(sender: string, token: string): boolean;
  /** Records the result of a look-up. */
  note(sender: string, token: string, found: boolean): void;
};

/** @param most invalid tokens per sender and minute */
export const createGuesses = (most = usualMost): Guesses => {
  const good = new LRUCache<string, true>({ max: mostKnown });
  const bad = new LRUCache<string, true>({ max: mostKnown, ttl: forMs });
  const senders = new LRUCache<string, { made: number }>({ max: mostKnown, ttl: forMs });
  return {
    // Valid tokens are always looked up: a running boot must not fail because of others behind the same gateway.
    isOne: (sender, token) => !good.has(token) && (bad.has(token) || (senders.get(sender)?.made ?? 0) >= most),
    note(sender, token, found) {
      if (found) return void good.set(token, true);
      if (good.has(token) || bad.has(token)) return;
      bad.set(token, true);
      const its = senders.get(sender) ?? { made: 0 };
      its.made += 1;
      // The minute starts with the first invalid token.
      if (its.made === 1) senders.set(sender, its);
    },
  };
};
