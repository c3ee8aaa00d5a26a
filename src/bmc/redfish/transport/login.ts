/** Login: a session if the BMC and the node allow it, else basic credentials. */
import { asDocument } from '../../../model/document';
import { raise, type TemperError } from '../../../model/errors';
import { type Reply, sessionsExhausted } from './replies';
import type { RedfishSettings } from './settings';
import type { Wire, WireRequest } from './wire';

export type Auth =
  | { readonly is: 'none' }
  | { readonly is: 'basic' }
  | { readonly is: 'session'; readonly token: string; readonly uri: string | undefined };

type Errors = {
  readonly errorFor: (reply: Reply, asked: Pick<WireRequest, 'node' | 'what'>) => TemperError;
  readonly authFailed: (ask: WireRequest, status: number) => TemperError;
};

const denials: readonly number[] = [400, 401, 403];
const notNow: readonly number[] = [429, 503];

type Login = Errors & {
  readonly settings: RedfishSettings;
  readonly wire: Wire;
  hadSession: boolean;
  sessionsPath: string | undefined;
};

/** Ignores the host name; undefined if it is no URL. */
const pathOnBmc = ({ address }: RedfishSettings, location: unknown): string | undefined => {
  if (typeof location !== 'string' || !URL.canParse(location, address.origin)) return undefined;
  const url = new URL(location, address.origin);
  return `${url.pathname}${url.search}`;
};

/** The root's link, else the standard's path. Undefined if the BMC has no sessions. */
const findSessions = async (login: Login, ask: WireRequest): Promise<string | undefined> => {
  if (login.sessionsPath !== undefined) return login.sessionsPath;
  const { settings, wire, errorFor } = login;
  const path = `${settings.address.prefix}/redfish/v1/`;
  const root = await wire.send({ ...ask, method: 'GET', kind: 'read', path, body: undefined, headers: {} }, {});
  if ('failed' in root) throw root.failed.error;
  const { reply } = root;
  if (reply.status >= 500 || reply.garbled) throw errorFor(reply, { ...ask, what: `GET ${path}` });
  const body = (reply.body ?? {}) as { Links?: { Sessions?: { '@odata.id'?: unknown } }; SessionService?: unknown };
  const link = body.Links?.Sessions?.['@odata.id'];
  // Some roots require credentials or link only the service. Then the standard's path is tried.
  login.sessionsPath = pathOnBmc(settings, link);
  if (login.sessionsPath === undefined && (reply.status >= 400 || body.SessionService !== undefined))
    return `${path}SessionService/Sessions`;
  return login.sessionsPath;
};

const sessionOf = (settings: RedfishSettings, reply: Reply): Auth | undefined => {
  const token = reply.headers['x-auth-token'];
  if (reply.status >= 300 || !token) return undefined;
  const uri = reply.headers.location ?? asDocument(reply.body)['@odata.id'];
  return { is: 'session', token, uri: pathOnBmc(settings, uri) };
};

const openSession = async (login: Login, ask: WireRequest): Promise<Auth> => {
  const { authType, username, password, address } = login.settings;
  if (authType === 'basic') return { is: 'basic' };
  const mayFallBack = authType === 'auto' && !login.hadSession;
  const path = await findSessions(login, ask);
  if (path === undefined && mayFallBack) return { is: 'basic' };
  if (path === undefined) return raise('BmcUnsupported', { node: ask.node, bmc: address.label, what: 'sessions' });
  const body = { UserName: username, Password: password };
  const what = 'the login';
  const request = { ...ask, method: 'POST' as const, kind: 'login' as const, path, body, headers: {}, what };
  const answer = await login.wire.send(request, {});
  if ('failed' in answer) throw answer.failed.error;
  const { reply } = answer;
  const session = sessionOf(login.settings, reply);
  if (session) {
    login.hadSession = true;
    return session;
  }
  if (sessionsExhausted(reply) && authType === 'auto') return { is: 'basic' };
  if (mayFallBack && !notNow.includes(reply.status)) return { is: 'basic' };
  throw denials.includes(reply.status) ? login.authFailed(ask, reply.status) : login.errorFor(reply, request);
};

/**
 * One login per call. In `auto`, basic replaces missing sessions, but not after a session has worked (like openstack/sushy auth.py).
 * Throws BmcAuthFailed, BmcBusy, BmcUnsupported and the wire's errors.
 */
export const createLogin = (settings: RedfishSettings, wire: Wire, errors: Errors) => {
  const login: Login = { settings, wire, ...errors, hadSession: false, sessionsPath: undefined };
  return (ask: WireRequest): Promise<Auth> => openSession(login, ask);
};
