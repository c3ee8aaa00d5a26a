/** Bounds look-ups of invalid tokens: one per token, and a limit per sender. */
import { LRUCache } from 'lru-cache';

const forMs = 60_000;
const mostKnown = 5_000;
/** A thousand BMCs behind one gateway may still request URLs of ended boots. */
const usualMost = 1_000;

export type Guesses = {
  /** True if a token needs no look-up: known invalid, or its sender is over the limit. */
  isOne(sender: string, token: string): boolean;
  note(sender: string, token: string, found: boolean): void;
};

/** @param most invalid tokens per sender and minute */
export const createGuesses = (most = usualMost): Guesses => {
  const good = new LRUCache<string, true>({ max: mostKnown });
  const bad = new LRUCache<string, true>({ max: mostKnown, ttl: forMs });
  const senders = new LRUCache<string, { made: number }>({ max: mostKnown, ttl: forMs });
  return {
    // Valid tokens are always looked up: others behind the same gateway must not end a running boot.
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
