/** How a resource describes its routes: a table of methods, paths, rules and schemas, walked by the server. */
import type { z } from 'zod';
import type { Caller } from '../../model/access/callers';
import type { Origin } from '../../model/resources/audit';
import type { ApiContext } from '../context';
import type { Stream } from './sse';

/** What a handler is asked: parsed, and from a caller who is known. */
export type ApiRequest<Params, Query, Body> = {
  readonly who: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The request's minor version. */
  readonly version: number;
  readonly requestId: string;
  /** Where the request came from. */
  readonly origin: Origin;
  /** What links begin with: scheme and host, without a trailing slash. */
  readonly base: string;
  /** A request header, by its name in lower case. */
  header(name: string): string | undefined;
  /** Asks once more who the caller is, for an answer that goes on: a token may have ended meanwhile. Throws as at first. */
  readonly again: () => Promise<Caller>;
};

/**
 * What a handler answers. Without `body` nothing is sent, and no content type. `text` is JSON that is ready to be sent, and
 * `bytes` is its UTF-8, in pieces.
 */
export type Answer = {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly bytes?: readonly Buffer[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Server-sent events instead of a body. */
  readonly stream?: Stream;
};

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * What a good answer holds, by status: the shape of its JSON; the media type of what is no JSON; null for nothing at all.
 */
export type Answers = Readonly<Record<number, z.ZodType | string | null>>;

/** A request whose parts have not been through their schemas. */
export type Unread = {
  readonly who: Caller;
  /** Of the path, as they came. */
  readonly params: Readonly<Record<string, string>>;
  /** A field of the body where that is an object; undefined otherwise. */
  field(name: string): unknown;
  /** The request's minor version. */
  readonly version: number;
};

export type RouteDefinition<Params, Query, Body> = {
  readonly method: Method;
  /** With its version prefix, parameters as `:name`. */
  readonly path: string;
  /** The first of its rules, where that is about no object: asked before query and body are looked at. */
  readonly asks?: string;
  /**
   * Throws where the caller may not do this, whatever the body says. Run where a request is refused with 400, so that such a
   * caller is answered 403 or 404 all the same, and nothing of what a good body would be; other requests cost nothing by it.
   */
  readonly requireAllowed?: (request: Unread, ctx: ApiContext) => Promise<void>;
  /** Minor version from which it exists; default 1. */
  readonly since?: number;
  /** What an older request gets; default 404. */
  readonly tooOld?: 404 | 405 | 406;
  /** Its handler refuses an older request, once the rules have admitted the caller. */
  readonly gatesItself?: true;
  /** Every rule its handler may ask, in order; or that it needs no login. */
  readonly rules: readonly string[] | 'public';
  /** It needs no login, and yet its rules are asked: of a caller about whom nothing is known. */
  readonly open?: true;
  /** Asking leaves a row in the audit trail although nothing is changed. */
  readonly audited?: true;
  /** A request with a body that is only asked about: it leaves nothing, in the audit trail either. */
  readonly changesNothing?: true;
  /** A request that changes something, and is served during a recovery all the same. */
  readonly duringRecovery?: true;
  /** Bytes of a body at most, where that is not the API's own limit. */
  readonly bodyLimit?: number;
  /** Values in a body at most, where that is not the API's own limit. */
  readonly bodyValues?: number;
  /** A machine writes the body: what cannot be stored of its texts is replaced, because no author could leave it out. */
  readonly cleansTexts?: true;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  /** Without a schema a body is refused where it is not empty; on GET and on DELETE it is ignored then. */
  readonly body?: z.ZodType<Body>;
  /** The body is a set of arguments, and query keys count as such: `?target=x` equals `{"target": "x"}`. */
  readonly arguments?: true;
  /** Runs after the version check and before the body's schema: what an older version must not name yet (406). */
  readonly gate?: (
    given: { readonly body: unknown; readonly query: Readonly<Record<string, unknown>> },
    minor: number,
  ) => void;
  /**
   * How a request with an Idempotency-Key is finished whose work is committed and whose process died: rebuilt from the store,
   * unless what is written down is only an intent that its own id keeps from being carried out twice.
   */
  readonly cutOff?: 'again';
  /** The collection in which what the request makes is shown, where that is not the path itself. */
  readonly madeIn?: string;
  /** For the API's description, where it does not follow from method, path and resource table: description/answers.ts. */
  readonly answers?: Answers;
  handler(request: ApiRequest<Params, Query, Body>, ctx: ApiContext): Promise<Answer>;
};

/** A route whose types have been forgotten, as the server keeps it. */
export type Route = RouteDefinition<never, never, never>;

/** Defines a route; only there for its types. */
export const route = <Params = unknown, Query = unknown, Body = unknown>(
  definition: RouteDefinition<Params, Query, Body>,
): Route => definition as unknown as Route;

export const ok = (body: unknown): Answer => ({ status: 200, body });
export const created = (body: unknown, location: string): Answer => ({
  status: 201,
  body,
  headers: { Location: location },
});
export const accepted = (location?: string): Answer => ({
  status: 202,
  headers: location === undefined ? {} : { Location: location },
});
export const noContent = (location?: string): Answer => ({
  status: 204,
  headers: location === undefined ? {} : { Location: location },
});
