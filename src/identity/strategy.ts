/** What every way of establishing a caller has in common: what a request presents, and what can be concluded from it. */
import type { Caller } from '../model/access/callers';

/** All that identity looks at in a request. Headers such as X-Roles have no place here, so they cannot be believed. */
export type Presented = {
  /** X-Auth-Token. */
  readonly token: string | null;
  /** X-Service-Token: a service acting on behalf of the caller. */
  readonly serviceToken: string | null;
  /** Authorization. */
  readonly authorization: string | null;
  readonly method: string;
  /** As requested, without the query. */
  readonly path: string;
  /**
   * Where it comes from, for what one sender may keep busy at once: an address, or the network of an IPv6 household. A
   * function, for few strategies ask, and not for a credential that they remember.
   */
  readonly sender?: () => string;
  /** Asked before a credential is looked at that costs something to judge; throws where its sender has spent its budget. */
  readonly spend?: () => Promise<void>;
};

export type IdentityVerdict =
  | { readonly is: 'known'; readonly caller: Caller }
  /** The strategy's kind of credential was not presented. */
  | { readonly is: 'absent' }
  /** Presented and wrong. The reason is for the log, and holds no credential. */
  | { readonly is: 'refused'; readonly reason: string }
  /** Presented, and the strategy cannot say. */
  | { readonly is: 'unavailable'; readonly reason: string };

export type StrategyName = Exclude<Caller['strategy'], 'public'>;

export type Strategy = {
  readonly name: StrategyName;
  /** The credential it judges: a refusal stands unless another strategy judges the same one. */
  readonly reads: 'token' | 'authorization' | 'nothing';
  /** Its part of WWW-Authenticate; empty when there is nothing to ask for. */
  readonly challenge: string;
  identify(presented: Presented): Promise<IdentityVerdict>;
  close?(): Promise<void>;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

type Incoming = {
  readonly headers: Headers;
  /** Every line of a header; without it those of `headers`, where node keeps only the first Authorization. */
  readonly headersDistinct?: Readonly<Record<string, string[] | undefined>>;
  readonly method: string;
  readonly path: string;
};

const headerIn = (request: Incoming, name: string): string | null => {
  const value = request.headers[name];
  if (value === undefined) return null;
  // Node joins the lines of any other header itself, and makes all of `headersDistinct` where one of them is asked for.
  const values = (name === 'authorization' ? request.headersDistinct?.[name] : undefined) ?? value;
  return (typeof values === 'string' ? values : values.join(', ')).trim() || null;
};

/**
 * The credentials among a request's headers (lower-case names, as node gives them). Empty ones count as absent; several
 * are joined, which makes one that is invalid: a proxy in front may have checked another one than this code would.
 */
export const presentedFrom = (request: Incoming): Presented => {
  return {
    token: headerIn(request, 'x-auth-token'),
    serviceToken: headerIn(request, 'x-service-token'),
    authorization: headerIn(request, 'authorization'),
    method: request.method,
    path: request.path,
  };
};

export const absent: IdentityVerdict = { is: 'absent' };
export const refused = (reason: string): IdentityVerdict => ({ is: 'refused', reason });
export const unavailable = (reason: string): IdentityVerdict => ({ is: 'unavailable', reason });

/** Runs at most one `work` per key at a time; the others who ask meanwhile share its outcome. */
export const singleFlight = <T>(): ((key: string, work: () => Promise<T>) => Promise<T>) => {
  const flying = new Map<string, Promise<T>>();
  return (key, work) => {
    const current = flying.get(key);
    if (current) return current;
    const flight = work().finally(() => flying.delete(key));
    flying.set(key, flight);
    return flight;
  };
};
