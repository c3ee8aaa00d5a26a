/** Rebuilds the answer of a request whose process died after its commit. */
import type { KeyRow } from '../../inventory/idempotency';
import { isTemperError } from '../../model/errors';
import type { ApiContext } from '../context';
import type { Answer, Route } from '../server/route';
import { creates, type KeyedRequest, shownBy, showOf } from './seen';

/** As the present caller sees it; undefined if gone or hidden. */
const shownNow = async (show: Route, id: string, asked: KeyedRequest, ctx: ApiContext): Promise<Answer | undefined> => {
  try {
    return await shownBy(show, id, asked, ctx);
  } catch (thrown) {
    if (isTemperError(thrown)) return undefined;
    throw thrown;
  }
};

const createdBefore = async (
  id: string,
  asked: KeyedRequest,
  ctx: ApiContext,
  routes: readonly Route[],
): Promise<Answer> => {
  const { path, madeIn: collection = path, answers } = asked.route;
  const show = showOf(collection, routes);
  // An enrolment of a discovered machine returns less than GET of its node.
  const likewise = show && answers?.[201] === show.answers?.[200];
  const shown = likewise ? await shownNow(show, id, asked, ctx) : undefined;
  return {
    status: 201,
    headers: { Location: `${asked.request.base}${collection}/${id}` },
    ...(shown?.body !== undefined && { body: shown.body }),
    ...(shown?.text !== undefined && { text: shown.text }),
  };
};

const statesOf = ({ request, route }: KeyedRequest): Record<string, string> => {
  const { node_ident } = (request.params ?? {}) as { node_ident?: string };
  if (!node_ident || !/\/states\/(provision|power)$/.test(route.path)) return {};
  return { Location: `${request.base}/v1/nodes/${encodeURIComponent(node_ident)}/states` };
};

const emptyStatuses = [202, 204];

/** The success status without a body; 202 if the route has a body. */
const emptyStatus = ({ answers = {} }: Route): number => {
  const empty = Object.entries(answers).filter(([, body]) => body === null);
  return empty.map(([status]) => Number(status)).find((status) => emptyStatuses.includes(status)) ?? 202;
};

/** @param row of the dead request, whose work is committed */
export const cutOffAnswer = async (
  row: KeyRow,
  asked: KeyedRequest,
  ctx: ApiContext,
  routes: readonly Route[],
): Promise<Answer> => {
  if (row.resource_id && creates(asked.route)) return createdBefore(row.resource_id, asked, ctx, routes);
  if (row.run_id && asked.route.path.startsWith('/temper/')) return { status: 202, body: { run: row.run_id } };
  return { status: emptyStatus(asked.route), headers: statesOf(asked) };
};
