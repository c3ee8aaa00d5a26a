/**
 * Requests of one minute, counted in the first of several processes for all of them. The library's own store for node:cluster
 * (@express-rate-limit/cluster-memory-store 0.3.1) answers with a count that later requests have moved by then: of 30 at once none
 * was admitted where 7 should be.
 */
import type { Worker } from 'node:cluster';
import type { Options, Store } from 'express-rate-limit';
import { RequestCounts } from '../../api/http/request-counts';

/** A request that was counted under a key of a name. */
type Hit = { readonly hit: number; readonly name: string; readonly key: string; readonly windowMs: number };
type Count = { readonly count: number; readonly totalHits: number; readonly resetsAt: number };

const isHit = (message: unknown): message is Hit => typeof message === 'object' && message !== null && 'hit' in message;
const isCount = (message: unknown): message is Count =>
  typeof message === 'object' && message !== null && 'count' in message;

/** The first process's part: `serve` counts for one of the others. */
export const createCounts = () => {
  const stores = new Map<string, RequestCounts>();
  const storeOf = ({ name, windowMs }: Hit): RequestCounts => {
    const known = stores.get(name);
    if (known) return known;
    const store = new RequestCounts();
    store.init({ windowMs } as Options);
    stores.set(name, store);
    return store;
  };
  return {
    serve(worker: Worker): void {
      worker.on('message', async (message: unknown) => {
        if (!isHit(message)) return;
        const { totalHits, resetTime } = await storeOf(message).increment(message.key);
        const answer: Count = { count: message.hit, totalHits, resetsAt: resetTime!.getTime() };
        worker.process.send(answer, undefined, undefined, () => {});
      });
    },
  };
};

const waiting = new Map<number, (count: Count) => void>();
let hits = 0;

const takeCount = (message: unknown): void => {
  if (!isCount(message)) return;
  waiting.get(message.count)?.(message);
  waiting.delete(message.count);
};

/** The others' part: a store that the first process counts for. @param name of what is counted */
export const countedTogether = (name: string): Store => {
  let windowMs = 0;
  if (!process.listeners('message').includes(takeCount)) process.on('message', takeCount);
  return {
    init: (options) => {
      ({ windowMs } = options);
    },
    increment: (key) =>
      new Promise((done, fail) => {
        hits += 1;
        const hit: Hit = { hit: hits, name, key, windowMs };
        waiting.set(hits, ({ totalHits, resetsAt }) => done({ totalHits, resetTime: new Date(resetsAt) }));
        process.send!(hit, undefined, undefined, (error) => {
          if (!error) return;
          waiting.delete(hit.hit);
          fail(error);
        });
      }),
    // A request is counted once and for good.
    decrement: () => {},
    resetKey: () => {},
  };
};
