/** The oidc strategy: access tokens of OIDC issuers, verified here by the issuer's keys. */
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { sha256Of } from '../model/digests';
import { callerIn, type Scopes, scopesOf } from './oidc-claims';
import { type Issuer, type Issuers, parseIssuers } from './oidc-file';
import { createKeyAgent, createKeySource, type KeySet, type KeySource, type KeySourceOptions } from './oidc-keys';
import { fileSource, reloading, type Source } from './sources';
import {
  absent,
  type IdentityVerdict,
  type Presented,
  refused,
  type Strategy,
  singleFlight,
  unavailable,
} from './strategy';

export type OidcOptions = KeySourceOptions & {
  readonly issuers: Source;
  /** Cache time of verified claims, never past `exp`. Default 300 000 ms; 0 disables. */
  readonly cacheMs?: number;
  readonly onFault?: (fault: unknown) => void;
};

/** Node reads at most 16 KB of headers. */
const tokenForm = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const longestToken = 16_000;
/** Between the issuer's clock and ours. */
const skewSeconds = 30;
const mostTokens = 10_000;

type Known = { readonly issuers: Issuers; readonly scopes: Scopes; readonly until: number };
type Verified = { readonly scopes: Scopes; readonly exp: number } | IdentityVerdict;

/**
 * Sends no request at start, so that the API starts while the issuer is away.
 * @throws IdentityFileInvalid if the file is invalid at start. Later faults go to onFault, and the old content stays
 */
export const createOidc = async (options: OidcOptions): Promise<Strategy> => {
  const { cacheMs = 300_000, onFault, now = Date.now } = options;
  const issuers = await reloading(options.issuers, parseIssuers, { onFault, now });
  const agent = createKeyAgent(options.timeoutMs);
  const keysOf = createKeySources((issuer) => createKeySource(issuer, agent, options));
  const known = new LRUCache<string, Known>({ max: mostTokens });
  const once = singleFlight<Verified>();

  const scopesIn = async (token: string, spend: Presented['spend']): Promise<Verified | Known> => {
    const table = await issuers();
    const key = sha256Of(token);
    const found = known.get(key);
    if (found && found.issuers === table && now() < found.until) return found;
    await spend?.();
    const verified = await once(key, () => verifyToken(token, table, keysOf, now()));
    if ('scopes' in verified) {
      const until = Math.min(now() + cacheMs, verified.exp * 1_000);
      if (until > now()) known.set(key, { issuers: table, scopes: verified.scopes, until });
    }
    return verified;
  };

  const identify = async (presented: Presented): Promise<IdentityVerdict> => {
    const token = tokenOf(presented);
    if (token === null) return absent;
    if (token.length > longestToken || !tokenForm.test(token)) return refused('the token is not a signed JWT');
    const verified = await scopesIn(token, presented.spend);
    if (!('scopes' in verified)) return verified;
    const caller = callerIn(verified.scopes, presented.scope);
    return caller ? { is: 'known', caller } : refused('the token does not grant the scope that X-Temper-Scope names');
  };
  return {
    name: 'oidc',
    reads: 'token',
    challenge: 'Bearer realm="Baremetal API"',
    identify,
    close: () => agent.destroy(),
  };
};

/** Asks every issuer of the file for its keys. @throws IdentityFileInvalid */
export const askIssuers = async (file: string): Promise<{ readonly names: string[]; readonly faults: string[] }> => {
  const issuers = await (await reloading(fileSource(file), parseIssuers))();
  const agent = createKeyAgent();
  try {
    const sources = [...issuers.values()].map((issuer) => createKeySource(issuer, agent, {}));
    const found = await Promise.all(sources.map((source) => source.get(undefined)));
    return { names: [...issuers.keys()], faults: found.flatMap((keys) => (keys.is === 'down' ? keys.reason : [])) };
  } finally {
    await agent.destroy();
  }
};

/** Two different tokens authenticate no caller: a proxy may have checked the other one. */
const tokenOf = ({ token, authorization }: Presented): string | null => {
  const bearer = /^bearer\s+(.*)$/is.exec(authorization ?? '')?.[1] ?? null;
  return token === null || bearer === null || token === bearer ? (token ?? bearer) : `${token}, ${bearer}`;
};

/** Kept while the file changes, so that a new grant fetches no keys. */
const createKeySources = (make: (issuer: Issuer) => KeySource) => {
  const made = new LRUCache<string, KeySource>({ max: 100 });
  return (issuer: Issuer): KeySource => {
    const key = JSON.stringify([issuer.issuer, issuer.keys_url]);
    const source = made.get(key) ?? make(issuer);
    made.set(key, source);
    return source;
  };
};

const verifyToken = async (
  token: string,
  issuers: Issuers,
  keysOf: (issuer: Issuer) => KeySource,
  at: number,
): Promise<Verified> => {
  try {
    const { alg, kid } = decodeProtectedHeader(token);
    const issuer = issuers.get(String(decodeJwt(token).iss));
    if (!issuer) return refused('the token is of no issuer in the file');
    if (!(issuer.algorithms as readonly string[]).includes(String(alg)))
      return refused('the token is signed by an algorithm that is not allowed');
    const keys = await keysOf(issuer).get(typeof kid === 'string' ? kid : undefined);
    if (keys.is === 'down') return unavailable(keys.reason);
    const claims = await claimsOf(token, issuer, keys.set, at);
    const scopes = scopesOf(claims, issuer);
    return scopes ? { scopes, exp: claims.exp! } : refused('the token has no claim that names its user');
  } catch (thrown) {
    if (thrown instanceof errors.JOSEError) return refused(`the token is not valid (${thrown.code})`);
    // jose throws a TypeError for texts that it cannot decode.
    if (thrown instanceof TypeError) return refused('the token cannot be read');
    throw thrown;
  }
};

/** Throws JOSEError. */
const claimsOf = async (token: string, issuer: Issuer, keys: KeySet, at: number): Promise<JWTPayload> => {
  const { payload } = await jwtVerify(token, keys, {
    issuer: issuer.issuer,
    audience: issuer.audience,
    algorithms: issuer.algorithms,
    clockTolerance: skewSeconds,
    currentDate: new Date(at),
    requiredClaims: ['exp'],
  });
  if (typeof payload.iat === 'number' && payload.iat > at / 1_000 + skewSeconds)
    throw new errors.JWTClaimValidationFailed('issued in the future', payload, 'iat', 'check_failed');
  return payload;
};
