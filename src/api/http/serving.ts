/** One request from its route to its answer: authenticate, admit, negotiate, read, handle, write; and every refusal on the way. */
import type { Express, Request, Response } from 'express';
import { presentedFrom } from '../../identity';
import type { Caller } from '../../model/access/callers';
import { boundedLines } from '../../model/bounded-lines';
import { raise, type TemperError } from '../../model/errors';
import type { Followed, Trail } from '../audit/middleware';
import type { ApiContext } from '../context';
import { onceOnly } from '../once-only';
import { admitted, countedRefusal, originFrom } from './admission';
import { deniedInstead } from './denied-instead';
import { asTemperError, replyFor } from './errors';
import { isShow, tagged } from './etag';
import { createOnce } from './idempotency';
import { createLimits } from './limits';
import { waitForLock } from './lock-wait';
import { createOpenBudget } from './open-budget';
import { senderOf } from './proxies';
import { read } from './reading';
import { globalRequestId, newRequestId } from './request-ids';
import type { Answer, Route, Unread } from './route';
import { putSuffixBack } from './suffixes';
import { negotiate, rangeHeaders, requireMinor, versionHeaders } from './versions';
import { stream, write } from './writing';

/** What all requests share. */
type Services = {
  readonly ctx: ApiContext;
  readonly trail: Trail;
  readonly once: ReturnType<typeof createOnce>;
  readonly limits: ReturnType<typeof createLimits>;
  readonly budget: ReturnType<typeof createOpenBudget>;
  /** Writes what has failed into the log. */
  readonly say: ReturnType<typeof boundedLines>;
};

/** A request under way, and how far it has come: a refusal is recorded and answered with what is known by then. */
type Exchange = {
  readonly route: Route;
  /** Whether its answer is tagged. */
  readonly show: boolean;
  /** Every route at this path, for an answer that says what is offered. */
  readonly atPath: readonly Route[];
  readonly request: Request;
  readonly response: Response;
  readonly requestId: string;
  readonly count: { caller(who: Caller): Promise<void>; address(): Promise<void> };
  followed?: Followed;
  versions: Readonly<Record<string, string>>;
  unread?: Omit<Unread, 'field'>;
};

/** Who asks, and who it is asked again; what an unknown credential costs is counted by address before it is checked. */
const identifying =
  ({ identity }: ApiContext, { request, count }: Exchange) =>
  () =>
    identity.identify({ ...presentedFrom(request), sender: () => senderOf(request), spend: count.address });

/** Everything that comes before the body is read. Throws the refusal. */
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
  // Before a byte of it is read: any sender may reach this.
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
    // Few handlers record it.
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
  await followed?.granted(repeated ? 'Repeated' : undefined);
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
  const reply = replyFor(error);
  write(response, reply, requestId, reply.versioned ? versions : {});
};

/** @returns what serves a route, with `atPath` every route of the same path */
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

/** During a recovery only reading goes on. Throws Recovering. */
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
  // To a version for which nothing is at a path, the path does not exist, unless its own routes say otherwise.
  const exists = route.path !== '*' || offered.length > 0 || atPath.some((one) => one.tooOld === 405);
  if (style === 405 && exists) raise('MethodNotAllowed', { method, allow: offered.join(', ') });
  if (style === 406) requireMinor(version, since, `${route.method} ${route.path}`);
  raise('PathNotFound');
};

/** Methods that these routes offer to a version; who can GET can HEAD. */
const offeredAt = (atPath: readonly Route[], version: number): string[] =>
  atPath
    .filter((one) => version >= (one.since ?? 1))
    .flatMap((one) => (one.method === 'GET' ? ['GET', 'HEAD'] : [one.method]));

/** Refusals for a time, of which a sender without a login can cause thousands a minute, are bounded by sender. */
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
