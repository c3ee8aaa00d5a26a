/** Slots of one worker for concurrent power probes. Each is free when its own probe ends. */
import { once } from 'node:events';

export type LookPlaces = {
  free(): number;
  /** Starts a probe, unless one of this node is running. `look` never throws. */
  take(node: string, look: () => Promise<void>): void;
  /** Waits until this many are free, or the signal aborts. */
  someFree(wanted: number, signal: AbortSignal): Promise<void>;
  /** Waits for the end of all running probes. */
  ended(): Promise<void>;
};

export const createLookPlaces = (most: number): LookPlaces => {
  const taken = new Map<string, Promise<void>>();
  const left = new EventTarget();
  const free = () => most - taken.size;

  const begin = async (node: string, look: () => Promise<void>): Promise<void> => {
    await look();
    taken.delete(node);
    left.dispatchEvent(new Event('left'));
  };

  return {
    free,
    take(node, look) {
      if (!taken.has(node)) taken.set(node, begin(node, look));
    },
    async someFree(wanted, signal) {
      while (free() < wanted && !signal.aborted) await once(left, 'left', { signal }).catch(() => {});
    },
    async ended() {
      await Promise.all(taken.values());
    },
  };
};
