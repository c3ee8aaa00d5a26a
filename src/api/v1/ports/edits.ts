/** Writes of /v1/ports: create, patch, delete; each one transaction with its audit row and event. */
import type { z } from 'zod';
import type { Queries } from '../../../inventory';
import { raise } from '../../../model/errors';
import { asUuid } from '../../../model/ids';
import { checkNodeFree, checkPortDelete, checkPortUpdate } from '../../../model/resources/port-changes';
import { checkMemberNetwork } from '../../../model/resources/portgroups';
import { type Port, type PortNode, portTable } from '../../../model/resources/ports';
import { nodeTarget } from '../../../policy';
import { type Act, type AuditContext, auditAndEvent, resourceChange } from '../../audit/record';
import type { Rooms } from '../../context';
import { type Asking, created, noContent, ok, route } from '../../http/route';
import { refusingDuplicates } from '../../resource/duplicates';
import { stampLessee } from '../../resource/lease-writes';
import { requireOnHome } from '../../resource/node-resource';
import { attributesOf, checkAttributes, type Operation, patchBody } from '../../resource/patch';
import { createGate, createSchema } from '../../resource/validation';
import { checkGroup } from './membership';
import { findVisiblePort, visibleNodeOf } from './nodes';
import { portCollection, portParams, portPath, shownPort } from './representation';
import { homeIdent, newPort, patchedPort } from './writes';

type Params = z.output<typeof portParams>;

/** Fields that a portgroup has a say in. */
const memberFields: readonly string[] = ['portgroup_uuid', 'pxe_enabled', 'physical_network'];

const createPort = route<unknown, unknown, Readonly<Record<string, unknown>>>({
  method: 'POST',
  path: portCollection,
  rules: ['baremetal:node:get', 'baremetal:port:create'],
  requireAllowed: ({ who, field }, rooms) =>
    requireOnHome(rooms, who, 'baremetal:port:create', field('node_uuid') ?? field('node_ident')),
  body: createSchema(portTable),
  gate: createGate(portTable),
  handler: async (asking, rooms) => {
    const { who, body, version, base } = asking;
    const ident = homeIdent(body);
    const port = await refusingDuplicates(portTable, body, () =>
      rooms.inventory.transaction(async (inventory) => {
        const node = await visibleNodeOf({ ...rooms, inventory }, who, ident, { lock: true });
        // A node that is hidden counts as one without owner, so that the answer reveals nothing of it.
        rooms.policy().require('baremetal:port:create', who, nodeTarget(node ?? { owner: null, lessee: null }));
        if (!node) return raise('InvalidInput', { field: 'node_uuid', reason: `node ${ident} could not be found` });
        checkNodeFree(node);
        const given = newPort(body, node.uuid, version);
        await checkGroup(inventory, node.uuid, given);
        await stampLessee(inventory, who, node);
        const stored = await inventory.ports.insert(given);
        await record(inventory, asking, rooms, 'create', { port: stored, node }, { ...body });
        return stored;
      }),
    );
    return created(shownPort.full(version).represent(port, { base }), `${base}${portCollection}/${port.uuid}`);
  },
});

const updatePort = route<Params, unknown, Operation[]>({
  method: 'PATCH',
  path: portPath,
  rules: ['baremetal:node:get', 'baremetal:port:update'],
  requireAllowed: async ({ who, params: { port_ident = '' }, version }, rooms) => {
    const { node } = await findVisiblePort(rooms, who, port_ident, version);
    rooms.policy().require('baremetal:port:update', who, nodeTarget(node));
  },
  params: portParams,
  body: patchBody,
  handler: async (asking, rooms) => {
    const { who, params, body, version, base } = asking;
    checkAttributes(portTable, body, version);
    const port = await rooms.inventory.transaction(async (inventory) => {
      const here = { ...rooms, inventory };
      const found = await findVisiblePort(here, who, params.port_ident, version, { lock: true });
      rooms.policy().require('baremetal:port:update', who, nodeTarget(found.node));
      const { port, changed, moveTo } = patchedPort(found.port, body, version);
      const node = moveTo === undefined ? found.node : await newHome(here, who, found.node, moveTo);
      checkPortUpdate(found.node, changed, version);
      checkNodeFree(node);
      checkMemberNetwork(found.port, port, changed, version);
      if (changed.some((name) => memberFields.includes(name)) || moveTo !== undefined)
        await checkGroup(inventory, node.uuid, { ...port, uuid: found.port.uuid });
      await stampLessee(inventory, who, node);
      const stored = await refusingDuplicates(portTable, port, () =>
        inventory.ports.update(found.port.uuid, { ...port, node_uuid: node.uuid }),
      );
      const what = Object.fromEntries(attributesOf(body).map((name) => [name, stored[name as keyof Port]]));
      await record(inventory, asking, rooms, 'update', { port: stored, node }, what);
      return stored;
    });
    return ok(shownPort.full(version).represent(port, { base }));
  },
});

/** One text for missing, hidden and foreign, so that it reveals nothing of the node. */
const newHome = async (
  rooms: Parameters<typeof visibleNodeOf>[0],
  who: Asking<unknown, unknown, unknown>['who'],
  old: PortNode,
  ident: string,
): Promise<PortNode> => {
  const node = await visibleNodeOf(rooms, who, ident, { lock: true });
  if (node && node.owner === old.owner) return node;
  return raise('InvalidInput', {
    field: 'node_uuid',
    reason: `the port cannot move to node ${ident}: it must exist, be visible to you and have the same owner`,
  });
};

const deletePort = route<Params>({
  method: 'DELETE',
  path: portPath,
  rules: ['baremetal:node:get', 'baremetal:port:delete'],
  params: portParams,
  handler: async (asking, rooms) => {
    const { who, params, version } = asking;
    if (asUuid(params.port_ident) === undefined)
      raise('InvalidInput', { field: 'port', reason: 'a port is deleted by its UUID, not by its name' });
    await rooms.inventory.transaction(async (inventory) => {
      const { port, node } = await findVisiblePort({ ...rooms, inventory }, who, params.port_ident, version, {
        lock: true,
      });
      rooms.policy().require('baremetal:port:delete', who, nodeTarget(node));
      checkPortDelete(node, port);
      if (!node.maintenance && (await inventory.vifs.uses(port.uuid)))
        raise('Conflict', { reason: `Port ${port.uuid} is attached to a network; detach it first.` });
      await inventory.ports.delete(port.uuid);
      await record(inventory, asking, rooms, 'delete', { port, node }, {});
    });
    return noContent();
  },
});

/** Writes the audit row and the event of a write to a port. */
const record = (
  inventory: Queries,
  asking: AuditContext,
  rooms: Rooms,
  act: Act,
  { port, node }: { readonly port: Port; readonly node: PortNode },
  values: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const { uuid, address } = port;
  const write = { resource: 'port', act, rule: `baremetal:port:${act}`, uuid, node, values, facts: { address } };
  return auditAndEvent(inventory, rooms.policy(), asking, resourceChange(write));
};

export const portEditRoutes = [createPort, updatePort, deletePort];
