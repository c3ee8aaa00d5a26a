/** Answers that a session keeps for seconds, because they count much: reports of runs, and all nodes of a large fleet. */
import { LRUCache } from 'lru-cache';
import { askedRules } from '../parts/acts';
import { ApiAway, addressWith, type PageQuery } from './api';
import type { PageContext } from './context';

/** A withdrawn right is not outlived: an answer is kept only while these rules answer the caller alike. */
const countingRules = ['baremetal:node:list', 'baremetal:node:list_all', 'baremetal:node:get', 'temper:run:get', 'temper:acknowledgement:get']; // biome-ignore format: one row

type Kept = { readonly rights: string; readonly found: object | undefined };

const reportsAtMost = 1_000;
const reportsMs = 60_000;
const countsAtMost = 1_000;
const countsMs = 10_000;

/** By session, because the API counts for each caller other things. Pages that ask at once share a question. */
const kept = new LRUCache<string, Promise<Kept>>({ max: reportsAtMost, ttl: reportsMs });
const counted = new LRUCache<string, Kept>({ max: countsAtMost, ttl: countsMs });

/** A report is not worth a page: an API that is slow with it alone leaves it out. */
const unlessAway = (thrown: unknown): undefined => {
  if (!(thrown instanceof ApiAway)) throw thrown;
};

export type Remembered = {
  /** Undefined on 403 and 404, and if the report takes too long. Throws ApiRefusal (401, 5xx). */
  report<Body extends object>(path: string, query: PageQuery): Promise<Body | undefined>;
  /** Undefined on 403 and 404. Throws as get. */
  find<Body extends object>(path: string, query?: PageQuery): Promise<Body | undefined>;
  /** A count was some seconds old: the page then fetches its part at once. */
  readonly isOld: boolean;
  /** Keeps the counts for the next load of the page. */
  keep(): void;
};

type RememberingContext = Pick<PageContext, 'api' | 'session' | 'partial'>;

/**
 * Counting 100,000 nodes takes the database longer than a page may take. A page that loads shows the last counts, and its part asks again, as
 * it does after each event.
 */
export const rememberedBy = ({ api, session, partial }: RememberingContext): Remembered => {
  const asks = countingRules.map((rule) => ({ rule }));
  const rights = askedRules(api, asks).then((answers) => JSON.stringify([...answers.values()].map(({ allowed }) => allowed))); // biome-ignore format: one question
  // Its readers throw the error themselves.
  rights.catch(() => undefined);
  const fresh: Record<string, Kept> = {};
  let isOld = false;
  const keyOf = (path: string, query: PageQuery): string => `${session.id} ${addressWith(path, query)}`;
  const asked = async (path: string, query: PageQuery): Promise<Kept> => {
    const [found, now] = await Promise.all([api.find<object>(path, query), rights]);
    return { rights: now, found };
  };
  const askedOnce = (path: string, query: PageQuery): Promise<Kept> => {
    const answer = asked(path, query);
    kept.set(keyOf(path, query), answer);
    answer.catch(() => kept.delete(keyOf(path, query)));
    return answer;
  };
  const reported = async (path: string, query: PageQuery): Promise<object | undefined> => {
    const known = await (kept.get(keyOf(path, query)) ?? askedOnce(path, query));
    return known.rights === (await rights) ? known.found : (await askedOnce(path, query)).found;
  };
  return {
    report: <Body extends object>(path: string, query: PageQuery) =>
      reported(path, query).catch(unlessAway) as Promise<Body | undefined>,
    async find<Body extends object>(path: string, query: PageQuery = {}): Promise<Body | undefined> {
      const key = keyOf(path, query);
      const known = partial ? undefined : counted.get(key);
      const isKnown = known !== undefined && known.rights === (await rights);
      if (isKnown) isOld = true;
      else fresh[key] = await asked(path, query);
      return (isKnown ? known : fresh[key])?.found as Body | undefined;
    },
    get isOld() {
      return isOld;
    },
    keep() {
      for (const [key, answer] of Object.entries(fresh)) if (answer.found) counted.set(key, answer);
    },
  };
};
