/** How much is kept for requests with an Idempotency-Key: of one caller, and of one answer. */
import { LRUCache } from 'lru-cache';
import type { KeptAnswer } from '../../inventory/idempotency';
import { raise } from '../../model/errors';
import type { ApiContext } from '../context';
import type { Answer } from './route';

/** Largest honest use: 10,000 nodes that are enrolled and deployed in a day, with seven keys each, whose answers have 4 KiB. */
export const mostKeys = 100_000;
/** Largest honest use: what a body of 1 MiB made, written out with all that it was given by default. */
export const mostKeptBytes = 4 * 1024 * 1024;

const callersKnown = 10_000;
const countedForMs = 60_000;
const retryAfterS = 60;

const textOf = ({ text, body }: Answer): string | null => text ?? (body === undefined ? null : JSON.stringify(body));

/** Of an answer that is too large its status and headers, so that a repeat still learns where the work is to be seen. */
export const keptAnswer = (answer: Answer): KeptAnswer => {
  const { status, headers = {} } = answer;
  const text = textOf(answer);
  return { status, headers, body: text !== null && Buffer.byteLength(text) > mostKeptBytes ? null : text };
};

/** Keys of a caller are counted once a minute by each process, so that the count costs requests little. */
export const createKeyRoom = ({ inventory }: Pick<ApiContext, 'inventory'>) => {
  const counts = new LRUCache<string, { keys: number }>({ max: callersKnown, ttl: countedForMs });
  const countOf = async (caller: Buffer): Promise<{ keys: number }> => {
    const name = caller.toString('hex');
    const known = counts.get(name);
    if (known) return known;
    const counted = { keys: await inventory.idempotency.count(caller, mostKeys) };
    counts.set(name, counted);
    return counted;
  };
  /** Before a key is taken that this caller does not hold yet. Throws TooManyKeys. */
  return async (caller: Buffer, key: string): Promise<void> => {
    const counted = await countOf(caller);
    if (counted.keys >= mostKeys && !(await inventory.idempotency.holds(caller, key)))
      raise('TooManyKeys', { limit: mostKeys, seconds: retryAfterS });
    counted.keys++;
  };
};
