/** Writes of /v1/allocations: create and patch, each with its audit row and event. */
import type { z } from 'zod';
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
  allocationUpdateSince,
} from '../../../model/resources/allocations';
import { allocationTarget } from '../../../policy';
import {
  type Act,
  type AuditContext,
  auditAndEvent,
  type Change,
  changeRows,
  resourceChange,
} from '../../audit/record';
import { quotasOf, type Rooms } from '../../context';
import { created, ok, type Route, route } from '../../http/route';
import { refusingDuplicates } from '../../resource/duplicates';
import { attributesOf, checkAttributes, type Operation, patchBody, patcherOf } from '../../resource/patch';
import { createGate, createSchema } from '../../resource/validation';
import { allocationCollection, allocationParams, allocationPath, shownAllocation } from './representation';
import { findVisibleAllocation } from './visibility';
import {
  type Admitted,
  type AllocationBody,
  admit,
  backfilled,
  create,
  createRestricted,
  namedNode,
  newAllocation,
} from './writes';

type Params = z.output<typeof allocationParams>;
const patched = patcherOf(allocationTable);

/** A change of an allocation, which its owner's project reads. */
export const changeOf = (
  act: Act,
  rule: string,
  { uuid, owner: project }: Pick<Allocation, 'uuid' | 'owner'>,
  data: Readonly<Record<string, unknown>>,
): Change => ({
  ...resourceChange({ resource: 'allocation', act, rule, uuid, project, values: data }),
  facts: undefined,
});

const gate = createGate(allocationTable);

/** Older versions refuse the field as one that they do not know. */
const refuseNode = ({ body }: { readonly body: unknown }, minor: number): void => {
  if (minor < allocationNodeSince && typeof body === 'object' && body !== null && 'node' in body)
    raise('InvalidInput', { field: 'node', reason: `needs API version 1.${allocationNodeSince}` });
};

const insert = (inventory: Queries, rooms: Rooms, asking: AuditContext, rule: string, values: NewAllocation) =>
  inventory.allocations.insert(
    values,
    changeRows(rooms.policy(), asking, changeOf('create', rule, values, { ...values })),
  );

/** Records an allocation for a node that is in use already, in one transaction with the node. Throws NodeLocked, Duplicate. */
const storeFor = async (rooms: Rooms, asking: AuditContext, rule: string, node: NodeRow, values: NewAllocation) => {
  const { uuid, traits } = values;
  try {
    return await rooms.inventory.transaction(async (inventory) => {
      const instance_info = traits.length > 0 ? { ...node.instance_info, traits } : node.instance_info;
      const held = { instance_uuid: uuid, allocation_uuid: uuid, instance_info };
      if (!(await inventory.nodes.update(node, held))) raise('NodeLocked', { node: node.uuid });
      return insert(inventory, rooms, asking, rule, values);
    });
  } catch (thrown) {
    if (brokenUnique(thrown) !== 'nodes_instance_uuid_key') throw thrown;
    return raise('Duplicate', { resource: 'node', field: 'instance_uuid', value: uuid }, { cause: thrown });
  }
};

const store = async (
  rooms: Rooms,
  asking: AuditContext & { readonly body: AllocationBody },
  admitted: Admitted,
): Promise<Allocation> => {
  const { who, body } = asking;
  await rooms.inventory.quotas.require('allocations', quotaProject(who), quotasOf(rooms).allocations);
  const asked = await newAllocation(rooms, who, body, admitted);
  if (body.node) {
    const node = await namedNode(rooms, who, body.node, admitted);
    const values = backfilled(asked, body, node);
    return refusingDuplicates(allocationTable, values, () => storeFor(rooms, asking, admitted.rule, node, values));
  }
  if (asked.resource_class === null)
    raise('InvalidInput', { field: 'resource_class', reason: 'is required; say which kind of node is wanted' });
  const allocation = await refusingDuplicates(allocationTable, asked, () =>
    insert(rooms.inventory, rooms, asking, admitted.rule, asked),
  );
  void rooms.inventory.allocationBell.ring(); // the caller need not wait for it
  return allocation;
};

const createAllocation = route<unknown, unknown, AllocationBody>({
  method: 'POST',
  path: allocationCollection,
  since: allocationsSince,
  tooOld: 405,
  rules: [create, createRestricted, 'baremetal:node:get'],
  requireAllowed: async ({ who }, rooms) => void admit(rooms.policy(), who, null),
  body: createSchema(allocationTable) as z.ZodType<AllocationBody>,
  gate: (given, minor) => {
    refuseNode(given, minor);
    gate(given, minor);
  },
  handler: async (asking, rooms) => {
    const { who, body, version, base } = asking;
    const allocation = await store(rooms, asking, admit(rooms.policy(), who, body.owner ?? null));
    const shown = shownAllocation.full(version).represent(allocation, { base });
    return created(shown, `${base}${allocationCollection}/${allocation.uuid}`);
  },
});

const updateAllocation = route<Params, unknown, Operation[]>({
  method: 'PATCH',
  path: allocationPath,
  since: allocationUpdateSince,
  tooOld: 405,
  rules: ['baremetal:allocation:get', 'baremetal:allocation:update'],
  requireAllowed: async ({ who, params: { allocation_ident = '' } }, rooms) => {
    const allocation = await findVisibleAllocation(rooms, who, allocation_ident);
    rooms.policy().require('baremetal:allocation:update', who, allocationTarget(allocation));
  },
  params: allocationParams,
  body: patchBody,
  handler: async (asking, rooms) => {
    const { who, params, body, version, base } = asking;
    const rule = 'baremetal:allocation:update';
    checkAttributes(allocationTable, body, version);
    const allocation = await rooms.inventory.transaction(async (inventory) => {
      const visible = { ...rooms, inventory };
      const stored = await findVisibleAllocation(visible, who, params.allocation_ident, { lock: true });
      rooms.policy().require(rule, who, allocationTarget(stored));
      const given = patched(stored, body) as Partial<Pick<Allocation, 'name' | 'extra'>>;
      const values = { name: stored.name, extra: stored.extra, ...given };
      const changed = await refusingDuplicates(allocationTable, values, () =>
        inventory.allocations.update(stored.uuid, values),
      );
      const what = { changed: attributesOf(body), ...given };
      await auditAndEvent(inventory, rooms.policy(), asking, changeOf('update', rule, changed, what));
      return changed;
    });
    return ok(shownAllocation.full(version).represent(allocation, { base }));
  },
});

export const allocationEditRoutes: Route[] = [createAllocation, updateAllocation];
