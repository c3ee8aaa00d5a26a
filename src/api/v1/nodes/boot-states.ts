/** PUT /v1/nodes/{ident}/states/boot_mode, /secure_boot and /raid: firmware boot settings and the target RAID. */

import { z } from 'zod';
import { document, flag } from '../../../admission/schemas';
import { visibleNode } from '../../../admission/visibility';
import { raise } from '../../../model/errors';
import { interfaceOf } from '../../../model/lifecycle/drivers';
import { raidFault } from '../../../model/lifecycle/raid';
import { states } from '../../../model/lifecycle/states';
import { bootModes } from '../../../model/lifecycle/steps';
import { nodeTarget } from '../../../policy';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { stampLessee } from '../../resource/lease-writes';
import { lostLockRace } from '../../server/lock-wait';
import { type ApiRequest, accepted, noContent, type Route } from '../../server/route';
import { actOn, type Deed } from './bmc-calls';
import { type NodeParams, nodeRoute } from './node-route';

const bootStateRules = {
  boot_mode: 'baremetal:node:set_boot_mode',
  secure_boot: 'baremetal:node:set_secure_boot',
  raid: 'baremetal:node:set_raid_state',
} as const;

/** Below this version the rules come first: openstack/ironic:ironic/api/controllers/v1/node.py (NodeStatesController.boot_mode). */
const bootStatesSince = 76;

type BootStateRequest = ApiRequest<NodeParams, unknown, unknown>;

/** Refuses a node in a transient state, whose run decides the boot settings. */
const inBackground = async (request: BootStateRequest, ctx: ApiContext, deed: Deed) => {
  const ident = request.params.node_ident;
  const node = await visibleNode(ctx, request, ident);
  ctx.policy().require(deed.rule, request.who, nodeTarget(node));
  if (request.version < bootStatesSince) raise('PathNotFound');
  if (states[node.provision_state].kind === 'transient')
    raise('Conflict', {
      reason: `Node ${ident} is in state "${node.provision_state}"; try again when it has left it.`,
    });
  await actOn(request, ctx, { ...deed, background: true });
  return accepted(`${request.base}/v1/nodes/${encodeURIComponent(ident)}/states`);
};

const raidBody = document;

const setRaid = async (request: ApiRequest<NodeParams, unknown, z.output<typeof raidBody>>, ctx: ApiContext) => {
  const ident = request.params.node_ident;
  const policy = ctx.policy();
  const node = await visibleNode(ctx, request, ident);
  policy.require(bootStateRules.raid, request.who, nodeTarget(node));
  if (interfaceOf(node, 'raid') === 'no-raid') raise('DriverWithoutRaid', { driver: node.driver });
  const wanted = request.body;
  const fault = Object.keys(wanted).length === 0 ? undefined : raidFault(wanted);
  if (fault) raise('InvalidInput', { field: 'body', reason: fault });
  if (node.reservation !== null) raise('NodeLocked', { node: ident });
  await ctx.inventory.transaction(async (inventory) => {
    await stampLessee(inventory, request.who, node, { lock: true });
    const written = await inventory.nodes.update(node, { target_raid_config: wanted });
    if (!written) lostLockRace(ident);
    await auditAndEvent(inventory, policy, request, {
      action: 'node.raid',
      kind: 'node.updated',
      rule: bootStateRules.raid,
      resource: 'node',
      resource_id: node.uuid,
      node,
      data: { target_raid_config: wanted },
    });
  });
  return noContent();
};
const bootMode = z.strictObject({ target: z.enum(bootModes) });
const secureBoot = z.strictObject({ target: flag });

/** The route that changes one firmware setting in the background. `argsOf` makes the step's arguments from the target. */
const bootState = <Target>(
  name: 'boot_mode' | 'secure_boot',
  body: z.ZodType<{ target: Target }>,
  step: 'set_boot_mode' | 'set_secure_boot',
  argsOf: (target: Target) => Readonly<Record<string, unknown>>,
): Route =>
  nodeRoute('PUT', `/states/${name}`, {
    answers: { 202: null },
    since: bootStatesSince,
    gatesItself: true,
    rules: [bootStateRules[name]],
    body,
    arguments: true,
    handler: (request, ctx) =>
      inBackground(request, ctx, { rule: bootStateRules[name], step, args: argsOf(request.body.target) }),
  });

export const nodeBootStateRoutes: Route[] = [
  bootState('boot_mode', bootMode, 'set_boot_mode', (target) => ({ boot_mode: target })),
  bootState('secure_boot', secureBoot, 'set_secure_boot', (target) => ({ enabled: target })),
  nodeRoute('PUT', '/states/raid', {
    since: 12,
    tooOld: 406,
    rules: [bootStateRules.raid],
    body: raidBody,
    handler: setRaid,
  }),
];
