/** Finds the route of a request by the words of its path: Express' routers compare path after path, and copy at each of them. */
import type { Express, Request, Response } from 'express';
import { groupOf } from './dispatch';
import { takeSuffixOff } from './suffixes';

type Handler = (request: Request, response: Response) => Promise<void>;

/** A path, compiled: its words by their places, its parameters by theirs, and what answers each method. */
type Compiled = {
  readonly path: string;
  readonly words: readonly (readonly [at: number, word: string])[];
  readonly params: readonly (readonly [at: number, name: string])[];
  readonly handlers: Readonly<Record<string, Handler>>;
};

/** Requests whose paths are matched here; all others are left to Express. */
export type Direct = {
  /** Within a group, paths are tried in the order in which they were added. */
  add(path: string, handlers: Readonly<Record<string, Handler>>): void;
  /** @returns false, with nothing done, where no path with this method matches */
  serve(request: Request, response: Response): boolean;
};

const compiled = (path: string, handlers: Compiled['handlers']): Compiled => {
  const segments = path.split('/').map((segment, at) => [at, segment] as const);
  const isParam = (segment: string): boolean => segment.startsWith(':');
  return {
    path,
    words: segments.filter(([, segment]) => !isParam(segment)),
    params: segments.filter(([, segment]) => isParam(segment)).map(([at, segment]) => [at, segment.slice(1)]),
    handlers: handlers.GET && !handlers.HEAD ? { ...handlers, HEAD: handlers.GET } : handlers,
  };
};

const matches = ({ words, params }: Compiled, segments: readonly string[]): boolean => {
  for (const [at, word] of words) if (segments[at] !== word) return false;
  for (const [at] of params) if (segments[at] === '') return false;
  return true;
};

/** Undefined where an escape is broken: Express refuses such a path. */
const paramsOf = ({ params }: Compiled, segments: readonly string[]): Record<string, string> | undefined => {
  const found: Record<string, string> = {};
  for (const [at, name] of params) {
    const segment = segments[at]!;
    try {
      found[name] = segment.includes('%') ? decodeURIComponent(segment) : segment;
    } catch {
      return undefined;
    }
  }
  return found;
};

/** An absolute URL, a fragment, or a blank: rare, and read as Express reads it. */
const unusual = /^[^/]|[\s#\u00a0\ufeff]/;

const next = (): void => {};

/**
 * @param app whose requests and responses handlers are given, as Express makes them
 * @param broken answers a request whose handler has thrown
 */
export const createDirect = (
  app: Express,
  broken: (thrown: unknown, request: Request, response: Response) => void,
): Direct => {
  const groups = new Map<string, Compiled[]>();

  const find = (url: string, method: string) => {
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const segments = path.split('/');
    const route = groups.get(groupOf(path))?.find((one) => matches(one, segments));
    const handler = route && Object.hasOwn(route.handlers, method) ? route.handlers[method] : undefined;
    const params = handler && paramsOf(route!, segments);
    return params && { path: route!.path, handler: handler!, params };
  };

  return {
    add(path, handlers) {
      const key = groupOf(path);
      const group = groups.get(key);
      if (group) group.push(compiled(path, handlers));
      else groups.set(key, [compiled(path, handlers)]);
    },
    serve(request, response) {
      if (unusual.test(request.url)) return false;
      const cameAs = request.url;
      takeSuffixOff(request, response, next);
      const found = find(request.url, request.method);
      if (!found) return false;
      Object.setPrototypeOf(request, app.request);
      Object.setPrototypeOf(response, app.response);
      Object.assign(request, { res: response, originalUrl: request.originalUrl ?? cameAs, params: found.params });
      Object.assign(request, { route: { path: found.path } });
      response.req = request;
      found.handler(request, response).catch((thrown) => broken(thrown, request, response));
      return true;
    },
  };
};

/** Has requests for these paths served directly; the application's own handling comes after. */
export const serveDirectly = (app: Express, direct: Direct): void => {
  const own = app as unknown as { handle(request: Request, response: Response, done?: () => void): void };
  const handle = own.handle.bind(app);
  own.handle = (request, response, done) => {
    if (!direct.serve(request, response)) handle(request, response, done);
  };
};
