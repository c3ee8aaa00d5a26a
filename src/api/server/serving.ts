/** Serves one request: authenticate, admit, negotiate, read, handle, write, or refuse. */

import type { Express, Request, Response } from 'express';
import { presentedFrom } from '../../identity';
import type { Caller } from '../../model/access/callers';
import { boundedLines } from '../../model/bounded-lines';
import { raise, type TemperError } from '../../model/errors';
import { requireMinor } from '../../model/resources/microversions';
import type { Followed, Trail } from '../audit/middleware';
import { createOpenBudget } from '../body/open-budget';
import { read } from '../body/reading';
import type { ApiContext } from '../context';
import { createOnce } from '../idempotency/idempotency';
import { onceOnly } from '../once-only';
import { admitted, countedRefusal, originFrom } from './admission';
import { deniedInstead } from './denied-instead';
import { asTemperError } from './errors';
import { isShow, tagged } from './etag';
import { createLimits } from './limits';
import { waitForLock } from './lock-wait';
import { putSuffixBack } from './paths';
import { hasProblems, refusalFor } from './problems';
import { senderOf } from './proxies';
import { globalRequestId, newRequestId } from './request-ids';
import type { Answer, Route, Unread } from './route';
import { negotiate, rangeHeaders, versionHeaders } from './versions';
import { stream, write } from './writing';

/** Shared by all requests. */
type Services = {
  readonly ctx: ApiContext;
  readonly trail: Trail;
  readonly once: ReturnType<typeof createOnce>;
  readonly limits: ReturnType<typeof createLimits>;
  readonly budget: ReturnType<typeof createOpenBudget>;
  /** Logs failures. */
  readonly say: ReturnType<typeof boundedLines>;
};

/** State of a request. A refusal uses the data that is present by then. */
type Exchange = {
  readonly route: Route;
  /** True if the answer gets an ETag. */
  readonly show: boolean;
  /** For the Allow header. */
  readonly atPath: readonly Route[];
  readonly request: Request;
  readonly response: Response;
  readonly requestId: string;
  readonly count: { caller(who: Caller): Promise<void>; address(): Promise<void> };
  followed?: Followed;
  versions: Readonly<Record<string, string>>;
  unread?: Omit<Unread, 'field'>;
};

/** Unknown credentials count by address before their costly check. */
const identifying =
  ({ identity }: ApiContext, { request, count }: Exchange) =>
  () =>
    identity.identify({ ...presentedFrom(request), sender: () => senderOf(request), spend: count.address });

/** Checks before the body is read. Throws the refusal. */
const admit = async ({ ctx, trail }: Services, exchange: Exchange) => {
  const { route, request, requestId } = exchange;
  const again = identifying(ctx, exchange);
  const who = await admitted(route, again, exchange.count);
  refuseRecovering(route, ctx);
  const origin = onceOnly(() => originFrom(request));
  exchange.followed = trail.follow({ route, params: request.params, who, requestId, origin });
  const version = negotiate(request.headers);
  exchange.versions = versionHeaders(version);
  if (!route.gatesItself) refuseOld(route, version, request.method, exchange.atPath);
  if (route.asks) (exchange.followed?.ctx ?? ctx).policy().require(route.asks, who);
  return { again, who, origin, version };
};

const handle = async (services: Services, exchange: Exchange): Promise<void> => {
  const { ctx, budget, once } = services;
  const { route, request, requestId } = exchange;
  const { again, who, origin, version } = await admit(services, exchange);
  const { followed } = exchange;
  if (route.requireAllowed) exchange.unread = { who, params: request.params as Record<string, string>, version };
  // Before the first byte: any sender may reach this.
  const giveBack = route.open && route.body ? budget.spend(request) : () => {};
  const { rawBody, ...given } = await read(route, request, version).finally(giveBack);
  const base = ctx.settings.publicEndpoint ?? `${request.protocol}://${request.get('host') ?? 'localhost'}`;
  const header = (name: string) => request.get(name);
  const leavesRow = followed?.leavesRow;
  const asking = {
    ...given,
    who,
    version,
    requestId,
    // A getter, because few handlers record it.
    get origin() {
      return origin();
    },
    base,
    header,
    again,
    leavesRow,
  };
  const { answer, repeated } = await once({ route, request: asking, url: request.url, rawBody }, (id) =>
    waitForLock(
      () => route.handler((id === requestId ? asking : { ...asking, requestId: id }) as never, followed?.ctx ?? ctx),
      ctx.settings.lockWaitMs,
    ),
  );
  const { refusal } = answer;
  await (refusal
    ? followed?.ended(refusal.error, refusal.resource_id)
    : followed?.granted(repeated ? 'Repeated' : undefined));
  await answerWith(ctx, exchange, answer, version);
};

const answerWith = async (ctx: ApiContext, exchange: Exchange, answer: Answer, version: number): Promise<void> => {
  const { request, response, requestId, versions } = exchange;
  if (answer.stream) {
    const early = await stream(request, response, answer, requestId, versions);
    if (early) ctx.log.warn('a stream ended early', { request_id: requestId, reason: String(early) });
    return;
  }
  const shown = exchange.show ? tagged(answer, version, request.headers['if-none-match']) : answer;
  write(response, shown, requestId, versions);
};

const answerRefusal = async (services: Services, app: Express, exchange: Exchange, thrown: unknown): Promise<void> => {
  const { ctx } = services;
  const { route, request, response, requestId, count, followed, unread, versions } = exchange;
  const refusal = asTemperError(thrown, requestId);
  const byRule = unread && (await deniedInstead(route, refusal, { ...unread, request }, followed?.ctx ?? ctx));
  const error = await countedRefusal(byRule ?? refusal, count.address);
  if (error.status === 404 && putSuffixBack(request)) return app(request, response);
  report(services, error, request, requestId);
  await followed?.ended(error);
  const reply = refusalFor(request, requestId, error);
  if (hasProblems(request.path)) response.vary('Accept');
  write(response, reply, requestId, reply.versioned ? versions : {});
};

/** @returns the handler factory; `atPath` has every route of the path */
export const serving = (ctx: ApiContext, trail: Trail, routes: readonly Route[]) => {
  const { rateLimitPerMinute: caller, addressLimitPerMinute: address } = ctx.settings;
  const limits = createLimits({ caller, address });
  const budget = createOpenBudget(ctx.settings.openBudget);
  const say = boundedLines((message, facts) => ctx.log.error(message, facts));
  const services: Services = { ctx, trail, once: createOnce(ctx, routes), limits, budget, say };
  return (route: Route, app: Express, atPath: readonly Route[]) => {
    const show = isShow(route);
    return async (request: Request, response: Response) => {
      const count = {
        caller: (who: Caller) => limits.ofCaller(request, response, who),
        address: () => limits.ofAddress(request, response),
      };
      const requestId = newRequestId();
      const exchange: Exchange = { route, show, atPath, request, response, requestId, count, versions: rangeHeaders };
      try {
        await handle(services, exchange);
      } catch (thrown) {
        await answerRefusal(services, app, exchange, thrown);
      }
    };
  };
};

/** During a recovery, only reads are served. Throws Recovering. */
const refuseRecovering = (route: Route, { recovery }: ApiContext): void => {
  if (route.method === 'GET' || route.duringRecovery) return;
  const standing = recovery?.();
  if (standing) raise('Recovering', { reason: standing.reason });
};

const refuseOld = (route: Route, version: number, method: string, atPath: readonly Route[]): void => {
  const since = route.since ?? 1;
  if (version >= since) return;
  const style = route.tooOld ?? 404;
  const offered = offeredAt(atPath, version);
  // Without a route for the version, the path does not exist, unless a route sets `tooOld` to 405.
  const exists = route.path !== '*' || offered.length > 0 || atPath.some((one) => one.tooOld === 405);
  if (style === 405 && exists) raise('MethodNotAllowed', { method, allow: offered.join(', ') });
  if (style === 406) requireMinor(version, since, `${route.method} ${route.path}`);
  raise('PathNotFound');
};

/** GET includes HEAD. */
const offeredAt = (atPath: readonly Route[], version: number): string[] =>
  atPath
    .filter((one) => version >= (one.since ?? 1))
    .flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));

/** Bounded per sender: without a login, a sender can cause thousands of 503s a minute. */
const report = ({ say }: Services, error: TemperError, request: Request, requestId: string): void => {
  if (error.status < 500) return;
  const cause = error.cause instanceof Error ? error.cause.stack : error.cause;
  say({ sender: senderOf(request), code: error.code }, 'request failed', {
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
