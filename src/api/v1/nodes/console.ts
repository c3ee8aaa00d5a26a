/** /v1/nodes/{ident}/states/console: access to the serial console. Most drivers have none. */

import { z } from 'zod';
import { flag } from '../../../admission/schemas';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { raise } from '../../../model/errors';
import { interfaceOf } from '../../../model/lifecycle/drivers';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { type ApiRequest, accepted, ok, type Route } from '../../server/route';
import { type NodeParams, nodeRoute } from './node-route';

const getRule = 'baremetal:node:get_console';
const setRule = 'baremetal:node:set_console_state';

const consoleBody = z.strictObject({ enabled: flag });
type ConsoleBody = z.output<typeof consoleBody>;

/** Working console interfaces, with the data shown while the console is on. */
const consoles: Readonly<Record<string, (node: NodeRow, base: string) => { type: string; url: string }>> = {
  fake: () => ({ type: 'fake', url: '' }),
  // The URL is no console address: a POST to it gives a ticket.
  'ipmitool-socat': ({ uuid }, base) => ({ type: 'ticket', url: `${base}/temper/v1/nodes/${uuid}/console` }),
};

/** The node, if visible, admitted and with a console. Also throws DriverUnsupported. */
const nodeFor = async (request: ApiRequest<NodeParams, unknown, unknown>, ctx: ApiContext, rule: string) => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  ctx.policy().require(rule, request.who, nodeTarget(node));
  const shown = consoles[interfaceOf(node, 'console')];
  if (!shown) return raise('DriverUnsupported', { driver: node.driver, what: 'consoles' });
  return { node, info: shown(node, request.base) };
};

const setConsole = async (
  request: ApiRequest<NodeParams, unknown, ConsoleBody>,
  ctx: ApiContext,
  node: NodeRow,
): Promise<void> => {
  const { enabled } = request.body;
  await ctx.inventory.transaction(async (inventory) => {
    const updated = await inventory.nodes.update(node, { console_enabled: enabled });
    if (!updated) raise('NodeLocked', { node: request.params.node_ident });
    await auditAndEvent(inventory, ctx.policy(), request, {
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
  nodeRoute('GET', '/states/console', {
    answers: { 200: shapes.consoleState },
    rules: [getRule],
    handler: async (request, ctx) => {
      const { node, info } = await nodeFor(request, ctx, getRule);
      return ok({ console_enabled: node.console_enabled, console_info: node.console_enabled ? info : null });
    },
  }),
  nodeRoute('PUT', '/states/console', {
    answers: { 202: null },
    rules: [setRule],
    body: consoleBody,
    arguments: true,
    handler: async (request, ctx) => {
      const { node } = await nodeFor(request, ctx, setRule);
      await setConsole(request, ctx, node);
      return accepted(`${request.base}/v1/nodes/${encodeURIComponent(request.params.node_ident)}/states/console`);
    },
  }),
];
