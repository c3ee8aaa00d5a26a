/** What a kept answer is about may have changed hands since: its caller gets it again while that may be seen. */
import type { KeyRow } from '../../inventory/idempotency';
import { isTemperError } from '../../model/errors';
import { maxMinor } from '../../model/resources/microversions';
import type { ApiContext } from '../context';
import type { Answer, ApiRequest, Route } from './route';

/** The request as it came, parsed. */
export type KeyedRequest = {
  readonly route: Route;
  readonly request: ApiRequest<unknown, unknown, unknown>;
  /** As routes see it, with its query. */
  readonly url: string;
  /** As it came, before its schema. */
  readonly rawBody: unknown;
};

/** What shows the resources of a collection one by one. */
export const showOf = (collection: string, routes: readonly Route[]): Route | undefined =>
  routes.find(
    ({ method, path }) =>
      method === 'GET' && path.startsWith(`${collection}/:`) && !path.slice(collection.length + 1).includes('/'),
  );

/** The resource as it is now, to who asks now. Throws what its route throws. */
export const shownBy = (show: Route, id: string, { request }: KeyedRequest, ctx: ApiContext): Promise<Answer> => {
  const param = show.path.slice(show.path.lastIndexOf(':') + 1);
  return show.handler({ ...request, params: { [param]: id }, query: {}, body: undefined } as never, ctx);
};

/** Whether a route makes what it answers. */
export const creates = ({ method, answers }: Route): boolean =>
  answers === undefined ? method === 'POST' : Object.hasOwn(answers, 201);

/** Where that is shown which a parameter of a path names. */
export const shownIn: Readonly<Record<string, string>> = {
  node_ident: '/v1/nodes',
  node: '/v1/nodes',
  run: '/temper/v1/runs',
  rollout: '/temper/v1/rollouts',
  runbook_ident: '/v1/runbooks',
  runbook: '/v1/runbooks',
};

/** Temper's routes take names from every version. */
const versioned = (asked: KeyedRequest): KeyedRequest =>
  asked.route.path.startsWith('/temper/') ? { ...asked, request: { ...asked.request, version: maxMinor } } : asked;

/** Throws what hides an object that the path names. */
const requireNamed = async (asked: KeyedRequest, ctx: ApiContext, routes: readonly Route[]): Promise<void> => {
  for (const [param, ident] of Object.entries((asked.request.params ?? {}) as Record<string, string>)) {
    const show = Object.hasOwn(shownIn, param) ? showOf(shownIn[param]!, routes) : undefined;
    if (show) await shownBy(show, ident, versioned(asked), ctx);
  }
};

const fieldOf = (body: unknown) => (name: string) =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? (body as Record<string, unknown>)[name]
    : undefined;

/** Whether what was made is there, and shown to who asks. */
const isSeen = async (show: Route | undefined, id: string, asked: KeyedRequest, ctx: ApiContext): Promise<boolean> =>
  show === undefined ||
  (await shownBy(show, id, asked, ctx).then(
    () => true,
    (thrown) => (isTemperError(thrown) ? false : Promise.reject(thrown)),
  ));

/**
 * Asks again who may see what the request is about; work is done no second time. Throws what hides it.
 * @returns whether the body of the answer may be seen too: that of a creation is not where what it made is hidden, or gone
 */
export const seenAgain = async (
  row: KeyRow,
  asked: KeyedRequest,
  ctx: ApiContext,
  routes: readonly Route[],
): Promise<boolean> => {
  const { route, request, rawBody } = asked;
  // The request itself may have used up what the path of a creation names.
  if (!creates(route) || row.resource_id === null) return requireNamed(asked, ctx, routes).then(() => true);
  const { who, version } = request;
  const params = (request.params ?? {}) as Record<string, string>;
  await route.requireAllowed?.({ who, version, params, field: fieldOf(rawBody) }, ctx);
  return isSeen(showOf(route.madeIn ?? route.path, routes), row.resource_id, versioned(asked), ctx);
};
