/** The places of one worker for looks at power: each is free again when its look has ended, whatever the others do. */
import { once } from 'node:events';

export type LookPlaces = {
  free(): number;
  /** Begins a look at a node; does nothing while one at the same node lasts. `look` never throws. */
  take(node: string, look: () => Promise<void>): void;
  /** Waits until so many places are free, or the signal aborts. */
  someFree(wanted: number, signal: AbortSignal): Promise<void>;
  /** Waits for the end of all looks that were begun. */
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
