/** Retries a request while its node is locked: most locks end sooner than a client retries. */
import { setTimeout as pause } from 'node:timers/promises';
import { type ErrorCode, isTemperError, raise } from '../../model/errors';

const lockErrors: readonly ErrorCode[] = ['NodeLocked', 'NodeLockedByRun'];
const firstPauseMs = 50;
const longestLockPauseMs = 400;

/** Most immediate retries after lost races. */
const mostRaces = 2;

/** The row changed after the decision: `waitForLock` repeats the request at once, on the new row. Throws NodeLocked. */
export const lostLockRace = (node: string): never => raise('NodeLocked', { node, raced: true });

const isRace = (thrown: unknown): boolean => isTemperError(thrown, 'NodeLocked') && thrown.facts.raced === true;

/**
 * Only this function retries errors of locks, which have changed nothing. Throws the errors of the work, and those of locks after the
 * time.
 * @param withinMs latest start of a new attempt; 0 for a single attempt
 */
export const waitForLock = async <T>(work: () => Promise<T>, withinMs: number): Promise<T> => {
  const deadline = performance.now() + withinMs;
  let races = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestLockPauseMs)) {
    try {
      return await work();
    } catch (thrown) {
      if (!isTemperError(thrown) || !lockErrors.includes(thrown.code)) throw thrown;
      if (isRace(thrown) && races++ < mostRaces) continue;
      if (performance.now() + pauseMs > deadline) throw thrown;
    }
    await pause(pauseMs);
  }
};
