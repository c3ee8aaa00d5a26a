/** /v1/nodes/{ident}/maintenance: sets and clears maintenance, also while a run holds the node. */

import { z } from 'zod';
import { visibleNode } from '../../../admission/visibility';
import { nodeTarget } from '../../../policy';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { stampLessee } from '../../resource/lease-writes';
import { lostLockRace } from '../../server/lock-wait';
import { type ApiRequest, accepted, type Route } from '../../server/route';
import { type CheckedChange, type NodeParams, nodeRoute } from './node-route';

const maintenanceBody = z.strictObject({ reason: z.string().nullish() });

export const maintenanceActs = {
  set: { rule: 'baremetal:node:set_maintenance', maintenance: true, kind: 'node.maintenance.set' },
  clear: { rule: 'baremetal:node:clear_maintenance', maintenance: false, kind: 'node.maintenance.cleared' },
} as const;

type MaintenanceRequest = ApiRequest<NodeParams, unknown, unknown>;

/** @param reason the trail records it for both acts, the node only while it is in maintenance. Throws NodeNotFound, PolicyDenied */
export const checkedMaintenance = async (
  request: MaintenanceRequest,
  ctx: ApiContext,
  act: keyof typeof maintenanceActs,
  reason: string | null,
): Promise<CheckedChange> => {
  const { rule, maintenance, kind } = maintenanceActs[act];
  const node = await visibleNode(ctx, request, request.params.node_ident);
  const policy = ctx.policy();
  policy.require(rule, request.who, nodeTarget(node));
  const facts = { maintenance, maintenance_reason: maintenance ? reason : null };
  return () =>
    ctx.inventory.transaction(async (inventory) => {
      await stampLessee(inventory, request.who, node, { lock: true });
      const set = await inventory.nodes.setMaintenance(
        node.uuid,
        { maintenance, reason: facts.maintenance_reason },
        node,
      );
      if (!set) lostLockRace(request.params.node_ident);
      await auditAndEvent(inventory, policy, request, {
        action: 'node.maintenance',
        kind,
        rule,
        resource: 'node',
        resource_id: node.uuid,
        node,
        data: {
          ...facts,
          before: { maintenance: node.maintenance, maintenance_reason: node.maintenance_reason },
          ...(reason !== facts.maintenance_reason && { reason }),
        },
        facts,
      });
    });
};

const changeMaintenance = async (...asked: Parameters<typeof checkedMaintenance>) => {
  await (await checkedMaintenance(...asked))();
  return accepted();
};

export const nodeMaintenanceRoutes: Route[] = [
  nodeRoute('PUT', '/maintenance', {
    answers: { 202: null },
    rules: [maintenanceActs.set.rule],
    body: maintenanceBody,
    arguments: true,
    handler: (request, ctx) => changeMaintenance(request, ctx, 'set', request.body.reason ?? null),
  }),
  nodeRoute('DELETE', '/maintenance', {
    answers: { 202: null },
    rules: [maintenanceActs.clear.rule],
    handler: (request, ctx) => changeMaintenance(request, ctx, 'clear', null),
  }),
];
