/** Express application of the API, built from the route table. */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { trustIn } from '../../model/access/senders';
import { raise, TemperError } from '../../model/errors';
import { createAuditTrail, type Trail } from '../audit/middleware';
import type { ApiContext } from '../context';
import { routes as allRoutes } from '../routes';
import { isOpen } from './admission';
import { createCors } from './cors';
import { createDispatch } from './dispatch';
import { replyFor } from './errors';
import { byPrecision, takeSuffixOff, unversioned } from './paths';
import { newRequestId } from './request-ids';
import type { Route } from './route';
import { serving } from './serving';
import { spokenHeaders } from './versions';
import { write } from './writing';

/**
 * Mount `/healthz`, `/readyz` and `/metrics` before it: every path here needs a login, except the two discovery documents.
 * @param routes for tests
 * @param trail closed by its creator, so that no count is lost
 */
export const createApi = (
  ctx: ApiContext,
  routes: readonly Route[] = allRoutes,
  trail: Trail = createAuditTrail(ctx),
): Express => {
  const serve = serving(ctx, trail, routes);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  // Express reads X-Forwarded-For from its end to the first address that is no proxy, so forged addresses are not reached.
  app.set('trust proxy', trustIn(ctx.settings.trustedProxies ?? []));
  const cors = createCors(ctx.settings.corsOrigins);
  if (cors) app.use(cors);
  app.use(takeSuffixOff);
  const dispatch = createDispatch(app);
  for (const [path, methods] of byPath(routes)) {
    const at = dispatch.route(path);
    for (const one of methods) at[one.method.toLowerCase() as 'get'](serve(one, app, methods));
    at.all(serve(notOffered(methods), app, methods));
  }
  app.use(dispatch.handle);
  app.all(unversioned, serve({ ...nowhere, rules: 'public' }, app, []));
  app.use(serve(nowhere, app, []));
  app.use((thrown: unknown, request: Request, response: Response, _next: NextFunction) =>
    undecodable(thrown, request, response),
  );
  return app;
};

const byPath = (routes: readonly Route[]): [string, Route[]][] => {
  const groups = new Map<string, Route[]>();
  for (const one of routes) groups.set(one.path, [...(groups.get(one.path) ?? []), one]);
  return [...groups].sort(([a], [b]) => byPrecision(a, b));
};

/** Refuses methods without a route. Discovery paths stay public. */
const notOffered = (methods: readonly Route[]): Route => ({
  method: 'GET',
  path: '*',
  rules: methods.every(isOpen) ? 'public' : [],
  handler: async () => raise('PathNotFound'),
  gate: undefined,
  tooOld: 405,
  since: Number.POSITIVE_INFINITY,
});

/** No version has it, so query and body are not validated. */
const nowhere: Route = {
  method: 'GET',
  path: '*',
  rules: [],
  handler: async () => raise('PathNotFound'),
  since: Number.POSITIVE_INFINITY,
};

/** A path with a broken percent escape never reaches a route. */
const undecodable = (_thrown: unknown, request: Request, response: Response): void => {
  const requestId = newRequestId();
  const error = new TemperError('InvalidInput', { field: 'path', reason: 'is not a valid URL path' });
  write(response, { status: error.status, text: replyFor(error).text }, requestId, spokenHeaders(request.headers));
};
