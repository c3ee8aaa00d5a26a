/** Limits reads of missed events to one page at a time per caller. */
import pLimit from 'p-limit';

const pagesAtOnce = 1;
const turnsOf = new Map<string, ReturnType<typeof pLimit>>();

/** @param caller key of the reader */
export const inTurn = async <T>(caller: string, read: () => Promise<T>): Promise<T> => {
  const turns = turnsOf.get(caller) ?? pLimit(pagesAtOnce);
  turnsOf.set(caller, turns);
  try {
    return await turns(read);
  } finally {
    if (turns.activeCount + turns.pendingCount === 0) turnsOf.delete(caller);
  }
};
