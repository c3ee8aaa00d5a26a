/** /v1/chassis/{uuid}/nodes: the nodes of one chassis, as the filter of nodes by it has them. */
import { z } from 'zod';
import { raise } from '../../model/errors';
import { asUuid } from '../../model/ids';
import { nodeTable } from '../../model/resources/nodes';
import type { Rooms } from '../context';
import { type Answer, type Asking, type Route, route } from '../http/route';
import { listQuery } from '../resource/lists';
import { answerNodes, listRules, redactRules } from './nodes/nodes';

const chassisNodeParams = z.object({ ident: z.string() });
type ChassisNodesRequest = Asking<z.output<typeof chassisNodeParams>, Readonly<Record<string, unknown>>, unknown>;

const answerChassis = (asking: ChassisNodesRequest, rooms: Rooms, all: boolean): Promise<Answer> => {
  const { ident } = asking.params;
  const chassis_uuid = asUuid(ident) ?? raise('InvalidInput', { field: 'chassis', reason: 'must be a UUID' });
  if (asking.query.chassis_uuid !== undefined)
    raise('InvalidInput', { field: 'chassis_uuid', reason: 'is named by the path already' });
  const path = `chassis/${chassis_uuid}/nodes${all ? '/detail' : ''}`;
  return answerNodes({ ...asking, query: { ...asking.query, chassis_uuid } }, rooms, { path, all, within: true });
};

export const chassisNodeRoutes: Route[] = [false, true].map((all) =>
  route<z.output<typeof chassisNodeParams>, Readonly<Record<string, unknown>>>({
    method: 'GET',
    path: `/v1/chassis/:ident/nodes${all ? '/detail' : ''}`,
    rules: [...listRules, ...redactRules],
    params: chassisNodeParams,
    query: listQuery(nodeTable),
    handler: (asking, rooms) => answerChassis(asking, rooms, all),
  }),
);
