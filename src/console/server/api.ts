/** The API as the console calls it: with the caller's own credentials, and with nothing else. */
import type { IncomingMessage } from 'node:http';
import { longestApiAnswer, textWithin } from '../../model/bodies';
import { errorSentence, fetchReason, jsonObject } from '../../model/error-texts';
import { cutOffBy } from '../../model/signals';
import { withHidden } from '../hidden';

/** What the caller presents to the API; it lies sealed in the cookie and nowhere else. */
export type Credentials =
  | { readonly is: 'token'; readonly token: string }
  | { readonly is: 'basic'; readonly username: string; readonly password: string };

/** An answer of the API that is not the thing asked for. `says` is the API's own text, word for word. */
export class ApiRefusal extends Error {
  constructor(
    readonly status: number,
    readonly says: string,
  ) {
    super(says);
  }
}

/** The API, or the identity service, did not answer. */
export class ApiAway extends Error {}

type Query = Readonly<Record<string, string | number | undefined>>;
type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Api = {
  /** Throws ApiRefusal, ApiAway. */
  get<Body>(path: string, query?: Query): Promise<Body>;
  /** Undefined where the caller may not read it, or it is not there. Throws ApiRefusal (401, 5xx), ApiAway. */
  find<Body>(path: string, query?: Query): Promise<Body | undefined>;
  /** The rows of a list, which the API's answer has under the last name of the path. Throws as get does. */
  list<Row>(path: string, query?: Query): Promise<readonly Row[]>;
  /** The same, as find does it. */
  findList<Row>(path: string, query?: Query): Promise<readonly Row[] | undefined>;
  /** @param key Idempotency-Key: the form's, so that a form sent twice is done once */
  send<Body>(method: Method, path: string, body: unknown, key?: string): Promise<Body>;
  /** A stream, without a limit of time. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
};

const requestLimitMs = 60_000;

const basicOf = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

const credentialHeaders = (given: Credentials): Record<string, string> =>
  given.is === 'token' ? { 'x-auth-token': given.token } : { authorization: basicOf(given.username, given.password) };

const refusalOf = async (reply: Response): Promise<ApiRefusal> => {
  const text = await textWithin(reply, longestApiAnswer).catch(() => '');
  return new ApiRefusal(reply.status, errorSentence(text) ?? `The API answered ${reply.status} without a reason.`);
};

/** An address with its parameters, and with some of them changed; those that are undefined or empty are left out. */
export const addressWith = (path: string, query: Query = {}, changes: Query = {}): string => {
  const given = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([key, value]) => [key, `${value}`]))}`;
};

const unlessHidden = (thrown: unknown): undefined => {
  if (!(thrown instanceof ApiRefusal && (thrown.status === 403 || thrown.status === 404))) throw thrown;
};

/** For the API's audit trail and its counts by address, which believe the console where TEMPER_TRUSTED_PROXIES names it. */
const forwardedFor = (browser: IncomingMessage): string =>
  [browser.headers['x-forwarded-for'], browser.socket.remoteAddress].flat().filter(Boolean).join(', ');

/** An answer of the service of this name, and of its body what comes before the signal. Throws ApiAway. */
export const answerOf = async (who: string, url: string, init: RequestInit & { signal: AbortSignal }) =>
  // Credentials are sent nowhere else.
  cutOffBy(await fetch(url, { ...init, redirect: 'error' }).catch(awayOf(who)), init.signal);

const awayOf = (who: string) => (thrown: unknown) =>
  Promise.reject(new ApiAway(`${who} did not answer: ${fetchReason(thrown)}.`));

/** The object in an answer of `most` bytes, without a key where it has no body. Throws ApiAway. */
export const objectIn = async <Body>(who: string, reply: Response, most = longestApiAnswer): Promise<Body> => {
  const text = await textWithin(reply, most).catch(awayOf(who));
  return (jsonObject(text || '{}') ?? awayOf(who)('what came is no JSON')) as Body;
};

/**
 * @param base of the API, without /v1
 * @param browser the request on whose behalf it is asked
 */
export const apiOf = (base: string, credentials: Credentials, browser: IncomingMessage): Api => {
  const exchange = (path: string, init: RequestInit & { signal: AbortSignal }): Promise<Response> =>
    answerOf('The API', `${base}${path}`, {
      ...init,
      headers: {
        ...credentialHeaders(credentials),
        'x-openstack-ironic-api-version': 'latest',
        accept: 'application/json',
        'x-forwarded-for': forwardedFor(browser),
        ...(init.headers as Record<string, string> | undefined),
      },
    });
  const parsed = async <Body>(reply: Response): Promise<Body> =>
    reply.ok ? withHidden(await objectIn<Body>('The API', reply)) : Promise.reject(await refusalOf(reply));
  const get = async <Body>(path: string, query?: Query): Promise<Body> =>
    parsed<Body>(await exchange(addressWith(path, query), { signal: AbortSignal.timeout(requestLimitMs) }));
  const list = async <Row>(path: string, query?: Query): Promise<readonly Row[]> =>
    (await get<Readonly<Record<string, readonly Row[]>>>(path, query))[path.slice(path.lastIndexOf('/') + 1)] ?? [];
  return {
    get,
    list,
    find: <Body>(path: string, query?: Query) => get<Body>(path, query).catch(unlessHidden),
    findList: <Row>(path: string, query?: Query) => list<Row>(path, query).catch(unlessHidden),
    send: async <Body>(method: Method, path: string, body: unknown, key?: string) =>
      parsed<Body>(
        await exchange(path, {
          method,
          signal: AbortSignal.timeout(requestLimitMs),
          headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      ),
    open: (path, headers, signal) => exchange(path, { headers, signal }),
  };
};
