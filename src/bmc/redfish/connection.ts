/** One BMC as seen by one account: its sockets, its session, and requests that log in again once when they must. */
import { Agent, request } from 'undici';
import { isTemperError, raise, TemperError } from '../../model/errors';
import type { DriverHands } from '../contract';
import { guardedConnector, type Tls } from '../network';
import { errorOf, errorOfFailure, type Reply, sessionsExhausted } from './replies';
import type { RedfishSettings } from './settings';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export type Ask = {
  readonly method: Method;
  /** Path at the BMC's authority. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** For errors: which node asks, and for what. */
  readonly node: string;
  readonly what: string;
};

/** A request that got no answer. `neverSent` false on a write: its outcome is unknown. */
export type Failed = { readonly error: TemperError; readonly neverSent: boolean };
export type Answer = { readonly reply: Reply } | { readonly failed: Failed };

export type Connection = {
  readonly settings: RedfishSettings;
  /** The error an answer amounts to, without any secret the BMC may have echoed. */
  errorOf(reply: Reply, asked: Pick<Ask, 'node' | 'what'>): TemperError;
  /** Throws BmcAuthFailed, BmcAddressRefused, BmcTlsFailed and the signal's reason; everything else is an answer. */
  ask(ask: Ask): Promise<Answer>;
  /** The session in use, to recognise a BMC that has forgotten it. */
  session(): string | undefined;
  /** Logs out and closes the sockets. */
  close(): Promise<void>;
};

const maxReplyBytes = 16 * 1024 * 1024;
/** After a refused login nobody tries the same credentials for so long: accounts lock. */
const refusalMs = 10_000;
/** A worker that ends does not wait longer than this for a BMC to say goodbye. */
const logoutMs = 5_000;

type Session = { readonly token: string; readonly uri: string | undefined };
type Auth = { readonly is: 'none' } | { readonly is: 'basic' } | ({ readonly is: 'session' } & Session);

const parse = (text: string): { body: unknown; garbled: boolean } => {
  if (text.trim() === '') return { body: undefined, garbled: false };
  try {
    return { body: JSON.parse(text), garbled: false };
  } catch {
    return { body: undefined, garbled: true };
  }
};

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]));

/** Stops waiting for something that goes on without us. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop));
};

/** Opens nothing yet: the first request logs in. */
export const createConnection = (settings: RedfishSettings, tls: Tls, hands: DriverHands): Connection => {
  const answerMs = hands.limits?.answerMs ?? 60_000;
  const agent = new Agent({
    connect: guardedConnector(hands, tls, hands.limits?.connectMs ?? 30_000),
    // No keep-alive: several BMCs drop the connection after a reply, and the next request on it fails.
    pipelining: 0,
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    maxResponseSize: maxReplyBytes,
    maxRedirections: 0,
  });
  const { address, username, password } = settings;
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

  let auth: Auth | undefined = username === undefined ? { is: 'none' } : undefined;
  let hadSession = false;
  let login: Promise<Auth> | undefined;
  let refused: { error: TemperError; until: number } | undefined;
  let sessionsPath: string | undefined;
  const closing = new AbortController();

  /** Sends once; nothing in here ever sends twice. */
  const send = async (ask: Ask, headers: Record<string, string>): Promise<Answer> => {
    const facts = { node: ask.node, bmc: address.label, what: ask.what };
    ask.signal.throwIfAborted();
    const url = new URL(ask.path, address.origin);
    // The last line of defence: credentials go to the node's BMC and nowhere else, whatever a link says.
    if (url.origin !== address.origin)
      raise('BmcRejected', { ...facts, status: 'link', reason: 'it points to another host' });
    try {
      const answer = await request(url, {
        dispatcher: agent,
        method: ask.method,
        signal: ask.signal,
        reset: true,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          'odata-version': '4.0',
          ...(ask.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
          ...ask.headers,
        },
        body: ask.body === undefined ? undefined : JSON.stringify(ask.body),
      });
      const text = await answer.body.text();
      return { reply: { status: answer.statusCode, headers: flat(answer.headers), ...parse(text) } };
    } catch (thrown) {
      ask.signal.throwIfAborted();
      const failed = errorOfFailure(thrown, facts);
      if (isTemperError(failed.error, 'BmcAddressRefused') || isTemperError(failed.error, 'BmcTlsFailed'))
        throw failed.error;
      return { failed };
    }
  };

  const secrets = () => [password, auth?.is === 'session' ? auth.token : ''].filter((secret) => secret.length >= 4);
  const mask = (text: string): string => secrets().reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  const errorFor: Connection['errorOf'] = (reply, { node, what }) =>
    errorOf(reply, { node, what, bmc: address.label }, mask);

  const headersOf = (using: Auth): Record<string, string> => {
    switch (using.is) {
      case 'none':
        return {};
      case 'basic':
        return { authorization: basic };
      case 'session':
        return { 'x-auth-token': using.token };
    }
  };

  /** A path on this BMC, whatever host name it calls itself in Location. */
  const pathOf = (location: string): string => {
    const url = new URL(location, address.origin);
    return `${url.pathname}${url.search}`;
  };

  /** Where sessions are made: the root's link, else the place the standard gives it; undefined when the BMC has none. */
  const findSessions = async (ask: Ask): Promise<string | undefined> => {
    if (sessionsPath !== undefined) return sessionsPath;
    const root = await send(
      { ...ask, method: 'GET', path: `${address.prefix}/redfish/v1/`, body: undefined, headers: {} },
      {},
    );
    if ('failed' in root) throw root.failed.error;
    const body = (root.reply.body ?? {}) as {
      Links?: { Sessions?: { '@odata.id'?: unknown } };
      SessionService?: unknown;
    };
    const link = body.Links?.Sessions?.['@odata.id'];
    if (typeof link === 'string') sessionsPath = pathOf(link);
    // A root that wants credentials, or that errs, says nothing about sessions: try the standard's place.
    else if (root.reply.status >= 400) return `${address.prefix}/redfish/v1/SessionService/Sessions`;
    return sessionsPath;
  };

  const authFailed = (ask: Ask, status: number): TemperError =>
    new TemperError('BmcAuthFailed', { node: ask.node, bmc: address.label, what: ask.what, status });

  /** One login. In `auto`, basic takes over where sessions are not to be had, but never once a session has worked. */
  const openSession = async (ask: Ask): Promise<Auth> => {
    if (settings.authType === 'basic') return { is: 'basic' };
    const mayFallBack = settings.authType === 'auto' && !hadSession;
    const path = await findSessions(ask);
    if (path === undefined) {
      if (mayFallBack) return { is: 'basic' };
      raise('BmcUnsupported', { node: ask.node, bmc: address.label, what: 'sessions' });
    }
    const what = 'the login';
    const answer = await send(
      { ...ask, method: 'POST', path: path!, body: { UserName: username, Password: password }, headers: {}, what },
      {},
    );
    if ('failed' in answer) throw answer.failed.error;
    const { reply } = answer;
    const token = reply.headers['x-auth-token'];
    if (reply.status < 300 && token) {
      hadSession = true;
      const uri = reply.headers.location ?? (reply.body as { '@odata.id'?: string } | undefined)?.['@odata.id'];
      return { is: 'session', token, uri: uri === undefined ? undefined : pathOf(uri) };
    }
    if (sessionsExhausted(reply) && settings.authType === 'auto') return { is: 'basic' };
    if (reply.status === 503 || reply.status === 429) throw errorFor(reply, { ...ask, what });
    if (mayFallBack) return { is: 'basic' };
    if (reply.status === 401 || reply.status === 403 || reply.status === 400) throw authFailed(ask, reply.status);
    throw errorFor(reply, { ...ask, what });
  };

  /** Single-flight; a refused login is remembered for a while, so that many nodes behind one BMC do not lock its account. */
  const authenticate = async (ask: Ask): Promise<Auth> => {
    if (refused && refused.until > Date.now()) {
      const { code, facts } = refused.error;
      throw new TemperError(code, { ...facts, node: ask.node });
    }
    // Not the asker's signal: others may be waiting for the same login.
    login ??= openSession({ ...ask, signal: closing.signal })
      .then((using) => {
        auth = using;
        return using;
      })
      .catch((error: unknown) => {
        if (isTemperError(error, 'BmcAuthFailed')) refuse(error);
        throw error;
      })
      .finally(() => {
        login = undefined;
      });
    return unlessAborted(login, ask.signal);
  };

  const refuse = (error: TemperError): void => {
    refused = { error, until: Date.now() + refusalMs };
  };

  const denied = (answer: Answer): boolean =>
    'reply' in answer && (answer.reply.status === 401 || answer.reply.status === 403);

  /** Forgets a session only if it is still the one that was refused: somebody else may have renewed it meanwhile. */
  const forget = (used: Auth): void => {
    if (auth === used && used.is !== 'none') auth = undefined;
  };

  const licence = (answer: Answer): boolean =>
    'reply' in answer &&
    answer.reply.status === 403 &&
    errorFor(answer.reply, { node: '', what: '' }).code === 'BmcUnsupported';

  let closed: Promise<void> | undefined;
  const logOut = async (): Promise<void> => {
    closing.abort();
    await login?.catch(() => undefined);
    if (auth?.is === 'session' && auth.uri !== undefined) {
      const bye = { method: 'DELETE' as const, path: auth.uri, node: '', what: 'the logout' };
      await send({ ...bye, signal: AbortSignal.timeout(logoutMs) }, headersOf(auth)).catch(() => undefined);
    }
    await agent.destroy();
  };

  return {
    settings,
    errorOf: errorFor,
    session: () => (auth?.is === 'session' ? auth.uri : undefined),
    async ask(ask) {
      const using = auth ?? (await authenticate(ask));
      const answer = await send(ask, headersOf(using));
      if (!denied(answer) || licence(answer)) return answer;
      const status = 'reply' in answer ? answer.reply.status : 0;
      forget(using);
      if (using.is !== 'session') {
        const error = authFailed(ask, status);
        if (using.is === 'basic') refuse(error);
        throw error;
      }
      // A denied request was not carried out, so that even a write may be replayed, once.
      const renewed = auth ?? (await authenticate(ask));
      const replay = await send(ask, headersOf(renewed));
      if (!denied(replay) || licence(replay)) return replay;
      throw authFailed(ask, 'reply' in replay ? replay.reply.status : 0);
    },
    close() {
      closed ??= logOut();
      return closed;
    },
  };
};
