/** Pauses that end at once when the activity must stop. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits so many milliseconds; throws the signal's reason when it aborts. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
};

/** Pauses between looks: the first, doubling up to eight times it. */
export const backOff = (firstMs: number): (() => number) => {
  let next = firstMs;
  return () => {
    const now = next;
    next = Math.min(next * 2, firstMs * 8);
    return now;
  };
};
