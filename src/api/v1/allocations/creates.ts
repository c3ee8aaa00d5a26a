/** POST /v1/allocations: a request for a node, or the record of an existing use. */

import type { z } from 'zod';
import { quotasOf } from '../../../admission/context';
import type { AuditContext } from '../../../admission/requester';
import type { Queries } from '../../../inventory';
import type { NewAllocation } from '../../../inventory/allocations';
import { brokenUnique } from '../../../inventory/database';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { quotaProject } from '../../../model/access/callers';
import { raise } from '../../../model/errors';
import {
  type Allocation,
  allocationNodeSince,
  allocationsSince,
  allocationTable,
} from '../../../model/resources/allocations';
import type { Change } from '../../audit/record';
import { changeRows } from '../../audit/record';
import type { ApiContext } from '../../context';
import { refusingDuplicates } from '../../resource/duplicates';
import { collectionPath } from '../../resource/kit';
import { createGate, createSchema } from '../../resource/validation';
import { created, route } from '../../server/route';
import { allocationKind } from './visibility';
import {
  type Admitted,
  type AllocationBody,
  admit,
  backfilled,
  createRestricted,
  createRule,
  namedNode,
  newAllocation,
} from './writes';

const gate = createGate(allocationTable);

/** Older versions refuse the field as unknown. */
const refuseNode = ({ body }: { readonly body: unknown }, minor: number): void => {
  if (minor < allocationNodeSince && typeof body === 'object' && body !== null && 'node' in body)
    raise('InvalidInput', { field: 'node', reason: `needs API version 1.${allocationNodeSince}` });
};

/** Stores the allocation with its audit row and event, which the owner's project reads. */
const insert = (inventory: Queries, ctx: ApiContext, request: AuditContext, rule: string, values: NewAllocation) => {
  const change: Change = {
    action: 'allocation.create',
    kind: 'allocation.created',
    rule,
    resource: 'allocation',
    resource_id: values.uuid,
    project: values.owner,
    data: { ...values },
  };
  return inventory.allocations.insertRecorded(values, changeRows(ctx.policy(), request, change));
};

/** Records an allocation for a node in use, in one transaction with the node. Throws NodeLocked, Duplicate. */
const storeFor = async (ctx: ApiContext, request: AuditContext, rule: string, node: NodeRow, values: NewAllocation) => {
  const { uuid, traits } = values;
  try {
    return await ctx.inventory.transaction(async (inventory) => {
      const instance_info = traits.length > 0 ? { ...node.instance_info, traits } : node.instance_info;
      const held = { instance_uuid: uuid, allocation_uuid: uuid, instance_info };
      if (!(await inventory.nodes.update(node, held))) raise('NodeLocked', { node: node.uuid });
      return insert(inventory, ctx, request, rule, values);
    });
  } catch (thrown) {
    if (brokenUnique(thrown) !== 'nodes_instance_uuid_key') throw thrown;
    return raise('Duplicate', { resource: 'node', field: 'instance_uuid', value: uuid }, { cause: thrown });
  }
};

const storeAllocation = async (
  ctx: ApiContext,
  request: AuditContext & { readonly body: AllocationBody },
  admitted: Admitted,
): Promise<Allocation> => {
  const { who, body } = request;
  await ctx.inventory.quotas.require('allocations', quotaProject(who), quotasOf(ctx).allocations);
  const asked = await newAllocation(ctx, body, admitted);
  if (body.node) {
    const node = await namedNode(ctx, body.node, admitted);
    const values = backfilled(asked, body, node);
    return refusingDuplicates(allocationTable, values, () => storeFor(ctx, request, admitted.rule, node, values));
  }
  if (asked.resource_class === null)
    raise('InvalidInput', { field: 'resource_class', reason: 'is required; say which kind of node is wanted' });
  const allocation = await refusingDuplicates(allocationTable, asked, () =>
    insert(ctx.inventory, ctx, request, admitted.rule, asked),
  );
  void ctx.inventory.allocationsChannel.ring(); // not awaited: the caller does not need it
  return allocation;
};

export const createAllocation = route({
  method: 'POST',
  path: collectionPath(allocationKind),
  since: allocationsSince,
  tooOld: 405,
  rules: [createRule, createRestricted, 'baremetal:node:get'],
  requireAllowed: async ({ who }, ctx) => void admit(ctx.policy(), who, null),
  body: createSchema(allocationTable) as z.ZodType<AllocationBody>,
  gate: (given, minor) => {
    refuseNode(given, minor);
    gate(given, minor);
  },
  handler: async (request, ctx) => {
    const { who, body, version, base } = request;
    const allocation = await storeAllocation(ctx, request, admit(ctx.policy(), who, body.owner ?? null));
    const shown = allocationKind.shown.full(version).represent(allocation, { base });
    return created(shown, `${base}${collectionPath(allocationKind)}/${allocation.uuid}`);
  },
});
