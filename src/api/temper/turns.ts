/** Reading of what streams have missed: one page at a time for each caller, however many streams it has. */
import pLimit from 'p-limit';

const pagesAtOnce = 1;
const turnsOf = new Map<string, ReturnType<typeof pLimit>>();

/** @param caller key of who reads */
export const inTurn = async <T>(caller: string, read: () => Promise<T>): Promise<T> => {
  const turns = turnsOf.get(caller) ?? pLimit(pagesAtOnce);
  turnsOf.set(caller, turns);
  try {
    return await turns(read);
  } finally {
    if (turns.activeCount + turns.pendingCount === 0) turnsOf.delete(caller);
  }
};
