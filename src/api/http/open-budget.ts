/** How much of what unauthenticated senders send is read at once: a budget of bodies for all, one for each address, and a deadline. */
import type { Request } from 'express';
import { raise } from '../../model/errors';
import { createTurnstile } from '../../model/turnstile';
import { senderOf } from './proxies';

export type OpenBudget = {
  /** Bodies that are read and parsed at once. */
  readonly atOnce: number;
  /** Of these, of one address. */
  readonly ofOne: number;
  /** How long one may take to arrive, in ms. */
  readonly withinMs: number;
};

/** Enough for a thousand nodes that start together: a ramdisk sends its body in milliseconds, and again after a 503. */
const openBudget: OpenBudget = { atOnce: 32, ofOne: 4, withinMs: 30_000 };

export type Spending = {
  /** Takes a place before the body is read; throws TooManyAtOnce. @returns what gives it back, harmless to repeat */
  spend(request: Request): () => void;
};

/** Counts in this process's memory. A sender that is too slow loses its connection, and with it its place. */
export const createOpenBudget = ({ atOnce, ofOne, withinMs }: OpenBudget = openBudget): Spending => {
  const senders = createTurnstile(ofOne);
  let all = 0;
  return {
    spend(request) {
      const address = senderOf(request);
      if (all >= atOnce || !senders.enter(address)) raise('TooManyAtOnce');
      all += 1;
      const late = setTimeout(() => request.destroy(), withinMs);
      let given = false;
      return () => {
        clearTimeout(late);
        if (given) return;
        given = true;
        all -= 1;
        senders.leave(address);
      };
    },
  };
};
