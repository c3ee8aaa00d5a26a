/** Limits for Idempotency-Key: keys of a caller and size of a stored answer. */
import { LRUCache } from 'lru-cache';
import type { KeptAnswer } from '../../inventory/idempotency';
import { raise } from '../../model/errors';
import type { ApiContext } from '../context';
import type { Answer } from '../server/route';

/** Largest legitimate use: 10,000 nodes enrolled and deployed in a day, seven keys each, with answers of 4 KiB. */
export const mostKeys = 100_000;
/** Largest legitimate use: the resource of a 1 MiB body, with all defaults. */
export const mostKeptBytes = 4 * 1024 * 1024;

const callersKnown = 10_000;
const countedForMs = 60_000;
const retryAfterS = 60;

const answerText = ({ text, body }: Answer): string | null =>
  text ?? (body === undefined ? null : JSON.stringify(body));

/** A large answer keeps status and headers: a repeat still gets the Location. */
export const keptAnswer = (answer: Answer): KeptAnswer => {
  const { status, headers = {} } = answer;
  const text = answerText(answer);
  return { status, headers, body: text !== null && Buffer.byteLength(text) > mostKeptBytes ? null : text };
};

/** Each process counts a caller's keys once a minute, to keep requests cheap. */
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
  /** Throws TooManyKeys. */
  return async (caller: Buffer, key: string): Promise<void> => {
    const counted = await countOf(caller);
    if (counted.keys >= mostKeys && !(await inventory.idempotency.holds(caller, key)))
      raise('TooManyKeys', { limit: mostKeys, seconds: retryAfterS });
    counted.keys++;
  };
};
