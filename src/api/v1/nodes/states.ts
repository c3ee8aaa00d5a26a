/** GET /v1/nodes/{ident}/states, and the power request. */

import { z } from 'zod';
import { bmcTextFor, seesBmcRule } from '../../../admission/bmc-texts';
import { byLeaseAlone } from '../../../admission/obstacles';
import { powerOrder, setPower } from '../../../admission/power';
import { came } from '../../../admission/schemas';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { raise } from '../../../model/errors';
import { type PowerTarget, powerTargets } from '../../../model/lifecycle/states';
import { requireMinor } from '../../../model/resources/microversions';
import { shownState, stateFields } from '../../../model/resources/nodes';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { timestamp } from '../../resource/representation';
import { type ApiRequest, accepted, ok, type Route } from '../../server/route';
import { type CheckedChange, type NodeParams, nodeRoute } from './node-route';

const documents: readonly string[] = ['raid_config', 'target_raid_config'];

const stateView = (node: NodeRow, name: string, minor: number): unknown => {
  const value = (node as unknown as Record<string, unknown>)[name] ?? (documents.includes(name) ? {} : null);
  return value instanceof Date ? timestamp(value) : shownState(value, minor);
};

/** Hides the error of another lease's run from a caller who sees the node only through its lease. */
const hidesError = async (
  ctx: ApiContext,
  { who }: Pick<ApiRequest<unknown, unknown, unknown>, 'who'>,
  node: NodeRow,
) =>
  node.last_error !== null &&
  byLeaseAlone(ctx, 'baremetal:node:get_states', who, node) &&
  (await ctx.inventory.runs.lastIsForeign(node.uuid, node.lease_id));

const showStates = async (request: ApiRequest<NodeParams, unknown, unknown>, ctx: ApiContext) => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  ctx.policy().require('baremetal:node:get_states', request.who, nodeTarget(node));
  const text = bmcTextFor(ctx.policy(), request.who, node);
  const seen = { ...node, last_error: (await hidesError(ctx, request, node)) ? null : text(node.last_error) };
  return ok(
    Object.fromEntries(
      stateFields
        .filter(({ since }) => since <= request.version)
        .map(({ name }) => [name, stateView(seen, name, request.version)]),
    ),
  );
};

const powerBody = z.strictObject({
  target: z.string(),
  timeout: z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^\d{1,9}$/)
          .transform(Number),
      ],
      { error: 'must be a whole number of seconds' },
    )
    .nullish(),
});
type PowerBody = z.output<typeof powerBody>;
type PowerAsk = ApiRequest<NodeParams, unknown, PowerBody>;

const isTarget = (text: string): text is PowerTarget => Object.hasOwn(powerTargets, text);

const powerTarget = ({ body, version }: PowerAsk): PowerTarget => {
  const names = Object.keys(powerTargets).join(', ');
  if (!isTarget(body.target))
    return raise('InvalidInput', { field: 'target', reason: `must be one of ${names}; ${came(body.target)} came` });
  requireMinor(version, powerTargets[body.target].since, `target ${body.target}`);
  if (body.timeout !== undefined && body.timeout !== null) {
    requireMinor(version, 27, 'timeout');
    if (body.timeout < 1) raise('InvalidInput', { field: 'timeout', reason: 'must be at least 1 second' });
  }
  return body.target;
};

/** @param reason for the audit trail. Throws NodeNotFound, InvalidInput, and the errors of powerOrder */
export const checkedPower = async (request: PowerAsk, ctx: ApiContext, reason?: string): Promise<CheckedChange> => {
  const ident = request.params.node_ident;
  const policy = ctx.policy();
  const node = await visibleNode(ctx, request, ident);
  policy.require(setPower, request.who, nodeTarget(node));
  const target = powerTarget(request);
  const { timeout } = request.body;
  const timeoutMs = typeof timeout === 'number' ? timeout * 1000 : undefined;
  const wish = { target, ...(timeoutMs !== undefined && { timeoutMs }) };
  const order = await powerOrder(ctx, request, node, ident, wish);
  return () => ctx.runs.start({ ...order, asked: { ...order.asked, ...(reason !== undefined && { reason }) } });
};

const requestPower = async (request: PowerAsk, ctx: ApiContext) => {
  await (await checkedPower(request, ctx))();
  return accepted(`${request.base}/v1/nodes/${encodeURIComponent(request.params.node_ident)}/states`);
};

export const nodeStateRoutes: Route[] = [
  nodeRoute('GET', '/states', {
    answers: { 200: shapes.states },
    rules: ['baremetal:node:get_states', seesBmcRule],
    handler: showStates,
  }),
  nodeRoute('PUT', '/states/power', {
    answers: { 202: null },
    rules: [setPower],
    body: powerBody,
    arguments: true,
    handler: requestPower,
  }),
];
