/** Visibility check before a stored answer is repeated: the owner may have changed. */
import type { KeyRow } from '../../inventory/idempotency';
import { isTemperError } from '../../model/errors';
import { maxMinor } from '../../model/resources/microversions';
import type { ApiContext } from '../context';
import type { Answer, ApiRequest, Route } from '../server/route';

export type KeyedRequest = {
  readonly route: Route;
  readonly request: ApiRequest<unknown, unknown, unknown>;
  /** With its query, as routes see it. */
  readonly url: string;
  /** Before its schema. */
  readonly rawBody: unknown;
};

export const showOf = (collection: string, routes: readonly Route[]): Route | undefined =>
  routes.find(
    ({ method, path }) =>
      method === 'GET' && path.startsWith(`${collection}/:`) && !path.slice(collection.length + 1).includes('/'),
  );

/** As the present caller sees it. Throws the errors of the route. */
export const shownBy = (show: Route, id: string, { request }: KeyedRequest, ctx: ApiContext): Promise<Answer> => {
  const param = show.path.slice(show.path.lastIndexOf(':') + 1);
  return show.handler({ ...request, params: { [param]: id }, query: {}, body: undefined } as never, ctx);
};

/** True if the route creates a resource. */
export const creates = ({ method, answers }: Route): boolean =>
  answers === undefined ? method === 'POST' : Object.hasOwn(answers, 201);

/** Collections by path parameter. */
export const shownIn: Readonly<Record<string, string>> = {
  node_ident: '/v1/nodes',
  node: '/v1/nodes',
  run: '/temper/v1/runs',
  rollout: '/temper/v1/rollouts',
  runbook_ident: '/v1/runbooks',
  runbook: '/v1/runbooks',
};

/** Temper's routes accept names at every version. */
const versioned = (asked: KeyedRequest): KeyedRequest =>
  asked.route.path.startsWith('/temper/') ? { ...asked, request: { ...asked.request, version: maxMinor } } : asked;

/** Throws if an object in the path is hidden. */
const requireNamed = async (asked: KeyedRequest, ctx: ApiContext, routes: readonly Route[]): Promise<void> => {
  for (const [param, ident] of Object.entries((asked.request.params ?? {}) as Record<string, string>)) {
    const show = Object.hasOwn(shownIn, param) ? showOf(shownIn[param]!, routes) : undefined;
    if (show) await shownBy(show, ident, versioned(asked), ctx);
  }
};

const fieldIn = (body: unknown) => (name: string) =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? (body as Record<string, unknown>)[name]
    : undefined;

const isSeen = async (show: Route | undefined, id: string, asked: KeyedRequest, ctx: ApiContext): Promise<boolean> =>
  show === undefined ||
  (await shownBy(show, id, asked, ctx).then(
    () => true,
    (thrown) => (isTemperError(thrown) ? false : Promise.reject(thrown)),
  ));

/**
 * Repeats the visibility checks, not the work. Throws if an object of the request is hidden.
 * @returns false if the created resource is hidden or gone, so that the body must not be shown
 */
export const seenAgain = async (
  row: KeyRow,
  asked: KeyedRequest,
  ctx: ApiContext,
  routes: readonly Route[],
): Promise<boolean> => {
  const { route, request, rawBody } = asked;
  // The request itself may have consumed an object in its path.
  if (!creates(route) || row.resource_id === null) return requireNamed(asked, ctx, routes).then(() => true);
  const { who, version } = request;
  const params = (request.params ?? {}) as Record<string, string>;
  await route.requireAllowed?.({ who, version, params, field: fieldIn(rawBody) }, ctx);
  return isSeen(showOf(route.madeIn ?? route.path, routes), row.resource_id, versioned(asked), ctx);
};
