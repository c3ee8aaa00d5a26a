/** /v1/nodes/{ident}/states/console: whether a caller may read the node's serial line; most drivers offer none. */
import { z } from 'zod';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { raise } from '../../../model/errors';
import { interfaceOf } from '../../../model/lifecycle/drivers';
import { nodeTarget } from '../../../policy';
import { auditAndEvent } from '../../audit/record';
import type { Rooms } from '../../context';
import { type Asking, accepted, ok, type Route, route } from '../../http/route';
import { flag } from '../../resource/validation';
import { visibleNode } from '../../resource/visibility';
import * as shapes from '../shapes';
import { type NodeParams, nodeParams } from './nodes';

const consolePath = '/v1/nodes/:node_ident/states/console';
const getRule = 'baremetal:node:get_console';
const setRule = 'baremetal:node:set_console_state';

const consoleBody = z.strictObject({ enabled: flag });
type ConsoleBody = z.output<typeof consoleBody>;

/** Console interfaces that there is something behind, with what is shown while the console is on. */
const consoles: Readonly<Record<string, { readonly type: string; readonly url: string }>> = {
  fake: { type: 'fake', url: '' },
};

/** The node, if the caller sees it, the rule admits and its driver has a console. Throws also DriverUnsupported. */
const nodeFor = async (asking: Asking<NodeParams, unknown, unknown>, rooms: Rooms, rule: string) => {
  const node = await visibleNode(rooms, asking, asking.params.node_ident);
  rooms.policy().require(rule, asking.who, nodeTarget(node));
  const info = consoles[interfaceOf(node, 'console')];
  if (!info) return raise('DriverUnsupported', { driver: node.driver, what: 'consoles' });
  return { node, info };
};

const setConsole = async (
  asking: Asking<NodeParams, unknown, ConsoleBody>,
  rooms: Rooms,
  node: NodeRow,
): Promise<void> => {
  const { enabled } = asking.body;
  await rooms.inventory.transaction(async (inventory) => {
    const updated = await inventory.nodes.update(node, { console_enabled: enabled });
    if (!updated) raise('NodeLocked', { node: asking.params.node_ident });
    await auditAndEvent(inventory, rooms.policy(), asking, {
      action: 'node.console',
      kind: 'node.console.set',
      rule: setRule,
      resource: 'node',
      resource_id: node.uuid,
      node,
      data: { console_enabled: enabled },
    });
  });
};

export const nodeConsoleRoutes: Route[] = [
  route<NodeParams>({
    method: 'GET',
    path: consolePath,
    answers: { 200: shapes.consoleState },
    rules: ['baremetal:node:get', getRule],
    params: nodeParams,
    handler: async (asking, rooms) => {
      const { node, info } = await nodeFor(asking, rooms, getRule);
      return ok({ console_enabled: node.console_enabled, console_info: node.console_enabled ? info : null });
    },
  }),
  route<NodeParams, unknown, ConsoleBody>({
    method: 'PUT',
    path: consolePath,
    answers: { 202: null },
    rules: ['baremetal:node:get', setRule],
    params: nodeParams,
    body: consoleBody,
    arguments: true,
    handler: async (asking, rooms) => {
      const { node } = await nodeFor(asking, rooms, setRule);
      await setConsole(asking, rooms, node);
      return accepted(`${asking.base}/v1/nodes/${encodeURIComponent(asking.params.node_ident)}/states/console`);
    },
  }),
];
