/** Sign-in at an OIDC server: authorization code with PKCE. Its state stays in a sealed cookie of the browser. */
import { sealData, unsealData } from 'iron-session';
import type { Configuration } from 'openid-client';
import { boundedFetch } from '../../model/bounded-fetch';
import { ApiAway, ApiRefusal } from './api';

export type OidcSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  /** Audience that the token is to have (RFC 8707). */
  readonly resource?: string;
};

type Begun = { readonly state: string; readonly verifier: string; readonly nonce: string; readonly next: string };

type OidcLogin = {
  readonly token: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly next: string;
};

export type OidcSignIn = {
  /** @returns the server's address, and what the browser keeps meanwhile. Throws ApiAway */
  begin(next: string): Promise<{ readonly url: string; readonly kept: string }>;
  /** @param query with which the browser came back. Throws ApiRefusal, ApiAway */
  finish(kept: string | undefined, query: string): Promise<OidcLogin>;
};

export const oidcPath = '/sign-in/oidc';
export const oidcLastsSeconds = 600;

const bounds = { most: 1024 * 1024, withinMs: 10_000, signal: new AbortController().signal };
/** Browsers store 4096 bytes a cookie, and sealing adds a half. */
const longestToken = 2_400;
const who = 'The OIDC server';

type Library = typeof import('openid-client');

const discovered = async (library: Library, { issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> =>
  library.discovery(new URL(issuer), clientId, undefined, library.ClientSecretBasic(clientSecret), {
    [library.customFetch]: boundedFetch(fetch, bounds) as never,
    ...(issuer.startsWith('http:') && { execute: [library.allowInsecureRequests] }),
  });

const failed = (thrown: unknown): never => {
  if (thrown instanceof ApiRefusal || thrown instanceof ApiAway) throw thrown;
  const { error, code } = thrown as { readonly error?: unknown; readonly code?: unknown };
  if (typeof error === 'string') throw new ApiRefusal(401, `${who} refused this sign-in (${error.slice(0, 100)}).`);
  // Of another state, nonce or issuer.
  if (code === 'OAUTH_INVALID_RESPONSE')
    throw new ApiRefusal(401, 'This answer of the OIDC server does not belong to this sign-in. Begin again.');
  throw new ApiAway(`${who} gave no usable answer (${typeof code === 'string' ? code : 'no reason'}).`);
};

/** @param publicUrl of the console @param keys that seal; the first one seals, all unseal */
export const createOidcSignIn = (settings: OidcSettings, publicUrl: string, keys: readonly string[]): OidcSignIn => {
  const redirect = new URL(oidcPath, publicUrl).href;
  const { scope, resource } = settings;
  let found: Promise<{ library: Library; config: Configuration }> | undefined;
  const connect = () => {
    found ??= import('openid-client').then(async (library) => ({
      library,
      config: await discovered(library, settings),
    }));
    found.catch(() => {
      found = undefined; // the next sign-in asks again
    });
    return found;
  };
  const opened = async (kept: string): Promise<Begun | undefined> => {
    for (const password of keys) {
      const begun = await unsealData<Partial<Begun>>(kept, { password, ttl: oidcLastsSeconds }).catch(() => undefined);
      if (begun?.state !== undefined) return begun as Begun;
    }
    return undefined;
  };
  return {
    async begin(next) {
      const { library, config } = await connect().catch(failed);
      const [verifier, state, nonce] = [library.randomPKCECodeVerifier(), library.randomState(), library.randomNonce()];
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope,
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(resource !== undefined && { resource }),
      });
      const kept = await sealData({ state, verifier, nonce, next }, { password: keys[0]!, ttl: oidcLastsSeconds });
      return { url: url.href, kept };
    },
    async finish(kept, query) {
      const begun = kept === undefined ? undefined : await opened(kept);
      if (!begun)
        throw new ApiRefusal(400, 'This sign-in was not begun in this browser, or too long ago. Begin again.');
      const { library, config } = await connect().catch(failed);
      const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce };
      const came = new URL(`${redirect}${query}`);
      const more = resource === undefined ? undefined : { resource };
      const tokens = await library.authorizationCodeGrant(config, came, checks, more).catch(failed);
      if (tokens.access_token.length > longestToken)
        throw new ApiRefusal(
          400,
          'Your token is too long for the cookie of the console. Let the OIDC server put fewer claims into it.',
        );
      const claims = tokens.claims();
      const name = claims?.preferred_username;
      return {
        token: tokens.access_token,
        name: typeof name === 'string' ? name : (claims?.sub ?? 'unnamed'),
        until: Date.now() + (tokens.expires_in ?? oidcLastsSeconds) * 1_000,
        next: begun.next,
      };
    },
  };
};
