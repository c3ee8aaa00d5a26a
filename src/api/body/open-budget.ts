/** Budget of unauthenticated bodies: limits in all and per address, and a deadline. */
import type { Request } from 'express';
import { raise } from '../../model/errors';
import { createTurnstile } from '../../model/turnstile';
import { senderOf } from '../server/proxies';

export type OpenBudget = {
  /** Bodies read and parsed at once. */
  readonly atOnce: number;
  /** Of these, from one address. */
  readonly ofOne: number;
  /** Deadline for a body's arrival, in ms. */
  readonly withinMs: number;
};

/** Enough for a thousand nodes at once: a ramdisk sends its body in milliseconds and retries after a 503. */
const openBudget: OpenBudget = { atOnce: 32, ofOne: 4, withinMs: 30_000 };

export type Spending = {
  /** Call before the body is read; throws TooManyAtOnce. @returns an idempotent release */
  spend(request: Request): () => void;
};

/** Counts per process. A sender past the deadline loses its connection and place. */
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
