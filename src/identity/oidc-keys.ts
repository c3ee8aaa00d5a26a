/** An issuer's public keys: found by discovery, cached, and fetched again in the middle of a rotation. */
import { createLocalJWKSet } from 'jose';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { AnswerTooLong, bytesWithin } from '../model/bodies';
import type { Issuer } from './oidc-file';
import { singleFlight } from './strategy';

export type KeySet = ReturnType<typeof createLocalJWKSet>;
type Keys = { readonly is: 'known'; readonly set: KeySet } | { readonly is: 'down'; readonly reason: string };

export type KeySourceOptions = {
  /** Time for which keys count while the issuer does not answer; default 900 000 ms. */
  readonly outageMs?: number;
  /** Time limit of one answer, body included; default 5000 ms. */
  readonly timeoutMs?: number;
  /** Called once per outage. */
  readonly onOutage?: (reason: string) => void;
  readonly now?: () => number;
};

export type KeySource = {
  /** @param kid of the token; undefined for a token without one */
  get(kid: string | undefined): Promise<Keys>;
};

/** Age at which keys are fetched again, so a withdrawn key counts no longer than this. */
const freshMs = 300_000;
/** Pause between fetches: tokens with invented key ids cause no more. */
const pauseMs = 10_000;
/** Bytes. A set of ten keys with certificates has about 30 KB. */
const longestAnswer = 256 * 1024;

/** The issuer did not answer, or not with keys. */
class Unusable extends Error {}

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const KeyList = z.object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string().optional() })).max(100) });

/** Does not follow redirects: they could lead to an inner address. Throws Unusable. */
const fetchJson = async <T>(shape: z.ZodType<T>, url: string, dispatcher: Agent, timeoutMs: number): Promise<T> => {
  const { origin } = new URL(url);
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, body } = await request(url, { dispatcher, signal, headers: { accept: 'application/json' } });
    const bytes = await bytesWithin(body, longestAnswer);
    if (statusCode !== 200) throw new Unusable(`the issuer at ${origin} answered ${statusCode}`);
    const read = shape.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    if (read.success) return read.data;
    throw new Unusable(`the issuer at ${origin} answered something else than was asked for`);
  } catch (thrown) {
    if (thrown instanceof Unusable) throw thrown;
    if (thrown instanceof AnswerTooLong) throw new Unusable(`the issuer at ${origin} answered more than can be read`);
    if (thrown instanceof SyntaxError) throw new Unusable(`the issuer at ${origin} answered no JSON`);
    // The code of a DOMException is a number.
    const { code, name } = thrown as { readonly code?: unknown; readonly name: string };
    throw new Unusable(`the issuer at ${origin} did not answer (${typeof code === 'string' ? code : name})`);
  }
};

/** Only the operator, not the issuer, can name keys at another origin. Throws Unusable. */
const keysUrlOf = async (
  { issuer, keys_url }: Issuer,
  fetched: <T>(shape: z.ZodType<T>, url: string) => Promise<T>,
) => {
  if (keys_url !== undefined) return keys_url;
  const found = await fetched(Discovery, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  if (found.issuer !== issuer) throw new Unusable(`the issuer at ${issuer} calls itself by another name`);
  if (new URL(found.jwks_uri).origin !== new URL(issuer).origin)
    throw new Unusable(`the issuer at ${issuer} has its keys at another origin; if that is right, set its keys_url`);
  return found.jwks_uri;
};

type Fetched = { readonly set: KeySet; readonly kids: ReadonlySet<string>; readonly at: number };

export const createKeySource = (issuer: Issuer, dispatcher: Agent, options: KeySourceOptions): KeySource => {
  const { outageMs = 900_000, timeoutMs = 5_000, onOutage, now = Date.now } = options;
  const once = singleFlight<void>();
  let current: Fetched | undefined;
  let failure: string | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;

  const fetched = <T>(shape: z.ZodType<T>, url: string) => fetchJson(shape, url, dispatcher, timeoutMs);
  const refresh = (): Promise<void> =>
    once('keys', async () => {
      try {
        const { keys } = await fetched(KeyList, await keysUrlOf(issuer, fetched));
        current = { set: createLocalJWKSet({ keys }), kids: new Set(keys.flatMap(({ kid }) => kid ?? [])), at: now() };
        failure = undefined;
      } catch (thrown) {
        const reason = thrown instanceof Unusable ? thrown.message : `the keys of ${issuer.issuer} cannot be used`;
        if (failure === undefined) onOutage?.(reason);
        failure = reason;
      } finally {
        triedAt = now();
      }
    });

  return {
    async get(kid) {
      const age = current ? now() - current.at : Number.POSITIVE_INFINITY;
      const paused = now() - triedAt < pauseMs;
      if (current && age < freshMs + outageMs && (kid === undefined || current.kids.has(kid))) {
        // A caller whose key is here does not wait for a slow issuer.
        if (age >= freshMs && !paused) void refresh();
        return { is: 'known', set: current.set };
      }
      if (!paused) await refresh();
      if (failure !== undefined) return { is: 'down', reason: failure };
      return { is: 'known', set: current!.set };
    },
  };
};

export const createKeyAgent = (timeoutMs = 5_000): Agent => new Agent({ connect: { timeout: timeoutMs } });
