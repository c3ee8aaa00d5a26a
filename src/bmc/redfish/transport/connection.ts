/** One BMC as seen by one account: its sockets, its session, and requests that log in again once when they must. */

import { hideSecrets } from '../../../model/access/secrets';
import { isTemperError, TemperError } from '../../../model/errors';
import type { DriverHands } from '../../contract';
import type { Tls } from '../../network';
import { type Auth, createLogin } from './login';
import { pacedWire } from './paced-wire';
import type { Pace } from './pacing';
import { errorOf, type Reply } from './replies';
import type { RedfishSettings } from './settings';
import { type Answer, createWire, type WireRequest } from './wire';

export type Connection = {
  readonly settings: RedfishSettings;
  /** The error an answer amounts to, without any secret the BMC may have echoed. */
  errorOf(reply: Reply, asked: Pick<WireRequest, 'node' | 'what'>): TemperError;
  /** Throws BmcAuthFailed, BmcAddressRefused, BmcTlsFailed and the signal's reason; everything else is an answer. */
  ask(ask: WireRequest): Promise<Answer>;
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

/** Opens nothing yet: the first request logs in. `pace` is that of the BMC, for all accounts. */
export const createConnection = (settings: RedfishSettings, tls: Tls, hands: DriverHands, pace: Pace): Connection => {
  const { address, username, password } = settings;
  const wire = pacedWire(createWire(settings, tls, hands), pace, address.label, hands.observe);
  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

  let auth: Auth | undefined = username === undefined ? { is: 'none' } : undefined;
  let login: Promise<Auth> | undefined;
  let refused: { error: TemperError; until: number } | undefined;
  const closing = new AbortController();

  const mask = (text: string): string =>
    hideSecrets(text, [password, basic.slice('Basic '.length), auth?.is === 'session' ? auth.token : undefined]);
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

  const authFailed = (ask: WireRequest, status: number): TemperError =>
    new TemperError('BmcAuthFailed', { node: ask.node, bmc: address.label, what: ask.what, status });

  const openSession = createLogin(settings, wire, { errorFor, authFailed });

  /** Single-flight; a refused login is remembered for a while, so that many nodes behind one BMC do not lock its account. */
  const authenticate = async (ask: WireRequest): Promise<Auth> => {
    if (refused && refused.until > performance.now()) {
      const { code, facts } = refused.error;
      throw new TemperError(code, { ...facts, node: ask.node });
    }
    // Not the asker's signal: others may be waiting for the same login.
    login ??= openSession({ ...ask, signal: closing.signal, mayStillSend: undefined })
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
    refused = { error, until: performance.now() + refusalMs };
  };

  const denied = (answer: Answer): boolean =>
    'reply' in answer && (answer.reply.status === 401 || answer.reply.status === 403);

  /** Forgets a session only if it is still the one that was refused: another request may have renewed it meanwhile. */
  const forget = (used: Auth): void => {
    if (auth === used && used.is !== 'none') auth = undefined;
  };

  const licence = (answer: Answer): boolean =>
    'reply' in answer &&
    answer.reply.status === 403 &&
    errorFor(answer.reply, { node: '', what: '' }).code === 'BmcUnsupported';

  /** Best effort: a BMC that is gone forgets its sessions by itself. */
  const logOut = async (used: Auth): Promise<void> => {
    if (used.is !== 'session' || used.uri === undefined) return;
    const signal = AbortSignal.timeout(logoutMs);
    const bye = {
      method: 'DELETE' as const,
      kind: 'logout' as const,
      path: used.uri,
      node: '',
      what: 'the logout',
      signal,
    };
    await wire.send(bye, headersOf(used)).catch(() => undefined);
  };

  let closed: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    closing.abort();
    await login?.catch(() => undefined);
    if (auth) await logOut(auth);
    await wire.close();
  };

  return {
    settings,
    errorOf: errorFor,
    session: () => (auth?.is === 'session' ? auth.uri : undefined),
    async ask(ask) {
      const using = auth ?? (await authenticate(ask));
      const answer = await wire.send(ask, headersOf(using));
      if (!denied(answer) || licence(answer)) return answer;
      const status = 'reply' in answer ? answer.reply.status : 0;
      forget(using);
      if (using.is !== 'session') {
        const error = authFailed(ask, status);
        if (using.is === 'basic') refuse(error);
        throw error;
      }
      // A session that is still good for other things would be left behind, and BMCs have few.
      if (status === 403) await logOut(using);
      // A denied request was not carried out, so that even a write may be replayed, once.
      const renewed = auth ?? (await authenticate(ask));
      const replay = await wire.send(ask, headersOf(renewed));
      if (!denied(replay) || licence(replay)) return replay;
      throw authFailed(ask, 'reply' in replay ? replay.reply.status : 0);
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
};
