/** One BMC as seen by one account: its sockets, its session, and requests that log in again once when they must. */

import { hideSecrets } from '../../../model/access/secrets';
import { isTemperError, TemperError } from '../../../model/errors';
import type { DriverDeps } from '../../contract';
import type { Tls } from '../../network';
import { type Auth, createLogin } from './login';
import { pacedWire } from './paced-wire';
import type { Pace } from './pacing';
import { errorOf, type Reply } from './replies';
import type { RedfishSettings } from './settings';
import { createWire, type Wire, type WireAnswer, type WireRequest } from './wire';

export type Connection = {
  readonly settings: RedfishSettings;
  /** The error an answer amounts to, without any secret the BMC may have echoed. */
  errorOf(reply: Reply, asked: Pick<WireRequest, 'node' | 'what'>): TemperError;
  /** Throws BmcAuthFailed, BmcAddressRefused, BmcTlsFailed and the signal's reason; everything else is an answer. */
  ask(ask: WireRequest): Promise<WireAnswer>;
  /** The session in use, to recognise a BMC that has forgotten it. */
  session(): string | undefined;
  /** Logs out and closes the sockets. */
  close(): Promise<void>;
};

/** After a refused login no request tries the same credentials for so long: accounts lock. */
const refusalMs = 10_000;
/** A worker that ends does not wait longer than this for a BMC to say goodbye. */
const logoutMs = 5_000;

/** Stops waiting for something that goes on without us. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop));
};

/** What a connection knows and how far it has come; its functions are below. */
type Account = {
  readonly settings: RedfishSettings;
  readonly wire: Wire;
  readonly basic: string;
  readonly openSession: (ask: WireRequest) => Promise<Auth>;
  readonly closing: AbortController;
  auth: Auth | undefined;
  login: Promise<Auth> | undefined;
  refused: { readonly error: TemperError; readonly until: number } | undefined;
  closed: Promise<void> | undefined;
};

const errorFor = (
  { settings: { address, password }, basic, auth }: Pick<Account, 'settings' | 'basic' | 'auth'>,
  reply: Reply,
  { node, what }: Pick<WireRequest, 'node' | 'what'>,
): TemperError => {
  const secrets = [password, basic.slice('Basic '.length), auth?.is === 'session' ? auth.token : undefined];
  return errorOf(reply, { node, what, bmc: address.label }, (text) => hideSecrets(text, secrets));
};

const authFailed = ({ address }: RedfishSettings, ask: WireRequest, status: number): TemperError =>
  new TemperError('BmcAuthFailed', { node: ask.node, bmc: address.label, what: ask.what, status });

const credentialHeaders = ({ basic }: Account, using: Auth): Record<string, string> => {
  switch (using.is) {
    case 'none':
      return {};
    case 'basic':
      return { authorization: basic };
    case 'session':
      return { 'x-auth-token': using.token };
  }
};

const rememberRefusal = (account: Account, error: TemperError): void => {
  account.refused = { error, until: performance.now() + refusalMs };
};

const logIn = async (account: Account, ask: WireRequest): Promise<Auth> => {
  try {
    // Not the asker's signal: others may be waiting for the same login.
    account.auth = await account.openSession({ ...ask, signal: account.closing.signal, mayStillSend: undefined });
    return account.auth;
  } catch (error) {
    if (isTemperError(error, 'BmcAuthFailed')) rememberRefusal(account, error);
    throw error;
  } finally {
    account.login = undefined;
  }
};

/** Single-flight; a refused login is remembered for a while, so that many nodes behind one BMC do not lock its account. */
const authenticate = async (account: Account, ask: WireRequest): Promise<Auth> => {
  const { refused } = account;
  if (refused && refused.until > performance.now()) {
    const { code, facts } = refused.error;
    throw new TemperError(code, { ...facts, node: ask.node });
  }
  account.login ??= logIn(account, ask);
  return unlessAborted(account.login, ask.signal);
};

const statusOf = (answer: WireAnswer): number => ('reply' in answer ? answer.reply.status : 0);

/** Whether the credentials were not accepted; a missing licence is a 403 too, and has nothing to do with them. */
const isDenied = (account: Account, answer: WireAnswer): boolean =>
  'reply' in answer &&
  (answer.reply.status === 401 ||
    (answer.reply.status === 403 && errorFor(account, answer.reply, { node: '', what: '' }).code !== 'BmcUnsupported'));

/** Forgets a session only if it is still the one that was refused: another request may have renewed it meanwhile. */
const forget = (account: Account, used: Auth): void => {
  if (account.auth === used && used.is !== 'none') account.auth = undefined;
};

/** Best effort: a BMC that is gone forgets its sessions by itself. */
const logOut = async (account: Account, used: Auth): Promise<void> => {
  if (used.is !== 'session' || used.uri === undefined) return;
  const signal = AbortSignal.timeout(logoutMs);
  const what = 'the logout';
  const bye = { method: 'DELETE' as const, kind: 'logout' as const, path: used.uri, node: '', what, signal };
  await account.wire.send(bye, credentialHeaders(account, used)).catch(() => undefined);
};

const sendAuthenticated = async (account: Account, ask: WireRequest): Promise<WireAnswer> => {
  const using = account.auth ?? (await authenticate(account, ask));
  const answer = await account.wire.send(ask, credentialHeaders(account, using));
  if (!isDenied(account, answer)) return answer;
  const status = statusOf(answer);
  forget(account, using);
  if (using.is !== 'session') {
    const error = authFailed(account.settings, ask, status);
    if (using.is === 'basic') rememberRefusal(account, error);
    throw error;
  }
  // A session that is still good for other things would be left behind, and BMCs have few.
  if (status === 403) await logOut(account, using);
  // A denied request was not carried out, so that even a write may be replayed, once.
  const renewed = account.auth ?? (await authenticate(account, ask));
  const replay = await account.wire.send(ask, credentialHeaders(account, renewed));
  if (!isDenied(account, replay)) return replay;
  throw authFailed(account.settings, ask, statusOf(replay));
};

const closeAll = async (account: Account): Promise<void> => {
  account.closing.abort();
  await account.login?.catch(() => undefined);
  if (account.auth) await logOut(account, account.auth);
  await account.wire.close();
};

/** Opens nothing yet: the first request logs in. `pace` is that of the BMC, for all accounts. */
export const createConnection = (settings: RedfishSettings, tls: Tls, deps: DriverDeps, pace: Pace): Connection => {
  const { address, username, password } = settings;
  const wire = pacedWire(createWire(settings, tls, deps), pace, address.label, deps.observe);
  const account: Account = {
    settings,
    wire,
    basic: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    openSession: createLogin(settings, wire, {
      errorFor: (reply, ask) => errorFor(account, reply, ask),
      authFailed: (ask, status) => authFailed(settings, ask, status),
    }),
    closing: new AbortController(),
    auth: username === undefined ? { is: 'none' } : undefined,
    login: undefined,
    refused: undefined,
    closed: undefined,
  };
  return {
    settings,
    errorOf: (reply, ask) => errorFor(account, reply, ask),
    session: () => (account.auth?.is === 'session' ? account.auth.uri : undefined),
    ask: (ask) => sendAuthenticated(account, ask),
    close() {
      account.closed ??= closeAll(account);
      return account.closed;
    },
  };
};
