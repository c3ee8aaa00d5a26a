/** Pauses that end when the activity must stop. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Throws the signal's reason when it aborts. */
export const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  signal.throwIfAborted();
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
};

/** Pauses that double, up to eight times the first. */
export const backOff = (firstMs: number): (() => number) => {
  let next = firstMs;
  return () => {
    const now = next;
    next = Math.min(next * 2, firstMs * 8);
    return now;
  };
};
