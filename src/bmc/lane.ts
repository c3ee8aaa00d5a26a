/** Lanes: one write at a time per BMC within this process, in a bounded queue. */
import { raise } from '../model/errors';

export type Lanes = {
  /** Waits for every earlier call in the lane; a null key needs none. Throws the signal's reason if it aborts the wait. */
  run<T>(key: string | null, signal: AbortSignal, fn: () => Promise<T>): Promise<T>;
};

type Waiter = () => void;

/** If `limit` calls wait already, throws BmcLeaseHeld, which is retried. */
export const createLanes = (limit = 64): Lanes => {
  /** Waiting calls by key. A key is present while a call runs. */
  const lanes = new Map<string, Waiter[]>();

  const enter = async (key: string, signal: AbortSignal): Promise<void> => {
    const waiting = lanes.get(key);
    if (!waiting) {
      lanes.set(key, []);
      return;
    }
    if (waiting.length >= limit) raise('BmcLeaseHeld', { bmc: key });
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      const go = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      waiting.push(go);
      signal.addEventListener('abort', leave, { once: true });
    });
  };

  const leave = (key: string): void => {
    const next = lanes.get(key)?.shift();
    if (next) next();
    else lanes.delete(key);
  };

  return {
    async run(key, signal, fn) {
      signal.throwIfAborted();
      if (key === null) return fn();
      await enter(key, signal);
      try {
        signal.throwIfAborted();
        return await fn();
      } finally {
        leave(key);
      }
    },
  };
};
