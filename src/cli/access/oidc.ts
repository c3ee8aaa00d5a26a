/** Tokens of an OIDC server: by device code, by browser and PKCE, for a service account, and by refreshing. */
import type { Configuration, TokenEndpointResponse } from 'openid-client';
import { isLoopback } from '../../model/access/loopback';
import { boundedFetch } from '../../model/bounded-fetch';
import { fetchReason } from '../../model/error-texts';
import type { CliDeps, Trust } from '../deps';
import { stop } from '../faults';
import { plainText } from '../tables';
import { loopbackAnswer } from './loopback';

export type OidcClient = {
  readonly issuer: string;
  readonly client_id: string;
  /** Only of service accounts. */
  readonly client_secret?: string;
  readonly scope?: string;
  /** Audience that the token is to have (RFC 8707). */
  readonly resource?: string;
};

export type OidcTokens = {
  readonly access_token: string;
  readonly refresh_token?: string;
  /** Milliseconds since the epoch; null if the server does not say. */
  readonly ends: number | null;
};

type Connected = { readonly library: typeof import('openid-client'); readonly config: Configuration };

const bounds = { most: 1024 * 1024, withinMs: 30_000 };

const connect = async (deps: CliDeps, trust: Trust, client: OidcClient): Promise<Connected> => {
  // Loaded on use: most commands need none of it.
  const library = await import('openid-client');
  const { hostname, protocol } = URL.canParse(client.issuer)
    ? new URL(client.issuer)
    : stop('usage', `${plainText(client.issuer)} is no URL of an OIDC issuer.`);
  if (protocol !== 'https:' && !isLoopback(hostname))
    stop('usage', 'The OIDC issuer must begin with https://, because it gets your credentials.');
  const { client_secret } = client;
  const config = await library.discovery(
    new URL(client.issuer),
    client.client_id,
    undefined,
    client_secret === undefined ? library.None() : library.ClientSecretBasic(client_secret),
    {
      [library.customFetch]: boundedFetch(deps.fetchWith(trust), { ...bounds, signal: deps.signal }) as never,
      ...(protocol === 'http:' && { execute: [library.allowInsecureRequests] }),
    },
  );
  return { library, config };
};

const grantParameters = ({ scope = 'openid', resource }: OidcClient): Record<string, string> => ({
  scope,
  ...(resource !== undefined && { resource }),
});

const tokensOf = ({ access_token, refresh_token, expires_in }: TokenEndpointResponse): OidcTokens => ({
  access_token,
  ...(refresh_token !== undefined && { refresh_token }),
  ends: expires_in === undefined ? null : Date.now() + expires_in * 1_000,
});

/** Texts of the server reach the terminal without control characters. Throws CliFault. */
const answered = async <T>({ issuer }: OidcClient, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (thrown) {
    signal.throwIfAborted();
    const { name, error, error_description: more, status } = thrown as Record<string, unknown>;
    if (name === 'CliFault') throw thrown;
    const refusal = Number(status);
    if (typeof error === 'string' || (refusal >= 400 && refusal < 500)) {
      const says = plainText([error, more].filter((text) => typeof text === 'string').join(': ') || `HTTP ${refusal}`);
      return stop('refused', `The OIDC server refused the login (${says}).`, refusal || null);
    }
    return stop(
      'unreachable',
      `The OIDC server at ${plainText(issuer)} gave no usable answer: ${plainText(fetchReason(thrown))}.`,
    );
  }
};

/** The user enters a code at another device. Throws CliFault. */
export const byDevice = (deps: CliDeps, trust: Trust, client: OidcClient): Promise<OidcTokens> =>
  answered(client, deps.signal, async () => {
    const { library, config } = await connect(deps, trust, client);
    const started = await library.initiateDeviceAuthorization(config, grantParameters(client));
    deps.err(`Open ${plainText(started.verification_uri_complete ?? started.verification_uri)}\n`);
    deps.err(`and confirm the code ${plainText(started.user_code)}.\n`);
    const { scope: _scope, ...more } = grantParameters(client);
    return tokensOf(await library.pollDeviceAuthorizationGrant(config, started, more, { signal: deps.signal }));
  });

/** A browser on this machine sends the code to a loopback address. Throws CliFault. */
export const byBrowser = (deps: CliDeps, trust: Trust, client: OidcClient): Promise<OidcTokens> =>
  answered(client, deps.signal, async () => {
    const { library, config } = await connect(deps, trust, client);
    const [pkceCodeVerifier, expectedState] = [library.randomPKCECodeVerifier(), library.randomState()];
    const code_challenge = await library.calculatePKCECodeChallenge(pkceCodeVerifier);
    const address = (redirect_uri: string): string =>
      library.buildAuthorizationUrl(config, {
        ...grantParameters(client),
        redirect_uri,
        code_challenge,
        code_challenge_method: 'S256',
        state: expectedState,
      }).href;
    const announce = (redirect: string) => deps.err(`Open ${plainText(address(redirect))}\n`);
    const came = await loopbackAnswer(expectedState, announce, deps.signal);
    const { scope: _scope, ...more } = grantParameters(client);
    return tokensOf(await library.authorizationCodeGrant(config, came, { pkceCodeVerifier, expectedState }, more));
  });

/** Throws CliFault. */
export const asServiceAccount = (deps: CliDeps, trust: Trust, client: OidcClient): Promise<OidcTokens> =>
  answered(client, deps.signal, async () => {
    const { library, config } = await connect(deps, trust, client);
    const { scope, ...more } = grantParameters(client);
    // An ID token is for people, so the scope openid is not for a service account.
    return tokensOf(
      await library.clientCredentialsGrant(config, { ...more, ...(client.scope !== undefined && { scope: scope! }) }),
    );
  });

/** Keeps the old refresh token if the server gives no new one. Throws CliFault. */
export const refreshed = (
  deps: CliDeps,
  trust: Trust,
  client: OidcClient,
  refresh_token: string,
): Promise<OidcTokens> =>
  answered(client, deps.signal, async () => {
    const { library, config } = await connect(deps, trust, client);
    const { scope: _scope, ...more } = grantParameters(client);
    return { refresh_token, ...tokensOf(await library.refreshTokenGrant(config, refresh_token, more)) };
  });

/** Throws CliFault. */
export const revoke = (deps: CliDeps, trust: Trust, client: OidcClient, token: string): Promise<void> =>
  answered(client, deps.signal, async () => {
    const { library, config } = await connect(deps, trust, client);
    await library.tokenRevocation(config, token);
  });
