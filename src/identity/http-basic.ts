/** HTTP basic authentication: bcrypt passwords, and a users file with the roles. */
import { createHmac, randomBytes } from 'node:crypto';
import { compare } from '@node-rs/bcrypt';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { raise } from '../model/errors';
import { createTurnstile } from '../model/turnstile';
import { parseHtpasswd } from './htpasswd';
import { reloading, type Source } from './sources';
import { absent, type IdentityVerdict, type Presented, refused, type Strategy, singleFlight } from './strategy';
import { callerFrom, parseUsers } from './users';

export type HttpBasicOptions = {
  readonly htpasswd: Source;
  readonly users: Source;
  /** Cache time of a verified password, because bcrypt takes 100 ms; default 60 000 ms. */
  readonly rememberMs?: number;
  readonly onFault?: (fault: unknown) => void;
  readonly now?: () => number;
};

/** bcrypt ignores further bytes: a longer password would match by its prefix. */
const bcryptLimitBytes = 72;
/** Cache time of a wrong password: a client with one costs one bcrypt run per period. */
const forgetWrongMs = 5_000;
/** bcrypt uses libuv's four threads, which file reads and name resolution need too. */
const poolSize = 2;
/** Running and waiting, per address. */
const mostOfOne = 4;

/** @throws IdentityFileInvalid if a file is invalid at start. Later faults go to onFault, and the old content stays */
export const createHttpBasic = async (options: HttpBasicOptions): Promise<Strategy> => {
  const { rememberMs = 60_000, onFault, now = Date.now } = options;
  const passwords = await reloading(options.htpasswd, parseHtpasswd, { onFault, now });
  const users = await reloading(options.users, parseUsers, { onFault, now });
  const verify = createVerifier(rememberMs, now);

  const identify = async (presented: Presented): Promise<IdentityVerdict> => {
    const { authorization } = presented;
    if (authorization === null || !/^basic(\s|$)/i.test(authorization)) return absent;
    const given = decode(authorization);
    if (!given) return refused('the Authorization header is not "Basic" and base64 of "user:password"');
    const { hashes, decoy } = await passwords();
    const hash = hashes.get(given.user);
    const right = await verify(given.user, given.password, hash ?? decoy, presented);
    if (!hash || !right) return refused('unknown user or wrong password');
    const standing = (await users()).get(given.user);
    if (!standing) return refused(`the users file has no entry for user ${given.user}`);
    return { is: 'known', caller: callerFrom(given.user, standing, 'http_basic') };
  };
  return { name: 'http_basic', reads: 'authorization', challenge: 'Basic realm="Baremetal API"', identify };
};

/** A password may contain colons, a user name may not. */
const decode = (authorization: string): { user: string; password: string } | undefined => {
  const encoded = /^basic\s+([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const text = encoded && Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text ? text.indexOf(':') : -1;
  return text && colon > 0 ? { user: text.slice(0, colon), password: text.slice(colon + 1) } : undefined;
};

/** A text that bcrypt refuses is no match. */
const matching = (password: string, hash: string): Promise<boolean> => compare(password, hash).catch(() => false);

/** Limits waiting runs per address, so that an attacker delays others little. Throws TooManyAtOnce. */
const createPool = () => {
  const limit = pLimit(poolSize);
  const senders = createTurnstile(mostOfOne);
  return async <T>(address: string, work: () => Promise<T>): Promise<T> => {
    if (!senders.enter(address)) raise('TooManyAtOnce');
    try {
      return await limit(work);
    } finally {
      senders.leave(address);
    }
  };
};

/** Keys include the stored hash, so a changed password file takes effect at once. */
const createVerifier = (rememberMs: number, now: () => number) => {
  const pepper = randomBytes(32);
  const once = singleFlight<boolean>();
  const right = new LRUCache<string, { until: number }>({ max: 1_000 });
  const wrong = new LRUCache<string, { until: number }>({ max: 1_000 });
  const inPool = createPool();
  return async (user: string, password: string, hash: string, { sender, spend }: Presented): Promise<boolean> => {
    const key = createHmac('sha256', pepper)
      .update(JSON.stringify([user, password, hash]))
      .digest('base64');
    if ((right.get(key)?.until ?? 0) > now()) return true;
    if ((wrong.get(key)?.until ?? 0) > now()) return false;
    await spend?.();
    return once(key, async () => {
      const matches = await inPool(sender?.() ?? '', () => matching(password, hash));
      const counts = matches && Buffer.byteLength(password) <= bcryptLimitBytes;
      (counts ? right : wrong).set(key, { until: now() + (counts ? rememberMs : forgetWrongMs) });
      return counts;
    });
  };
};
