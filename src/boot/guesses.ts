/** URLs whose token leads nowhere: each is looked up once, and a sender has only so many of them looked up. */
import { LRUCache } from 'lru-cache';

const forMs = 60_000;
const mostKnown = 5_000;
/** A gateway with a thousand BMCs behind it, each of which asks on for the URL of a boot that is over. */
const usualMost = 1_000;

export type Guesses = {
  /** Whether a token need not be looked up: it led nowhere before, or its sender has made up too many. */
  isOne(sender: string, token: string): boolean;
  /** What a look-up came to. */
  note(sender: string, token: string, found: boolean): void;
};

/** @param most tokens of one sender that lead nowhere, in a minute */
export const createGuesses = (most = usualMost): Guesses => {
  const good = new LRUCache<string, true>({ max: mostKnown });
  const bad = new LRUCache<string, true>({ max: mostKnown, ttl: forMs });
  const senders = new LRUCache<string, { made: number }>({ max: mostKnown, ttl: forMs });
  return {
    // What was good is looked up again: a boot that is under way does not end for what others behind its gateway do.
    isOne: (sender, token) => !good.has(token) && (bad.has(token) || (senders.get(sender)?.made ?? 0) >= most),
    note(sender, token, found) {
      if (found) return void good.set(token, true);
      if (good.has(token) || bad.has(token)) return;
      bad.set(token, true);
      const its = senders.get(sender) ?? { made: 0 };
      its.made += 1;
      // The minute begins with the first one.
      if (its.made === 1) senders.set(sender, its);
    },
  };
};
