/** End of allocations: DELETE /v1/allocations/{ident}, and the deletion by the node's path. */
import type { AuditContext } from '../../../admission/requester';
import type { Queries } from '../../../inventory';
import { raise } from '../../../model/errors';
import { type Allocation, allocationsSince, isReleasable } from '../../../model/resources/allocations';
import { allocationTarget } from '../../../policy';
import { auditRow } from '../../audit/record';
import type { ApiContext } from '../../context';
import { identIn, onePath, paramsOf } from '../../resource/kit';
import { noContent, route } from '../../server/route';
import { allocationKind, findVisibleAllocation } from './visibility';

/** Removes an allocation's node; false if another request wrote the node meanwhile. Throws Conflict, NodeLocked. */
const release = async (inventory: Queries, allocation: Allocation): Promise<boolean> => {
  const node = await inventory.nodes.find({ uuid: allocation.node_uuid! });
  if (node?.allocation_uuid !== allocation.uuid) return false;
  if (node.reservation !== null) raise('NodeLocked', { node: node.uuid });
  if (!isReleasable(node))
    raise('Conflict', {
      reason: `Allocation ${allocation.uuid} cannot be deleted while node ${node.uuid} is in state "${node.provision_state}"; undeploy the node, or set it to maintenance first.`,
    });
  const { traits: _brought, ...instance_info } = node.instance_info;
  return Boolean(await inventory.nodes.update(node, { instance_uuid: null, allocation_uuid: null, instance_info }));
};

/** The control worker and runs write these rows too. A deletion that loses the race is retried on the new row. */
const attempts = 3;

export const deleteRule = 'baremetal:allocation:delete';

/**
 * Deletes an allocation that the caller may delete, and frees its node.
 * @param find rereads the allocation; throws if the caller may not see or delete it
 */
export const deallocate = async (ctx: ApiContext, request: AuditContext, find: () => Promise<Allocation>) => {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const allocation = await find();
    const gone = await ctx.inventory.transaction(async (inventory) => {
      const { uuid, node_uuid, name } = allocation;
      const ended =
        node_uuid === null ? await inventory.allocations.remove(uuid) : await release(inventory, allocation);
      // PostgreSQL writes the event, because allocations end in other ways too.
      const row = { action: 'allocation.delete', rule: deleteRule, resource: 'allocation', resource_id: uuid };
      const data = { name, node_uuid };
      if (ended) await inventory.audit.write(auditRow(ctx.policy(), request, { ...row, data }));
      return ended;
    });
    if (gone) return noContent();
  }
  return raise('Conflict', { reason: 'The allocation or its node is being changed by others; try again.' });
};

export const deleteAllocation = route({
  method: 'DELETE',
  path: onePath(allocationKind),
  since: allocationsSince,
  tooOld: 405,
  rules: ['baremetal:allocation:get', deleteRule],
  params: paramsOf(allocationKind.param),
  handler: (request, ctx) =>
    deallocate(ctx, request, async () => {
      const allocation = await findVisibleAllocation(ctx, request.who, identIn(allocationKind, request.params));
      ctx.policy().require(deleteRule, request.who, allocationTarget(allocation));
      return allocation;
    }),
});
