/** /v1/nodes/{ident}/allocation: the allocation of a node. */
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { raise } from '../../../model/errors';
import { type Allocation, allocationsSince, allocationTable } from '../../../model/resources/allocations';
import { allocationTarget } from '../../../policy';
import type { ApiContext } from '../../context';
import { chosenFields, showQuery } from '../../resource/lists';
import { type ApiRequest, ok, type Route } from '../../server/route';
import { deallocate, deleteRule } from '../allocations/deletes';
import { allocationKind } from '../allocations/visibility';
import { type NodeParams, nodeRoute } from './node-route';

const nodeAllocationGetRule = 'baremetal:allocation:get';

/** The allocation of a visible node. A hidden one counts as missing. Throws NodeUnallocated, PolicyDenied. */
const allocationOf = async (
  ctx: ApiContext,
  request: ApiRequest<NodeParams, unknown, unknown>,
  rule: string,
): Promise<Allocation> => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  const allocation = await ctx.inventory.allocations.ofNode(node.uuid);
  const policy = ctx.policy();
  if (!allocation || !policy.allows(nodeAllocationGetRule, request.who, allocationTarget(allocation)))
    return raise('NodeUnallocated', { node: request.params.node_ident });
  if (rule !== nodeAllocationGetRule) policy.require(rule, request.who, allocationTarget(allocation));
  return allocation;
};

/** An allocation was fulfilled with a node of its owner. The node keeps that owner until the allocation ends. Throws Conflict. */
export const checkAllocatedOwner = async (
  ctx: ApiContext,
  node: NodeRow,
  changed: readonly string[],
): Promise<void> => {
  if (node.allocation_uuid === null || !changed.includes('owner')) return;
  const allocation = await ctx.inventory.allocations.ofNode(node.uuid);
  if (allocation && allocation.owner !== null)
    raise('Conflict', {
      reason: `The owner of node ${node.uuid} cannot change while allocation ${allocation.uuid} of a project holds it; delete the allocation first.`,
    });
};

export const nodeAllocationRoutes: Route[] = [
  nodeRoute('GET', '/allocation', {
    since: allocationsSince,
    rules: [nodeAllocationGetRule],
    query: showQuery,
    handler: async (request, ctx) => {
      const { version, base } = request;
      const fields = chosenFields(allocationTable, request.query.fields, version);
      const allocation = await allocationOf(ctx, request, nodeAllocationGetRule);
      const { represent } = allocationKind.shown.ofOne(version, fields);
      return ok(represent(allocation, { base }));
    },
  }),
  nodeRoute('DELETE', '/allocation', {
    since: allocationsSince,
    rules: [nodeAllocationGetRule, deleteRule],
    handler: (request, ctx) => deallocate(ctx, request, () => allocationOf(ctx, request, deleteRule)),
  }),
];
