/** Finds the route of a request in front of Express, whose routers compare path after path and copy the request's parts at each. */
import type { Express, Request, Response } from 'express';
import findMyWay from 'find-my-way';
import { asExpress } from './messages';
import { takeSuffixOff } from './suffixes';

type Handler = (request: Request, response: Response) => Promise<void>;

/** What answers the methods of a path. */
type Offered = { readonly path: string; readonly handlers: Readonly<Record<string, Handler>> };

/** Requests whose paths and methods are known here; all others are left to Express. */
export type Direct = {
  add(path: string, handlers: Offered['handlers']): void;
  /** @returns false, with nothing done, where no path with this method matches */
  serve(request: Request, response: Response): boolean;
};

/**
 * An absolute URL, a fragment, a blank, or anything escaped: read as Express reads it. The matcher would take an escaped word
 * of a path for the word itself.
 */
const unusual = /^[^/]|[\s%#;\u00a0\ufeff]/;

/** Longer than any request line that Node reads, so that the matcher refuses no parameter for its length. */
const maxParamLength = 65_536;

const next = (): void => {};

/**
 * @param app whose requests and responses handlers are given, as Express makes them
 * @param broken answers a request whose handler has thrown
 */
export const createDirect = (
  app: Express,
  broken: (thrown: unknown, request: Request, response: Response) => void,
): Direct => {
  const router = findMyWay({ maxParamLength });

  const find = (url: string, method: string) => {
    const mark = url.indexOf('?');
    const found = router.find('GET', mark < 0 ? url : url.slice(0, mark));
    if (!found) return undefined;
    const { path, handlers } = found.store as Offered;
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
    const params = { ...found.params } as Record<string, string>;
    // Express takes no empty word for a parameter.
    return handler && !Object.values(params).includes('') ? { path, handler, params } : undefined;
  };

  return {
    // All methods of a path under one: a path that comes first for one method comes first for every other.
    add: (path, handlers) =>
      router.on('GET', path, next, {
        path,
        handlers: handlers.GET && !handlers.HEAD ? { ...handlers, HEAD: handlers.GET } : handlers,
      } satisfies Offered),
    serve(request, response) {
      if (unusual.test(request.url)) return false;
      const originalUrl = request.originalUrl ?? request.url;
      takeSuffixOff(request, response, next);
      const found = find(request.url, request.method);
      if (!found) return false;
      asExpress(app, request, response);
      const { path, handler, params } = found;
      Object.assign(request, { res: response, originalUrl, params, route: { path } });
      response.req = request;
      handler(request, response).catch((thrown) => broken(thrown, request, response));
      return true;
    },
  };
};
