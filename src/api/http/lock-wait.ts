/** A request that finds its node held tries again for a while: most runs on a node are over sooner than a client asks anew. */
import { setTimeout as pause } from 'node:timers/promises';
import { isTemperError, raise } from '../../model/errors';

const firstPauseMs = 50;
const longestLockPauseMs = 400;

/** How often a request is decided anew at once that lost a race for a row. */
const mostRaces = 2;

/**
 * Refuses a write that found another row than the one that it was decided by: the request is decided again at once, on what
 * the other writer left. Throws NodeLocked.
 */
export const lostLockRace = (node: string): never => raise('NodeLocked', { node, raced: true });

const isRace = (thrown: unknown): boolean => isTemperError(thrown, 'NodeLocked') && thrown.facts.raced === true;

/**
 * Does the work, again while a node that it needs is held; a refusal as held has changed nothing. The only place where
 * that is tried again.
 * Throws what the work throws, NodeLocked once the time is over.
 * @param withinMs no new attempt for a held node begins later than this; 0 for a single one
 */
export const waitForLock = async <T>(work: () => Promise<T>, withinMs: number): Promise<T> => {
  const deadline = performance.now() + withinMs;
  let races = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestLockPauseMs)) {
    try {
      return await work();
    } catch (thrown) {
      if (!isTemperError(thrown, 'NodeLocked')) throw thrown;
      if (isRace(thrown) && races++ < mostRaces) continue;
      if (performance.now() + pauseMs > deadline) throw thrown;
    }
    await pause(pauseMs);
  }
};
