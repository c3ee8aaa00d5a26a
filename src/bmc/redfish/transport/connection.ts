/** Connection of one account to one BMC, with one new login when the session is refused. */

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
  /** The error has no secrets that the BMC echoed. */
  errorOf(reply: Reply, asked: Pick<WireRequest, 'node' | 'what'>): TemperError;
  /** Throws BmcAuthFailed, BmcAddressRefused, BmcTlsFailed and the signal's reason; everything else is an answer. */
  ask(ask: WireRequest): Promise<WireAnswer>;
  /** Shows if the BMC has lost the session. */
  session(): string | undefined;
  close(): Promise<void>;
};

/** Pause after a refused login, because BMCs lock accounts. */
const refusalMs = 10_000;
const logoutMs = 5_000;

/** Ends only the wait; the shared work continues. */
const unlessAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T> => {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop));
};

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
    // Not the request's signal: others may wait for the same login.
    account.auth = await account.openSession({ ...ask, signal: account.closing.signal, mayStillSend: undefined });
    return account.auth;
  } catch (error) {
    if (isTemperError(error, 'BmcAuthFailed')) rememberRefusal(account, error);
    throw error;
  } finally {
    account.login = undefined;
  }
};

/** A refused login is cached, so that many nodes behind one BMC do not lock its account. */
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

/** A missing licence is a 403 too, but no refusal of credentials. */
const isDenied = (account: Account, answer: WireAnswer): boolean =>
  'reply' in answer &&
  (answer.reply.status === 401 ||
    (answer.reply.status === 403 && errorFor(account, answer.reply, { node: '', what: '' }).code !== 'BmcUnsupported'));

/** Another request may have renewed the session meanwhile, so only the refused one is dropped. */
const forget = (account: Account, used: Auth): void => {
  if (account.auth === used && used.is !== 'none') account.auth = undefined;
};

/** Best effort: BMCs expire sessions. */
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
  // BMCs have few sessions, and a 403 does not end this one.
  if (status === 403) await logOut(account, using);
  // A denied request was not carried out, so even a write may be repeated once.
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

/** The first request logs in. `pace` is shared by all accounts of the BMC. */
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
