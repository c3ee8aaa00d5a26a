/** Reports that a session keeps for a minute: counts of whole days change slowly, and cost the API most. */
import { LRUCache } from 'lru-cache';
import { ApiAway, addressWith } from './api';
import type { PageContext, PageQuery } from './context';

const reportsAtMost = 1_000;
const keptMs = 60_000;

/** By session, because the API shows each caller another report. */
const kept = new LRUCache<string, Promise<unknown>>({ max: reportsAtMost, ttl: keptMs });

/** A report is not worth a page: an API that is slow with it alone leaves it out. */
const unlessAway = (thrown: unknown): undefined => {
  if (!(thrown instanceof ApiAway)) throw thrown;
};

/** Undefined on 403 and 404, and if the report takes too long. Throws ApiRefusal (401, 5xx). */
export const remembered = <Body>(
  { api, session }: Pick<PageContext, 'api' | 'session'>,
  path: string,
  query: PageQuery,
): Promise<Body | undefined> => {
  const key = `${session.id} ${addressWith(path, query)}`;
  const known = kept.get(key) as Promise<Body | undefined> | undefined;
  const asked = known ?? api.find<Body>(path, query);
  if (!known) {
    kept.set(key, asked);
    asked.catch(() => kept.delete(key));
  }
  return asked.catch(unlessAway);
};

const countsAtMost = 1_000;
const countsMs = 10_000;

/** Answers that count all nodes of a large fleet. */
const counted = new LRUCache<string, object>({ max: countsAtMost, ttl: countsMs });

export type RememberedCounts = {
  /** Undefined on 403 and 404. Throws as get. */
  find<Body extends object>(path: string, query?: PageQuery): Promise<Body | undefined>;
  /** An answer was some seconds old: the page then fetches its part at once. */
  readonly isOld: boolean;
  /** Keeps the answers for the next load of the page. */
  keep(): void;
};

/**
 * Counting 100,000 nodes takes the database longer than a page may take. A page that loads shows the last counts, and its part asks again, as
 * it does after each event.
 */
export const countsFor = ({
  api,
  session,
  partial,
}: Pick<PageContext, 'api' | 'session' | 'partial'>): RememberedCounts => {
  const fresh: Record<string, object> = {};
  let isOld = false;
  return {
    async find<Body extends object>(path: string, query: PageQuery = {}): Promise<Body | undefined> {
      const key = `${session.id} ${addressWith(path, query)}`;
      const before = partial ? undefined : counted.get(key);
      if (before) isOld = true;
      const found = (before as Body | undefined) ?? (await api.find<Body>(path, query));
      if (found && !before) fresh[key] = found;
      return found;
    },
    get isOld() {
      return isOld;
    },
    keep() {
      for (const [key, found] of Object.entries(fresh)) counted.set(key, found);
    },
  };
};
