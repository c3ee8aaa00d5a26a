/** What Keystone said of tokens, remembered: for a while without asking again, and longer while it does not answer. */

import { LRUCache } from 'lru-cache';
import { sha256Of } from '../model/digests';
import type { KeystoneClient, Validation } from './keystone-client';
import { expiryOf } from './keystone-token';
import { singleFlight } from './strategy';

export type MemoryOptions = {
  /** How long a validated token is believed without asking again: revocation lags by as much; 300 000 ms, 0 for never. */
  readonly cacheMs?: number;
  /** How long beyond that it is believed while the identity service does not answer, never past its end; no limit of its own. */
  readonly outageMs?: number;
  /** How long an unknown token is remembered as such; 10 000 ms. */
  readonly negativeCacheMs?: number;
  /** Called once per outage, when the first token is accepted beyond its time. */
  readonly onOutage?: (reason: string) => void;
  readonly now?: () => number;
};

/** A token that was valid, believed until `fresh`, and until `end` as long as Keystone does not answer; ms since the epoch. */
type KnownToken = { readonly valid: Valid; readonly fresh: number; readonly end: number };
type Valid = Extract<Validation, { is: 'valid' }>;

/** Tokens are printable and short; anything else is not worth a question. */
const tokenForm = /^[\x21-\x7e]{1,8192}$/;
/** How long an identity service that did not answer is spared questions about tokens that can do without; ms. */
const outagePauseMs = 10_000;
/** Good and bad tokens are kept apart: a flood of the latter must not push out the former. */
const mostTokens = 10_000;

/** @param spend asked before the identity service is, about a token that nothing is known of; throws where it must not be */
export type Memory = (token: string, allowExpired: boolean, spend?: () => Promise<void>) => Promise<Validation>;

/** Validation with a memory, and one question at a time per token. No token is kept, only its hash. */
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
    good.delete(key); // what was believed is over, whatever comes in its place
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

/** An identity service that does not answer, noticed at one request and remembered for the next ones. */
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
    /** What it said when it was last asked, for as long as it is not asked again. */
    lasts: (): Down | undefined => (current && now() < current.pauseUntil ? current.down : undefined),
    report: (): void => {
      if (!current || current.isReported) return;
      current = { ...current, isReported: true };
      onOutage?.(current.down.reason);
    },
  };
};
