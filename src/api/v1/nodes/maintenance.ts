/** /v1/nodes/{ident}/maintenance: sets and clears maintenance, also while a run holds the node. */

import { z } from 'zod';
import { visibleNode } from '../../../admission/visibility';
import { nodeTarget } from '../../../policy';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { stampLessee } from '../../resource/lease-writes';
import { type ApiRequest, accepted, type Route } from '../../server/route';
import { type NodeParams, nodeRoute } from './node-route';

const maintenanceBody = z.strictObject({ reason: z.string().nullish() });

const maintenanceActs = {
  set: { rule: 'baremetal:node:set_maintenance', maintenance: true, kind: 'node.maintenance.set' },
  clear: { rule: 'baremetal:node:clear_maintenance', maintenance: false, kind: 'node.maintenance.cleared' },
} as const;

const changeMaintenance = async (
  request: ApiRequest<NodeParams, unknown, unknown>,
  ctx: ApiContext,
  { rule, maintenance, kind }: (typeof maintenanceActs)[keyof typeof maintenanceActs],
  reason: string | null,
) => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  const policy = ctx.policy();
  policy.require(rule, request.who, nodeTarget(node));
  await ctx.inventory.transaction(async (inventory) => {
    await stampLessee(inventory, request.who, node, { lock: true });
    await inventory.nodes.setMaintenance(node.uuid, { maintenance, reason });
    await auditAndEvent(inventory, policy, request, {
      action: 'node.maintenance',
      kind,
      rule,
      resource: 'node',
      resource_id: node.uuid,
      node,
      data: { maintenance, maintenance_reason: reason },
    });
  });
  return accepted();
};
export const nodeMaintenanceRoutes: Route[] = [
  nodeRoute('PUT', '/maintenance', {
    answers: { 202: null },
    rules: [maintenanceActs.set.rule],
    body: maintenanceBody,
    arguments: true,
    handler: (request, ctx) => changeMaintenance(request, ctx, maintenanceActs.set, request.body.reason ?? null),
  }),
  nodeRoute('DELETE', '/maintenance', {
    answers: { 202: null },
    rules: [maintenanceActs.clear.rule],
    handler: (request, ctx) => changeMaintenance(request, ctx, maintenanceActs.clear, null),
  }),
];
