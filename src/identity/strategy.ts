/** Types of the identity strategies: credentials and verdicts. */
import type { Caller } from '../model/access/callers';

/** All that identity reads. Headers such as X-Roles are absent, so they cannot be trusted. */
export type Presented = {
  readonly token: string | null;
  /** X-Service-Token: a service that acts for the caller. */
  readonly serviceToken: string | null;
  readonly authorization: string | null;
  /** X-Temper-Scope: which of the scopes of a token; `system` or a project's id. */
  readonly scope: string | null;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Key of limits per sender: an address, or a /56 network of IPv6. A function, because few strategies need it. */
  readonly sender?: () => string;
  /** Charged before an expensive check. Throws if the sender's budget is spent. */
  readonly spend?: () => Promise<void>;
};

export type IdentityVerdict =
  | { readonly is: 'known'; readonly caller: Caller }
  /** No credential of this kind. */
  | { readonly is: 'absent' }
  /** The reason is for the log and contains no credential. */
  | { readonly is: 'refused'; readonly reason: string }
  /** The strategy cannot check the credential now. */
  | { readonly is: 'unavailable'; readonly reason: string };

export type StrategyName = Exclude<Caller['strategy'], 'public'>;

export type Strategy = {
  readonly name: StrategyName;
  /** A refusal is final unless another strategy reads the same credential. */
  readonly reads: 'token' | 'authorization' | 'nothing';
  /** Its part of WWW-Authenticate. */
  readonly challenge: string;
  identify(presented: Presented): Promise<IdentityVerdict>;
  close?(): Promise<void>;
};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

type Incoming = {
  readonly headers: Headers;
  /** All lines; `headers` keeps only the first Authorization. */
  readonly headersDistinct?: Readonly<Record<string, string[] | undefined>>;
  readonly method: string;
  readonly path: string;
};

const headerIn = (request: Incoming, name: string): string | null => {
  const value = request.headers[name];
  if (value === undefined) return null;
  // Node joins the lines of other headers, and builds all of `headersDistinct` at any access.
  const values = (name === 'authorization' ? request.headersDistinct?.[name] : undefined) ?? value;
  return (typeof values === 'string' ? values : values.join(', ')).trim() || null;
};

/**
 * Empty headers count as absent. Several lines are joined into an invalid credential, because a proxy in front may
 * have checked another line.
 */
export const presentedFrom = (request: Incoming): Presented => {
  return {
    token: headerIn(request, 'x-auth-token'),
    serviceToken: headerIn(request, 'x-service-token'),
    authorization: headerIn(request, 'authorization'),
    scope: headerIn(request, 'x-temper-scope'),
    method: request.method,
    path: request.path,
  };
};

export const absent: IdentityVerdict = { is: 'absent' };
export const refused = (reason: string): IdentityVerdict => ({ is: 'refused', reason });
export const unavailable = (reason: string): IdentityVerdict => ({ is: 'unavailable', reason });

/** Runs one `work` per key at a time; concurrent callers share it. */
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
