/** /v1/chassis/{uuid}/nodes: same list as the nodes filter by chassis. */
import { z } from 'zod';
import { raise } from '../../model/errors';
import { asUuid } from '../../model/ids';
import { nodeTable } from '../../model/resources/nodes';
import type { ApiContext } from '../context';
import { listQuery } from '../resource/lists';
import { type ApiRequest, type Route, route } from '../server/route';
import { answerNodes, listRules, redactRules } from './nodes/nodes';

const chassisNodeParams = z.object({ ident: z.string() });
type ChassisNodesRequest = ApiRequest<z.output<typeof chassisNodeParams>, Readonly<Record<string, unknown>>, unknown>;

const answerChassis = (request: ChassisNodesRequest, ctx: ApiContext, all: boolean) => {
  const { ident } = request.params;
  const chassis_uuid = asUuid(ident) ?? raise('InvalidInput', { field: 'chassis', reason: 'must be a UUID' });
  if (request.query.chassis_uuid !== undefined)
    raise('InvalidInput', { field: 'chassis_uuid', reason: 'is named by the path already' });
  const path = `chassis/${chassis_uuid}/nodes${all ? '/detail' : ''}`;
  return answerNodes({ ...request, query: { ...request.query, chassis_uuid } }, ctx, { path, all, within: true });
};

export const chassisNodeRoutes: Route[] = [false, true].map((all) =>
  route({
    method: 'GET',
    path: `/v1/chassis/:ident/nodes${all ? '/detail' : ''}`,
    rules: [...listRules, ...redactRules],
    params: chassisNodeParams,
    query: listQuery(nodeTable),
    handler: (request, ctx) => answerChassis(request, ctx, all),
  }),
);
