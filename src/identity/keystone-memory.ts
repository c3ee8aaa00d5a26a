/** Cache of token validations, extended during a Keystone outage. */

import { LRUCache } from 'lru-cache';
import { sha256Of } from '../model/digests';
import type { KeystoneClient, Validation } from './keystone-client';
import { expiryOf } from './keystone-token';
import { singleFlight } from './strategy';

export type MemoryOptions = {
  /** Cache time of a valid token, and so the delay of a revocation. Default 300 000 ms; 0 disables. */
  readonly cacheMs?: number;
  /** Extension during an outage, never past the token's expiry. Default unlimited. */
  readonly outageMs?: number;
  /** Cache time of an invalid token; default 10 000 ms. */
  readonly negativeCacheMs?: number;
  /** Called once per outage, when the first token is accepted from the cache. */
  readonly onOutage?: (reason: string) => void;
  readonly now?: () => number;
};

/** Valid until `fresh`, during an outage until `end`; ms since the epoch. */
type KnownToken = { readonly valid: Valid; readonly fresh: number; readonly end: number };
type Valid = Extract<Validation, { is: 'valid' }>;

/** Other texts are refused without a request. */
const tokenForm = /^[\x21-\x7e]{1,8192}$/;
/** Pause between queries during an outage, for tokens in the cache. */
const outagePauseMs = 10_000;
/** Two caches, so that many invalid tokens cannot evict valid ones. */
const mostTokens = 10_000;

/** @param spend called before Keystone is queried for an unknown token; may throw */
export type Memory = (token: string, allowExpired: boolean, spend?: () => Promise<void>) => Promise<Validation>;

/** One query per token at a time. Caches hashes, not tokens. */
export const createMemory = (client: KeystoneClient, options: MemoryOptions): Memory => {
  const { negativeCacheMs = 10_000, now = Date.now } = options;
  const good = new LRUCache<string, KnownToken>({ max: mostTokens });
  const bad = new LRUCache<string, { until: number }>({ max: mostTokens });
  const once = singleFlight<Validation>();
  const outage = createOutage(options.onOutage, now);

  const ask = async (key: string, token: string, allowExpired: boolean): Promise<Validation> => {
    const validation = await client.validate(token, allowExpired);
    if (validation.is === 'down') return outage.begin(validation);
    outage.end();
    good.delete(key); // The cached result is obsolete, whatever replaces it.
    if (validation.is === 'invalid') bad.set(key, { until: now() + negativeCacheMs });
    else if (options.cacheMs !== 0) good.set(key, remembered(validation, allowExpired, options, now()));
    return validation;
  };

  return async (token, allowExpired, spend) => {
    if (!tokenForm.test(token)) return { is: 'invalid' };
    const key = `${sha256Of(token)}${allowExpired ? ' expired too' : ''}`;
    const known = good.get(key);
    if (known && now() < known.fresh) return known.valid;
    if ((bad.get(key)?.until ?? 0) > now()) return { is: 'invalid' };
    const stale = known && now() < known.end ? known.valid : undefined;
    if (!known) await spend?.();
    const said = (stale && outage.lasts()) ?? (await once(key, () => ask(key, token, allowExpired)));
    if (said.is !== 'down' || !stale) return said;
    outage.report();
    return stale;
  };
};

const remembered = (
  valid: Valid,
  allowExpired: boolean,
  { cacheMs = 300_000, outageMs = Number.POSITIVE_INFINITY }: MemoryOptions,
  at: number,
): KnownToken => {
  const end = expiryOf(valid.token);
  const fresh = at + cacheMs;
  if (allowExpired && end <= at) return { valid, fresh, end: fresh };
  return { valid, fresh: Math.min(fresh, end), end: Math.min(fresh + outageMs, end) };
};

type Down = Extract<Validation, { is: 'down' }>;

const createOutage = (onOutage: MemoryOptions['onOutage'], now: () => number) => {
  let current: { readonly down: Down; readonly pauseUntil: number; readonly isReported: boolean } | undefined;
  return {
    begin: (down: Down): Down => {
      current = { down, pauseUntil: now() + outagePauseMs, isReported: current?.isReported ?? false };
      return down;
    },
    end: (): void => {
      current = undefined;
    },
    /** The last failure, until Keystone may be queried again. */
    lasts: (): Down | undefined => (current && now() < current.pauseUntil ? current.down : undefined),
    report: (): void => {
      if (!current || current.isReported) return;
      current = { ...current, isReported: true };
      onOutage?.(current.down.reason);
    },
  };
};
