/** The API's HTTP surface: walks the routes, and puts who, which version and what in front of every handler. */
import { randomUUID } from 'node:crypto';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { presentedFrom } from '../identity';
import { originOf } from '../model/audit';
import { type Caller, nobody } from '../model/callers';
import { raise, TemperError } from '../model/errors';
import { checkText, readBody } from './body';
import { asTemperError, replyFor, schemaError } from './errors';
import { byPrecision, locate } from './paths';
import type { Rooms } from './rooms';
import type { Answer, Route } from './route';
import { writeStream } from './streaming';
import { createTrail, type Followed, type Trail } from './trail';
import { routes as allRoutes } from './v1';
import { negotiate, rangeHeaders, requireMinor, versionHeaders } from './versions';

const publicCaller: Caller = { ...nobody, is_public_api: true };

// The suffix that was taken off a path, so that a name which really ends in it can be tried next.
const suffixes = new WeakMap<Request, string | null>();

/**
 * The API on its rooms. `/healthz`, `/readyz` and `/metrics` belong in front of it: every path here needs a caller,
 * but for the two discovery documents.
 * @param routes for tests; the product's by default
 * @param trail whoever gives one closes it, so that nothing it has counted is lost
 */
export const createApi = (
  rooms: Rooms,
  routes: readonly Route[] = allRoutes,
  trail: Trail = createTrail(rooms),
): Express => {
  const serve = serving(rooms, trail);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.use(normalise);
  for (const [path, methods] of byPath(routes)) {
    const at = app.route(path);
    for (const one of methods) at[one.method.toLowerCase() as 'get'](serve(one, app, methods));
    at.all(serve(notOffered(methods), app, methods));
  }
  app.use(serve(nowhere, app, []));
  app.use(undecodable);
  return app;
};

const byPath = (routes: readonly Route[]): [string, Route[]][] => {
  const groups = new Map<string, Route[]>();
  for (const one of routes) groups.set(one.path, [...(groups.get(one.path) ?? []), one]);
  return [...groups].sort(([a], [b]) => byPrecision(a, b));
};

const isOpen = ({ rules, open }: Route): boolean => rules === 'public' || open === true;

/** Answers a method that nothing at this path offers; discovery paths stay public for it. */
const notOffered = (methods: readonly Route[]): Route => ({
  method: 'GET',
  path: '*',
  rules: methods.every(isOpen) ? 'public' : [],
  handler: async () => raise('PathNotFound'),
  gate: undefined,
  tooOld: 405,
  since: Number.POSITIVE_INFINITY,
});

const nowhere: Route = { method: 'GET', path: '*', rules: [], handler: async () => raise('PathNotFound') };

const normalise = (request: Request, _response: Response, next: NextFunction): void => {
  if (suffixes.get(request) === undefined) {
    const { url, suffixed } = locate(request.url, request.headers);
    request.url = url;
    if (suffixed) suffixes.set(request, suffixed);
  }
  next();
};

/** A path with a broken percent escape never reaches a route. */
const undecodable = (_thrown: unknown, _request: Request, response: Response, _next: NextFunction): void => {
  const requestId = newRequestId();
  const error = new TemperError('InvalidInput', { field: 'path', reason: 'is not a valid URL path' });
  write(response, { status: error.status, text: replyFor(error).text }, requestId, rangeHeaders);
};

const newRequestId = (): string => `req-${randomUUID()}`;

const originFrom = (request: Request) => originOf(request.socket.remoteAddress, request.get('x-forwarded-for'));

const serving =
  (rooms: Rooms, trail: Trail) =>
  /** @param here every route at this path, for an answer that says what is offered */
  (route: Route, app: Express, here: readonly Route[]) =>
  async (request: Request, response: Response) => {
    const requestId = newRequestId();
    let followed: Followed | undefined;
    let versions: Readonly<Record<string, string>> = rangeHeaders;
    try {
      const again = () => rooms.identity.identify(presentedFrom(request));
      const who = isOpen(route) ? publicCaller : await again();
      const origin = originFrom(request);
      followed = trail.follow({ route, params: request.params, who, requestId, origin });
      const version = negotiate(request.headers);
      versions = versionHeaders(version);
      refuseOld(route, version, request.method, here);
      const given = await read(route, request, response, version);
      const base = rooms.settings.publicEndpoint ?? `${request.protocol}://${request.get('host') ?? 'localhost'}`;
      const header = (name: string) => request.get(name);
      const leavesRow = followed?.leavesRow;
      const asking = { ...given, who, version, requestId, origin, base, header, again, leavesRow };
      const answer = await route.handler(asking as never, followed?.rooms ?? rooms);
      await followed?.granted();
      if (answer.stream) return await stream(rooms, request, response, answer, requestId, versions);
      write(response, answer, requestId, versions);
    } catch (thrown) {
      const error = asTemperError(thrown, requestId);
      const suffixed = suffixes.get(request);
      if (error.status === 404 && suffixed) {
        suffixes.set(request, null);
        request.url = suffixed;
        app(request, response);
        return;
      }
      report(rooms, error, request, requestId);
      await followed?.ended(error);
      const reply = replyFor(error);
      write(response, reply, requestId, reply.versioned ? versions : {});
    }
  };

const refuseOld = (route: Route, version: number, method: string, here: readonly Route[]): void => {
  const since = route.since ?? 1;
  if (version >= since) return;
  const style = route.tooOld ?? 404;
  if (style === 405) raise('MethodNotAllowed', { method, allow: offeredAt(here, version).join(', ') });
  if (style === 406) requireMinor(version, since, `${route.method} ${route.path}`);
  raise('PathNotFound');
};

type Query = Readonly<Record<string, unknown>>;

/** Methods that these routes offer to a version; who can GET can HEAD. */
const offeredAt = (here: readonly Route[], version: number): string[] =>
  here
    .filter((one) => version >= (one.since ?? 1))
    .flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));

/** The parts of a request through their schemas. Throws what the caller did wrong. */
const read = async (route: Route, request: Request, response: Response, version: number) => {
  const query = request.query as Query;
  for (const [name, value] of Object.entries(query)) if (typeof value === 'string') checkText(value, name);
  const body = await bodyOf(route, request, response);
  route.gate?.({ body: body ?? {}, query }, version);
  return {
    params: parse(route.params, request.params, 'path'),
    query: route.arguments ? {} : parse(route.query ?? nothing, query, 'query'),
    body: parse(route.body, route.arguments ? merged(query, body) : body, 'body'),
  };
};

const nothing = z.strictObject({});

const bodyOf = async (route: Route, request: Request, response: Response): Promise<unknown> => {
  const { method } = request;
  const takesBody =
    method === 'POST' || method === 'PUT' || method === 'PATCH' || (method === 'DELETE' && route.body !== undefined);
  if (!takesBody) return undefined;
  const body = await readBody(request, response, route);
  if (body !== undefined && !route.body) raise('InvalidInput', { field: 'body', reason: 'this request takes no body' });
  return body;
};

const merged = (query: Readonly<Record<string, unknown>>, body: unknown): unknown =>
  body === undefined || body === null
    ? query
    : typeof body === 'object' && !Array.isArray(body)
      ? { ...query, ...body }
      : body;

const parse = (schema: z.ZodType | undefined, value: unknown, where: string): unknown => {
  if (!schema) return value;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw schemaError(parsed.error, where, where === 'query' ? (value as Query) : undefined);
  return parsed.data;
};

const idHeaders = (requestId: string) => ({
  'X-OpenStack-Request-Id': requestId,
  'OpenStack-Request-Id': requestId,
});

const stream = async (
  rooms: Rooms,
  request: Request,
  response: Response,
  answer: Answer,
  requestId: string,
  versions: Readonly<Record<string, string>>,
): Promise<void> => {
  const headers = { ...versions, ...idHeaders(requestId), ...answer.headers };
  const thrown = await writeStream(request, response, { status: answer.status, headers, stream: answer.stream! });
  if (thrown) rooms.log.warn('a stream ended early', { request_id: requestId, reason: String(thrown) });
};

/** Characters; a shorter text goes out in one write with its headers. */
const encodeOnceFrom = 65_536;

const write = (
  response: Response,
  answer: Answer,
  requestId: string,
  versions: Readonly<Record<string, string>>,
): void => {
  const text = answer.text ?? (answer.body === undefined ? undefined : JSON.stringify(answer.body));
  const headers: Record<string, string | number> = {
    ...versions,
    ...idHeaders(requestId),
    ...answer.headers,
  };
  if (text === undefined) {
    // 202 may have a body, so without a length the answer would be chunked; 204 must not name one.
    if (answer.status !== 204) headers['Content-Length'] = 0;
    response.writeHead(answer.status, headers).end();
    return;
  }
  // A long text would be encoded twice, once to be measured and once to be sent.
  const bytes = text.length > encodeOnceFrom ? Buffer.from(text) : text;
  headers['Content-Type'] = 'application/json';
  headers['Content-Length'] = Buffer.byteLength(bytes);
  response.writeHead(answer.status, headers).end(bytes);
};

const report = (rooms: Rooms, error: TemperError, request: Request, requestId: string): void => {
  if (error.status < 500) return;
  const cause = error.cause instanceof Error ? error.cause.stack : error.cause;
  rooms.log.error('request failed', {
    request_id: requestId,
    method: request.method,
    path: request.path,
    code: error.code,
    says: error.message,
    facts: error.facts,
    cause,
  });
};
