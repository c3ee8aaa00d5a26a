/** Lets each caller have one piece of work at a time: a page of missed events, a change of many nodes. */
import pLimit from 'p-limit';

const atOnce = 1;

/**
 * Kinds of work have turns of their own.
 * @param admit throws if too many pieces of the caller's work wait
 */
export const createTurns = (admit: (waiting: number) => void = () => {}) => {
  const turnsOf = new Map<string, ReturnType<typeof pLimit>>();
  /** @param caller key of the caller */
  return async <T>(caller: string, work: () => Promise<T>): Promise<T> => {
    const turns = turnsOf.get(caller) ?? pLimit(atOnce);
    admit(turns.pendingCount);
    turnsOf.set(caller, turns);
    try {
      return await turns(work);
    } finally {
      if (turns.activeCount + turns.pendingCount === 0) turnsOf.delete(caller);
    }
  };
};

export const inTurn = createTurns();
