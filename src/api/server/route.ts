/** Route definitions of resources: method, path, rules and schemas. */
import type { z } from 'zod';
import type { Caller } from '../../model/access/callers';
import type { TemperError } from '../../model/errors';
import type { Origin } from '../../model/resources/audit';
import type { ApiContext } from '../context';
import type { Stream } from '../streams/sse';

/** A validated request of an identified caller. */
export type ApiRequest<Params = unknown, Query = unknown, Body = unknown> = {
  readonly who: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The request's minor version. */
  readonly version: number;
  readonly requestId: string;
  readonly origin: Origin;
  /** Prefix of links: scheme and host, without a trailing slash. */
  readonly base: string;
  /** @param name in lower case */
  header(name: string): string | undefined;
  /** During a stream, the token may expire. Throws like the first identification. */
  readonly again: () => Promise<Caller>;
};

/** A request that names its objects in its body, and changed none of them. */
export type ManyRefused = {
  /** The refusal that the trail records. */
  readonly error: TemperError;
  /** Names of the refused objects. The trail keeps their beginning, so that refused requests cannot fill the disk. */
  readonly resource_id: string;
};

/** Without `body`, no body and no content type. `text` is ready JSON; `bytes` is its UTF-8 in pieces. */
export type Answer<Body = unknown> = {
  readonly status: number;
  readonly body?: Body;
  readonly text?: string;
  readonly bytes?: readonly Buffer[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Server-sent events in place of a body. */
  readonly stream?: Stream;
  /** The request changed nothing, so the trail records this refusal. Only for answers that report several refusals. */
  readonly refusal?: ManyRefused;
  /** A part failed for a reason that may pass. A repeat with the same Idempotency-Key does that part, and gets another answer. */
  readonly isOpen?: true;
};

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Successful bodies by status: a JSON schema, another media type, or null for none. */
export type Answers = Readonly<Record<number, z.ZodType | string | null>>;

type OutputOf<Shape> = Shape extends z.ZodType ? z.output<Shape> : never;
/** The bodies that the schemas of a route describe. */
type BodyOf<Described extends Answers> = OutputOf<Described[keyof Described]>;

/** A request before schema validation. */
export type Unread = {
  readonly who: Caller;
  /** Path parameters as received. */
  readonly params: Readonly<Record<string, string>>;
  /** Undefined if the body is no object. */
  field(name: string): unknown;
  /** The request's minor version. */
  readonly version: number;
};

export type RouteDefinition<Params, Query, Body, Described extends Answers = Answers> = {
  readonly method: Method;
  /** With its version prefix, parameters as `:name`. */
  readonly path: string;
  /** The first rule, if it needs no object: checked before query and body. */
  readonly asks?: string;
  /**
   * Throws if the caller may not do this, whatever the body. It runs only after a 400: without the permission, the answer is 403 or 404 and
   * reveals nothing of the schema. Other requests do not pay for it.
   */
  readonly requireAllowed?: (request: Unread, ctx: ApiContext) => Promise<void>;
  /** First minor version; default 1. */
  readonly since?: number;
  /** Status for older versions; default 404. */
  readonly tooOld?: 404 | 405 | 406;
  /** The handler refuses older versions itself, after the rules. */
  readonly gatesItself?: true;
  /** All rules that the handler may check, in order; 'public' needs no login. */
  readonly rules: readonly string[] | 'public';
  /** No login, but rules are checked for an anonymous caller. */
  readonly open?: true;
  /** A read that writes an audit row. */
  readonly audited?: true;
  /** A query with a body: it writes nothing, not even an audit row. */
  readonly changesNothing?: true;
  /** A change that a recovery allows. */
  readonly duringRecovery?: true;
  /** Default: the API's. */
  readonly bodyLimit?: number;
  /** Default: the API's. */
  readonly bodyValues?: number;
  /** A machine writes the body and cannot correct it, so characters that cannot be stored are replaced. */
  readonly cleansTexts?: true;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  /** Without a schema, a non-empty body is refused; GET and DELETE ignore it. */
  readonly body?: z.ZodType<Body>;
  /** The body holds arguments, which may also be in the query: `?target=x` equals `{"target": "x"}`. */
  readonly arguments?: true;
  /** Runs between version check and body schema. Throws 406 for newer fields. */
  readonly gate?: (
    given: { readonly body: unknown; readonly query: Readonly<Record<string, unknown>> },
    minor: number,
  ) => void;
  /**
   * For an Idempotency-Key whose process died after its commit. By default, the answer is rebuilt from the database. `again` repeats the
   * handler: its record is only an intent, and the request's id prevents a second execution.
   */
  readonly cutOff?: 'again';
  /** For a repeat: the kept answer, without what has been hidden from the caller since. */
  readonly shownAgain?: (kept: string, request: ApiRequest<Params, Query, Body>, ctx: ApiContext) => Promise<string>;
  /** Collection of the created resource; default: the path. */
  readonly madeIn?: string;
  /** The rows come as CSV if the caller accepts that. */
  readonly csv?: true;
  /** For the OpenAPI document; default: from method, path and resource table (openapi/answers.ts). */
  readonly answers?: Described;
  handler(request: ApiRequest<Params, Query, Body>, ctx: ApiContext): Promise<Answer<BodyOf<Described>>>;
};

/** A route without its types. */
export type Route = RouteDefinition<never, never, never>;

/** Compares the handler with its schemas, then drops the types. */
export const route = <Params = unknown, Query = unknown, Body = unknown, Described extends Answers = Answers>(
  definition: RouteDefinition<Params, Query, Body, Described>,
): Route => definition as unknown as Route;

export const ok = <Body>(body: Body): Answer<Body> => ({ status: 200, body });
export const created = <Body>(body: Body, location: string): Answer<Body> => ({
  status: 201,
  body,
  headers: { Location: location },
});
export const accepted = (location?: string): Answer<never> => ({
  status: 202,
  headers: location === undefined ? {} : { Location: location },
});
export const noContent = (location?: string): Answer<never> => ({
  status: 204,
  headers: location === undefined ? {} : { Location: location },
});
