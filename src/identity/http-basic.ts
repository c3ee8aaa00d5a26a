/** HTTP basic authentication against a bcrypt password file; a users file says what each user may be. */
import { createHmac, randomBytes } from 'node:crypto';
import { compare } from 'bcryptjs';
import { LRUCache } from 'lru-cache';
import { parseHtpasswd } from './htpasswd';
import { reloading, type Source } from './sources';
import { absent, type Presented, refused, type Strategy, singleFlight, type Verdict } from './strategy';
import { callerFrom, parseUsers } from './users';

export type HttpBasicOptions = {
  readonly htpasswd: Source;
  readonly users: Source;
  /** How long a verified password is remembered (bcrypt takes a tenth of a second); 60 000 ms. */
  readonly rememberMs?: number;
  readonly onFault?: (fault: unknown) => void;
  readonly now?: () => number;
};

/** What bcrypt reads of a password; it ignores the rest, so a longer one would match by its beginning. */
const bcryptLimitBytes = 72;
/** How long a wrong password is remembered, so that a client stuck with one costs one bcrypt run per spell; ms. */
const forgetWrongMs = 5_000;

/**
 * The http_basic strategy.
 * @throws IdentityFileInvalid when either file cannot be used at start; later faults go to onFault, the old content stays
 */
export const createHttpBasic = async (options: HttpBasicOptions): Promise<Strategy> => {
  const { rememberMs = 60_000, onFault, now = Date.now } = options;
  const passwords = await reloading(options.htpasswd, parseHtpasswd, { onFault, now });
  const users = await reloading(options.users, parseUsers, { onFault, now });
  const verify = createVerifier(rememberMs, now);

  const identify = async ({ authorization }: Presented): Promise<Verdict> => {
    if (authorization === null || !/^basic(\s|$)/i.test(authorization)) return absent;
    const given = decode(authorization);
    if (!given) return refused('the Authorization header is not "Basic" and base64 of "user:password"');
    const { hashes, decoy } = await passwords();
    const hash = hashes.get(given.user);
    const right = await verify(given.user, given.password, hash ?? decoy);
    if (!hash || !right) return refused('unknown user or wrong password');
    const standing = (await users()).get(given.user);
    if (!standing) return refused(`the users file has no entry for user ${given.user}`);
    return { is: 'known', caller: callerFrom(given.user, standing, 'http_basic') };
  };
  return { name: 'http_basic', reads: 'authorization', challenge: 'Basic realm="Baremetal API"', identify };
};

/** User and password of a header, or undefined. A password may hold colons, a user may not. */
const decode = (authorization: string): { user: string; password: string } | undefined => {
  const encoded = /^basic\s+([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const text = encoded && Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text ? text.indexOf(':') : -1;
  return text && colon > 0 ? { user: text.slice(0, colon), password: text.slice(colon + 1) } : undefined;
};

/** bcrypt's compare with a short memory. Keys carry the stored hash, so a changed password file is obeyed at once. */
const createVerifier = (rememberMs: number, now: () => number) => {
  const pepper = randomBytes(32);
  const once = singleFlight<boolean>();
  const right = new LRUCache<string, { until: number }>({ max: 1_000 });
  const wrong = new LRUCache<string, { until: number }>({ max: 1_000 });
  return async (user: string, password: string, hash: string): Promise<boolean> => {
    const key = createHmac('sha256', pepper)
      .update(JSON.stringify([user, password, hash]))
      .digest('base64');
    if ((right.get(key)?.until ?? 0) > now()) return true;
    if ((wrong.get(key)?.until ?? 0) > now()) return false;
    return once(key, async () => {
      const matches = await compare(password, hash);
      const counts = matches && Buffer.byteLength(password) <= bcryptLimitBytes;
      (counts ? right : wrong).set(key, { until: now() + (counts ? rememberMs : forgetWrongMs) });
      return counts;
    });
  };
};
