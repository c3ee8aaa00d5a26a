/** Getting in: a session where the BMC offers one and the node allows it, else basic credentials. */
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

/**
 * One login per call, and never a second one for the same cause. In `auto`, basic takes over where sessions are not to
 * be had, but never once a session has worked: then a refusal is a refusal (openstack/sushy auth.py does the same).
 * Throws BmcAuthFailed, BmcBusy, BmcUnsupported and what the wire throws.
 */
export const createLogin = (settings: RedfishSettings, wire: Wire, { errorFor, authFailed }: Errors) => {
  const { address, username, password } = settings;
  let hadSession = false;
  let sessionsPath: string | undefined;

  /** A path on this BMC, whatever host name it calls itself in Location. */
  const pathOf = (location: string): string => {
    const url = new URL(location, address.origin);
    return `${url.pathname}${url.search}`;
  };

  /** Where sessions are made: the root's link, else the place the standard gives it; undefined when the BMC has none. */
  const findSessions = async (ask: WireRequest): Promise<string | undefined> => {
    if (sessionsPath !== undefined) return sessionsPath;
    const path = `${address.prefix}/redfish/v1/`;
    const root = await wire.send({ ...ask, method: 'GET', kind: 'read', path, body: undefined, headers: {} }, {});
    if ('failed' in root) throw root.failed.error;
    const { reply } = root;
    if (reply.status >= 500 || reply.garbled) throw errorFor(reply, { ...ask, what: `GET ${path}` });
    const body = (reply.body ?? {}) as { Links?: { Sessions?: { '@odata.id'?: unknown } }; SessionService?: unknown };
    const link = body.Links?.Sessions?.['@odata.id'];
    // A root that wants credentials says nothing about sessions, some link only the service: try the standard's place.
    if (typeof link === 'string') sessionsPath = pathOf(link);
    else if (reply.status >= 400 || body.SessionService !== undefined) return `${path}SessionService/Sessions`;
    return sessionsPath;
  };

  const sessionOf = (reply: Reply): Auth | undefined => {
    const token = reply.headers['x-auth-token'];
    if (reply.status >= 300 || !token) return undefined;
    const uri = reply.headers.location ?? (reply.body as { '@odata.id'?: string } | undefined)?.['@odata.id'];
    return { is: 'session', token, uri: uri === undefined ? undefined : pathOf(uri) };
  };

  return async (ask: WireRequest): Promise<Auth> => {
    if (settings.authType === 'basic') return { is: 'basic' };
    const mayFallBack = settings.authType === 'auto' && !hadSession;
    const path = await findSessions(ask);
    if (path === undefined)
      return mayFallBack
        ? { is: 'basic' }
        : raise('BmcUnsupported', { node: ask.node, bmc: address.label, what: 'sessions' });
    const body = { UserName: username, Password: password };
    const login = {
      ...ask,
      method: 'POST' as const,
      kind: 'login' as const,
      path,
      body,
      headers: {},
      what: 'the login',
    };
    const answer = await wire.send(login, {});
    if ('failed' in answer) throw answer.failed.error;
    const { reply } = answer;
    const session = sessionOf(reply);
    if (session) {
      hadSession = true;
      return session;
    }
    if (sessionsExhausted(reply) && settings.authType === 'auto') return { is: 'basic' };
    if (mayFallBack && !notNow.includes(reply.status)) return { is: 'basic' };
    throw denials.includes(reply.status) ? authFailed(ask, reply.status) : errorFor(reply, login);
  };
};
