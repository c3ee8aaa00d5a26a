/** Slots for concurrent power probes. Each is free when its own probe ends. */
import { once } from 'node:events';

export type LookPlaces = {
  free(): number;
  /** No effect while a probe of this node runs. `look` never throws. */
  take(node: string, look: () => Promise<void>): void;
  /** Returns early if the signal aborts. */
  someFree(wanted: number, signal: AbortSignal): Promise<void>;
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
