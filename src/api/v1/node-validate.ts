/** Node validation: says per interface whether the node has what its driver needs. Looks at the store only, never at a BMC. */
import { z } from 'zod';
import type { NodeRow } from '../../inventory/nodes';
import { type InterfaceName, interfaceNames, isDriver } from '../../model/drivers';
import { raise } from '../../model/errors';
import { asUuid } from '../../model/ids';
import { nodeTarget } from '../../policy';
import type { Rooms } from '../rooms';
import { type Answer, type Asking, ok, type Route, route } from '../route';
import { requireMinor } from '../versions';
import { visibleNode } from '../visibility';
import { driverInfoFault } from './node-checks';
import { nodeParams } from './nodes';

const validate = 'baremetal:node:validate';

type Result = { readonly result: boolean | null; readonly reason?: string };

/** Interfaces that speak to the BMC, so that they need what the driver asks for. */
const needsBmc: readonly InterfaceName[] = ['bios', 'boot', 'management', 'power'];

/** What this release does not do yet, whatever the node says. */
const missing: Partial<Record<InterfaceName, string>> = {
  deploy: 'This release does not deploy yet.',
  inspect: 'This release does not inspect yet.',
};

const resultOf = (node: NodeRow, name: InterfaceName): Result => {
  const implementation = (node as unknown as Record<string, unknown>)[`${name}_interface`];
  if (typeof implementation === 'string' && implementation.startsWith('no-'))
    return { result: null, reason: `not supported: ${name}_interface is ${implementation}` };
  if (!isDriver(node.driver)) return { result: false, reason: `Driver ${node.driver} is not enabled here.` };
  const later = missing[name];
  if (later) return { result: false, reason: later };
  const fault = needsBmc.includes(name) ? driverInfoFault(node.driver, node.driver_info, { missing: true }) : undefined;
  return fault ? { result: false, reason: `driver_info ${fault.field} ${fault.reason}.` } : { result: true };
};

const answer = async (asking: Asking<unknown, unknown, unknown>, rooms: Rooms, ident: string): Promise<Answer> => {
  const node = await visibleNode(rooms, asking, ident);
  rooms.policy().require(validate, asking.who, nodeTarget(node));
  return ok(
    Object.fromEntries(interfaceNames.filter((name) => name !== 'vendor').map((name) => [name, resultOf(node, name)])),
  );
};

const query = z.strictObject({ node: z.string().optional(), node_uuid: z.string().optional() });

export const nodeValidateRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/nodes/:node_ident/validate',
    rules: ['baremetal:node:get', validate],
    params: nodeParams,
    handler: (asking, rooms) => answer(asking, rooms, asking.params.node_ident),
  }),
  route({
    method: 'GET',
    path: '/v1/nodes/validate',
    rules: ['baremetal:node:get', validate],
    query,
    handler: (asking, rooms) => {
      const ident = asking.query.node_uuid ?? asking.query.node;
      if (ident === undefined) return raise('InvalidInput', { field: 'node', reason: 'is missing' });
      if (asUuid(ident) === undefined) requireMinor(asking.version, 5, 'a node by name');
      return answer(asking, rooms, ident);
    },
  }),
];
