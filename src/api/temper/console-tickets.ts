/** POST /temper/v1/nodes/{node}/console: a single-use ticket for the node's serial console. */

import { randomBytes } from 'node:crypto';
import { refuseFrozen } from '../../admission/obstacles';
import { requesterOf } from '../../admission/requester';
import { visibleNode } from '../../admission/visibility';
import { hashOf } from '../../inventory/secrets/boot-tokens';
import { raise } from '../../model/errors';
import { interfaceOf } from '../../model/lifecycle/drivers';
import { maxMinor } from '../../model/resources/microversions';
import { nodeTarget } from '../../policy';
import * as shapes from '../../wire/installation';
import { auditAndEvent } from '../audit/record';
import type { ApiContext } from '../context';
import { type ApiRequest, ok, type Route, route } from '../server/route';

const ticketRule = 'baremetal:node:set_console_state';

const useMs = 60_000;
/** Longest session. Another ticket checks the rules again. */
const lastsMs = 3_600_000;

type OfNode = { node: string };

const makeTicket = async (request: ApiRequest<OfNode, unknown, unknown>, ctx: ApiContext) => {
  const node = await visibleNode(ctx, { who: request.who, version: maxMinor }, request.params.node);
  const policy = ctx.policy();
  policy.require(ticketRule, request.who, nodeTarget(node));
  if (interfaceOf(node, 'console') !== 'ipmitool-socat')
    raise('DriverUnsupported', { driver: node.driver, what: 'consoles' });
  if (!node.console_enabled) raise('Conflict', { reason: `The console of node ${node.uuid} is not enabled.` });
  await refuseFrozen(ctx, node, request.params.node);
  const url = await ctx.inventory.workers.findConsole(node.conductor_group, node.driver);
  if (url === undefined) return raise('NoConsoleWorker', { group: node.conductor_group, driver: node.driver });
  const ticket = randomBytes(32).toString('base64url');
  await ctx.inventory.transaction(async (store) => {
    await store.consoleTickets.make({
      ticket_hash: hashOf(ticket),
      node,
      requester: requesterOf(request),
      useMs,
      lastsMs,
    });
    await auditAndEvent(store, policy, request, {
      action: 'node.console_ticket',
      kind: 'node.console.ticket',
      rule: ticketRule,
      resource: 'node',
      resource_id: node.uuid,
      node,
    });
  });
  return ok({ url, ticket, use_within_s: useMs / 1_000, lasts_s: lastsMs / 1_000 });
};

export const consoleTicketRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/temper/v1/nodes/:node/console',
    answers: { 200: shapes.consoleTicket },
    rules: ['baremetal:node:get', ticketRule],
    handler: makeTicket,
  }),
];
