/** API client with the caller's own credentials only. */
import type { IncomingMessage } from 'node:http';
import { longestApiAnswer, textWithin } from '../../model/bodies';
import { errorSentence, fetchReason, jsonObject } from '../../model/error-texts';
import { cutOffBy } from '../../model/signals';
import { withHidden } from '../hidden';

/** Credentials of the caller. They exist only in the sealed cookie. */
export type Credentials =
  | { readonly is: 'token'; readonly token: string }
  | { readonly is: 'basic'; readonly username: string; readonly password: string };

/** An error response; `says` is the API's own text. */
export class ApiRefusal extends Error {
  constructor(
    readonly status: number,
    readonly says: string,
  ) {
    super(says);
  }
}

/** The API or Keystone did not answer. */
export class ApiAway extends Error {}

type Query = Readonly<Record<string, string | number | undefined>>;
type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Api = {
  /** Throws ApiRefusal, ApiAway. */
  get<Body>(path: string, query?: Query): Promise<Body>;
  /** Undefined on 403 and 404. Throws ApiRefusal (401, 5xx), ApiAway. */
  find<Body>(path: string, query?: Query): Promise<Body | undefined>;
  /** Returns the rows under the last segment of the path. Throws as get. */
  list<Row>(path: string, query?: Query): Promise<readonly Row[]>;
  /** Returns rows, or undefined as find does. */
  findList<Row>(path: string, query?: Query): Promise<readonly Row[] | undefined>;
  /** A question with a body, which changes nothing. Throws as get. */
  ask<Body>(path: string, body: unknown): Promise<Body>;
  /** @param key Idempotency-Key, so that a form sent twice acts once */
  send<Body>(method: Method, path: string, body: unknown, key?: string): Promise<Body>;
  /** Opens a stream without a time limit. */
  open(path: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response>;
};

/** A page says within 5 s that the API does not answer. */
const questionLimitMs = 4_000;
/** An act may wait for others at the API. */
const actLimitMs = 60_000;

const basicOf = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

const credentialHeaders = (given: Credentials): Record<string, string> =>
  given.is === 'token' ? { 'x-auth-token': given.token } : { authorization: basicOf(given.username, given.password) };

const apiRefusal = async (reply: Response): Promise<ApiRefusal> => {
  const text = await textWithin(reply, longestApiAnswer).catch(() => '');
  return new ApiRefusal(reply.status, errorSentence(text) ?? `The API answered ${reply.status} without a reason.`);
};

/** Query parameters of a page; of duplicates the first counts. */
export type PageQuery = Readonly<Record<string, string | undefined>>;

/** Merges query parameters, and drops undefined and empty ones. */
export const addressWith = (path: string, query: Query = {}, changes: Query = {}): string => {
  const given = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given.map(([key, value]) => [key, `${value}`]))}`;
};

const unlessHidden = (thrown: unknown): undefined => {
  if (!(thrown instanceof ApiRefusal && (thrown.status === 403 || thrown.status === 404))) throw thrown;
};

/** For the API's audit trail and per-address counts. The API trusts it if TEMPER_TRUSTED_PROXIES names the console. */
const forwardedFor = (browser: IncomingMessage): string =>
  [browser.headers['x-forwarded-for'], browser.socket.remoteAddress].flat().filter(Boolean).join(', ');

/** Fetches without redirects; the signal also cuts the body off. Throws ApiAway. */
export const answerOf = async (who: string, url: string, init: RequestInit & { signal: AbortSignal }) =>
  // Credentials must not reach another host.
  cutOffBy(await fetch(url, { ...init, redirect: 'error' }).catch(awayOf(who)), init.signal);

const awayOf = (who: string) => (thrown: unknown) =>
  Promise.reject(new ApiAway(`${who} did not answer: ${fetchReason(thrown)}.`));

/** Reads at most `most` bytes; an empty body is an empty object. Throws ApiAway. */
export const objectIn = async <Body>(who: string, reply: Response, most = longestApiAnswer): Promise<Body> => {
  const text = await textWithin(reply, most).catch(awayOf(who));
  return (jsonObject(text || '{}') ?? awayOf(who)('what came is no JSON')) as Body;
};

/**
 * @param base of the API, without /v1
 * @param browser request that the console serves
 * @param limitMs longest wait for the answer to a question
 */
export const apiOf = (
  base: string,
  credentials: Credentials,
  browser: IncomingMessage,
  limitMs = questionLimitMs,
): Api => {
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
    reply.ok ? withHidden(await objectIn<Body>('The API', reply)) : Promise.reject(await apiRefusal(reply));
  const get = async <Body>(path: string, query?: Query): Promise<Body> =>
    parsed<Body>(await exchange(addressWith(path, query), { signal: AbortSignal.timeout(limitMs) }));
  const list = async <Row>(path: string, query?: Query): Promise<readonly Row[]> =>
    (await get<Readonly<Record<string, readonly Row[]>>>(path, query))[path.slice(path.lastIndexOf('/') + 1)] ?? [];
  const sent = async <Body>(method: Method, path: string, body: unknown, waitMs: number, key?: string): Promise<Body> =>
    parsed<Body>(
      await exchange(path, {
        method,
        signal: AbortSignal.timeout(waitMs),
        headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
  return {
    get,
    list,
    find: <Body>(path: string, query?: Query) => get<Body>(path, query).catch(unlessHidden),
    findList: <Row>(path: string, query?: Query) => list<Row>(path, query).catch(unlessHidden),
    ask: (path, body) => sent('POST', path, body, limitMs),
    send: (method, path, body, key) => sent(method, path, body, actLimitMs, key),
    open: (path, headers, signal) => exchange(path, { headers, signal }),
  };
};
