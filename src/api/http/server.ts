/** The API's HTTP surface: walks the routes, and puts who, which version and what in front of every handler. */
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { presentedFrom } from '../../identity';
import type { Caller } from '../../model/access/callers';
import { raise, TemperError } from '../../model/errors';
import { createTrail, type Followed, type Trail } from '../audit/middleware';
import type { ApiContext } from '../context';
import { routes as allRoutes } from '../routes';
import { admitted, countedRefusal, isOpen, originFrom } from './admission';
import { createCors } from './cors';
import { deniedInstead } from './denied-instead';
import { createDispatch } from './dispatch';
import { asTemperError, replyFor } from './errors';
import { isShow, tagged } from './etag';
import { createOnce } from './idempotency';
import { createLimits } from './limits';
import { waitForLock } from './lock-wait';
import { createOpenBudget } from './open-budget';
import { byPrecision, locate, unversioned } from './paths';
import { senderOf, trustIn } from './proxies';
import { read } from './reading';
import { globalRequestId, newRequestId } from './request-ids';
import type { Route, Unread } from './route';
import { negotiate, rangeHeaders, requireMinor, spokenHeaders, versionHeaders } from './versions';
import { stream, write } from './writing';

// The suffix that was taken off a path, so that a name which really ends in it can be tried next.
const suffixes = new WeakMap<Request, string | null>();

/**
 * The API on its rooms. `/healthz`, `/readyz` and `/metrics` belong in front of it: every path here needs a caller,
 * but for the two discovery documents.
 * @param routes for tests; the product's by default
 * @param trail its creator closes it, so that nothing it has counted is lost
 */
export const createApi = (
  ctx: ApiContext,
  routes: readonly Route[] = allRoutes,
  trail: Trail = createTrail(ctx),
): Express => {
  const serve = serving(ctx, trail, routes);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('case sensitive routing', true);
  app.set('trust proxy', trustIn(ctx.settings.trustedProxies ?? []));
  const cors = createCors(ctx.settings.corsOrigins ?? []);
  if (cors) app.use(cors);
  app.use(normalise);
  const dispatch = createDispatch(app);
  for (const [path, methods] of byPath(routes)) {
    const at = dispatch.route(path);
    for (const one of methods) at[one.method.toLowerCase() as 'get'](serve(one, app, methods));
    at.all(serve(notOffered(methods), app, methods));
  }
  app.use(dispatch.handle);
  app.all(unversioned, serve({ ...nowhere, rules: 'public' }, app, []));
  app.use(serve(nowhere, app, []));
  app.use(undecodable);
  return app;
};

const byPath = (routes: readonly Route[]): [string, Route[]][] => {
  const groups = new Map<string, Route[]>();
  for (const one of routes) groups.set(one.path, [...(groups.get(one.path) ?? []), one]);
  return [...groups].sort(([a], [b]) => byPrecision(a, b));
};

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

/** No version has it: so query and body are not looked at. */
const nowhere: Route = {
  method: 'GET',
  path: '*',
  rules: [],
  handler: async () => raise('PathNotFound'),
  since: Number.POSITIVE_INFINITY,
};

const normalise = (request: Request, _response: Response, next: NextFunction): void => {
  if (suffixes.get(request) === undefined) {
    const { url, suffixed } = locate(request.url, request.headers);
    request.url = url;
    if (suffixed) suffixes.set(request, suffixed);
  }
  next();
};

/** A path with a broken percent escape never reaches a route. */
const undecodable = (_thrown: unknown, request: Request, response: Response, _next: NextFunction): void => {
  const requestId = newRequestId();
  const error = new TemperError('InvalidInput', { field: 'path', reason: 'is not a valid URL path' });
  write(response, { status: error.status, text: replyFor(error).text }, requestId, spokenHeaders(request.headers));
};

const serving = (ctx: ApiContext, trail: Trail, routes: readonly Route[]) => {
  const once = createOnce(ctx, routes);
  const { rateLimitPerMinute: caller, addressLimitPerMinute: address } = ctx.settings;
  const limits = createLimits({ caller, address });
  const budget = createOpenBudget(ctx.settings.openBudget);
  /** @param here every route at this path, for an answer that says what is offered */
  return (route: Route, app: Express, here: readonly Route[]) => async (request: Request, response: Response) => {
    const count = {
      caller: (who: Caller) => limits.ofCaller(request, response, who),
      address: () => limits.ofAddress(request, response),
    };
    const requestId = newRequestId();
    let followed: Followed | undefined;
    let versions: Readonly<Record<string, string>> = rangeHeaders;
    let unread: Omit<Unread, 'field'> | undefined;
    try {
      // What an unknown credential costs is counted by address before it is looked at.
      const again = () =>
        ctx.identity.identify({
          ...presentedFrom(request),
          sender: () => senderOf(request),
          spend: count.address,
        });
      const who = await admitted(route, again, count);
      refuseRecovering(route, ctx);
      const origin = originFrom(request);
      followed = trail.follow({ route, params: request.params, who, requestId, origin });
      const version = negotiate(request.headers);
      versions = versionHeaders(version);
      if (!route.gatesItself) refuseOld(route, version, request.method, here);
      if (route.asks) (followed?.ctx ?? ctx).policy().require(route.asks, who);
      if (route.requireAllowed) unread = { who, params: request.params as Record<string, string>, version };
      // Before a byte of it is read: any sender may reach this.
      const giveBack = route.open && route.body ? budget.spend(request) : () => {};
      const { rawBody, ...given } = await read(route, request, response, version).finally(giveBack);
      const base = ctx.settings.publicEndpoint ?? `${request.protocol}://${request.get('host') ?? 'localhost'}`;
      const header = (name: string) => request.get(name);
      const leavesRow = followed?.leavesRow;
      const asking = { ...given, who, version, requestId, origin, base, header, again, leavesRow };
      const { answer, repeated } = await once({ route, request: asking, url: request.url, rawBody }, (id) =>
        waitForLock(
          () => route.handler({ ...asking, requestId: id } as never, followed?.ctx ?? ctx),
          ctx.settings.lockWaitMs ?? 0,
        ),
      );
      await followed?.granted(repeated ? 'Repeated' : undefined);
      if (answer.stream) {
        const early = await stream(request, response, answer, requestId, versions);
        if (early) ctx.log.warn('a stream ended early', { request_id: requestId, reason: String(early) });
        return;
      }
      write(
        response,
        isShow(route) ? tagged(answer, version, request.get('if-none-match')) : answer,
        requestId,
        versions,
      );
    } catch (thrown) {
      const refusal = asTemperError(thrown, requestId);
      const byRule = unread && (await deniedInstead(route, refusal, { ...unread, request }, followed?.ctx ?? ctx));
      const error = await countedRefusal(byRule ?? refusal, count.address);
      const suffixed = suffixes.get(request);
      if (error.status === 404 && suffixed) {
        suffixes.set(request, null);
        request.url = suffixed;
        app(request, response);
        return;
      }
      report(ctx, error, request, requestId);
      await followed?.ended(error);
      const reply = replyFor(error);
      write(response, reply, requestId, reply.versioned ? versions : {});
    }
  };
};

/** During a recovery only reading goes on. Throws Recovering. */
const refuseRecovering = (route: Route, { recovery }: ApiContext): void => {
  if (route.method === 'GET' || route.duringRecovery) return;
  const standing = recovery?.();
  if (standing) raise('Recovering', { reason: standing.reason });
};

const refuseOld = (route: Route, version: number, method: string, here: readonly Route[]): void => {
  const since = route.since ?? 1;
  if (version >= since) return;
  const style = route.tooOld ?? 404;
  const offered = offeredAt(here, version);
  // To a version for which nothing is at a path, the path does not exist, unless its own routes say otherwise.
  const exists = route.path !== '*' || offered.length > 0 || here.some((one) => one.tooOld === 405);
  if (style === 405 && exists) raise('MethodNotAllowed', { method, allow: offered.join(', ') });
  if (style === 406) requireMinor(version, since, `${route.method} ${route.path}`);
  raise('PathNotFound');
};

/** Methods that these routes offer to a version; who can GET can HEAD. */
const offeredAt = (here: readonly Route[], version: number): string[] =>
  here
    .filter((one) => version >= (one.since ?? 1))
    .flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));

const report = (ctx: ApiContext, error: TemperError, request: Request, requestId: string): void => {
  if (error.status < 500) return;
  const cause = error.cause instanceof Error ? error.cause.stack : error.cause;
  ctx.log.error('request failed', {
    request_id: requestId,
    global_request_id: globalRequestId(request.headers),
    method: request.method,
    path: request.path,
    code: error.code,
    says: error.message,
    facts: error.facts,
    cause,
  });
};
