/** A request that finds its node held tries again for a little while: most runs on a node are over sooner than a client asks anew. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isTemperError } from '../../model/errors';

const firstPauseMs = 50;
const longestPauseMs = 400;

/**
 * Does the work, again while a node that it needs is held; a refusal as held has changed nothing.
 * Throws what the work throws, NodeLocked once the time is over.
 * @param withinMs no new attempt begins later than this; 0 for a single one
 */
export const patiently = async <T>(work: () => Promise<T>, withinMs: number): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 1.5, longestPauseMs)) {
    try {
      return await work();
    } catch (thrown) {
      if (!isTemperError(thrown, 'NodeLocked') || Date.now() + pause > deadline) throw thrown;
    }
    await sleep(pause);
  }
};
