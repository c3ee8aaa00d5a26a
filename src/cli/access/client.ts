/** HTTP client of the API: JSON bodies, errors as CliFault, and login on first use. */
import { longestApiAnswer, textWithin } from '../../model/bodies';
import { errorSentence, fetchReason } from '../../model/error-texts';
import { cutOffBy, endingWithin } from '../../model/signals';
import type { CliDeps } from '../deps';
import { stop } from '../faults';
import { plainText } from '../tables';
import { apiTarget, type Target } from './clouds';
import { signIn } from './login';
import { savedToken, serviceToken } from './saved-login';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

export type Client = {
  /** Returns undefined for a response without a body. Throws CliFault. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape, read by those who know them
  send(method: Method, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<any>;
  /**
   * The raw reply, without a time limit. Throws CliFault if no reply arrives, never for a status.
   * @param until ends it before the command does
   */
  open(path: string, headers: Readonly<Record<string, string>>, until?: AbortSignal): Promise<Response>;
  /** Throws the CliFault of an error reply. */
  refusal(reply: Response): Promise<never>;
  /** Base URL of the API. */
  where(): Promise<string>;
};

const requestLimitMs = 120_000;

type Init = Omit<RequestInit, 'headers' | 'signal'> & {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
};

type Session = { readonly url: string; readonly headers: Readonly<Record<string, string>> };

const withoutLogin = (target: Target): Session | undefined => {
  const { credentials, url } = target;
  if (url === null) return undefined;
  switch (credentials.is) {
    case 'token':
      return { url, headers: { 'x-auth-token': credentials.token } };
    case 'basic': {
      const pair = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
      return { url, headers: { authorization: `Basic ${pair}` } };
    }
    case 'none':
      return { url, headers: {} };
    case 'keystone':
    case 'service_account':
    case 'saved':
      return undefined;
  }
};

/** Undefined for credentials that are no OIDC server's. Throws CliFault. */
const oidcToken = async (deps: CliDeps, { credentials, trust }: Target): Promise<string | undefined> => {
  if (credentials.is === 'saved') return savedToken(deps, trust, credentials.login);
  return credentials.is === 'service_account' ? serviceToken(deps, trust, credentials.client) : undefined;
};

const sessionOf = async (deps: CliDeps, target: Target, fetcher: typeof fetch): Promise<Session> => {
  const ready = withoutLogin(target);
  if (ready) return ready;
  const bearer = target.url === null ? undefined : await oidcToken(deps, target);
  if (bearer !== undefined) return { url: target.url!, headers: { authorization: `Bearer ${bearer}` } };
  if (target.credentials.is !== 'keystone') return stop('usage', 'Nothing says where the API is: set TEMPER_URL.');
  const { token, url } = await signIn(fetcher, target.credentials.login, target, deps.signal);
  const at =
    target.url ??
    url ??
    stop(
      'usage',
      'The identity service knows no endpoint of type baremetal: set TEMPER_URL, or another region or interface.',
    );
  return { url: at, headers: { 'x-auth-token': token } };
};

// Texts for replies without a message from the API. Only proxies and Keystone send these statuses.
const withoutWords: Readonly<Record<number, string>> = {
  401: 'These credentials or this token are not accepted, or the token has ended: sign in again.',
  403: 'This caller may not do that.',
  404: 'There is no such thing, or this is not the address of the API.',
};
const signInAgain =
  'Set OS_CLOUD, or TEMPER_TOKEN or TEMPER_USERNAME and TEMPER_PASSWORD, to whom the API knows, or run "temper login".';

const throwRefusal = async (reply: Response): Promise<never> => {
  const text = await textWithin(reply, longestApiAnswer).catch(() => '');
  const words =
    errorSentence(text) ?? withoutWords[reply.status] ?? `The server answered ${reply.status} with no reason.`;
  const says = reply.status === 401 ? `${words.replace(/\.$/, '')}. ${signInAgain}` : words;
  // Without an API message, it comes from a proxy or a process that shuts down.
  const exit = reply.status >= 500 && errorSentence(text) === undefined ? 'unreachable' : 'refused';
  return stop(exit, `${plainText(says)} (HTTP ${reply.status})`, reply.status);
};

const parsedBody = async (reply: Response): Promise<unknown> => {
  const text = await textWithin(reply, longestApiAnswer).catch((thrown) =>
    stop('unreachable', `The answer was cut off: ${fetchReason(thrown)}.`),
  );
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return stop('unreachable', 'The server answered something that is no JSON: is that the API?');
  }
};

export const createApiClient = (deps: CliDeps, cloud: string | undefined): Client => {
  const look = () => {
    const found = apiTarget(deps, cloud);
    if (found.url !== null && !(URL.canParse(found.url) && /^https?:/i.test(found.url)))
      stop(
        'usage',
        `${plainText(found.url)} is no address of an API: it must begin with http:// or https://, such as http://127.0.0.1:6385.`,
      );
    return { target: found, fetcher: deps.fetchWith(found.trust) };
  };
  let known: ReturnType<typeof look> | undefined;
  const target = () => {
    known ??= look();
    return known;
  };
  let session: Promise<Session> | undefined;
  const signedIn = () => {
    session ??= sessionOf(deps, target().target, target().fetcher);
    return session;
  };

  const exchange = async (path: string, init: Init, again = true): Promise<Response> => {
    const { url, headers } = await signedIn();
    const sent = { ...headers, 'x-openstack-ironic-api-version': 'latest', accept: 'application/json' };
    let reply: Response;
    try {
      const came = await target().fetcher(`${url}${path}`, {
        ...init,
        headers: { ...sent, ...init.headers },
        redirect: 'error',
      });
      reply = cutOffBy(came, init.signal);
    } catch (thrown) {
      deps.signal.throwIfAborted();
      return stop('unreachable', `The API at ${url} did not answer: ${fetchReason(thrown)}.`);
    }
    // The token may have expired: one more login, then a 401 is final.
    if (reply.status !== 401 || !again || target().target.credentials.is !== 'keystone') return reply;
    session = undefined;
    return exchange(path, init, false);
  };

  return {
    async send(method, path, body, headers = {}) {
      const reply = await exchange(path, {
        method,
        signal: endingWithin(deps.signal, requestLimitMs),
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return reply.ok ? parsedBody(reply) : throwRefusal(reply);
    },
    open: (path, headers, until) =>
      exchange(path, { headers, signal: until ? AbortSignal.any([deps.signal, until]) : deps.signal }),
    refusal: throwRefusal,
    where: async () => (await signedIn()).url,
  };
};
