/** /v1/nodes/{ident}/traits: traits that approve a node for runbooks. */

import { z } from 'zod';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { raise } from '../../../model/errors';
import { isTrait, maxTraits, traitRefusal } from '../../../model/resources/traits';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { stampLessee } from '../../resource/lease-writes';
import { lostLockRace } from '../../server/lock-wait';
import { type ApiRequest, noContent, ok, type Route } from '../../server/route';
import { type NodeParams, nodeParams, nodeRoute } from './node-route';
import { operatorTraitRules, requireOperatorTraits } from './operator-traits';

const traitsSince = 37;
const setTraitRule = 'baremetal:node:traits:set';
const removeTraitRule = 'baremetal:node:traits:delete';

const nodeTraitBody = z.strictObject({ traits: z.array(z.string()) });
const traitParams = nodeParams.extend({ trait: z.string() });
type TraitRequest = ApiRequest<NodeParams, unknown, unknown>;

/** Stores the traits that `next` returns. Throws NodeLocked if another request wrote the node meanwhile. */
const changeTraits = async (
  request: TraitRequest,
  ctx: ApiContext,
  rule: string,
  next: (node: NodeRow) => readonly string[],
): Promise<void> => {
  const policy = ctx.policy();
  const ident = request.params.node_ident;
  const node = await visibleNode(ctx, request, ident);
  policy.require(rule, request.who, nodeTarget(node));
  if (node.reservation !== null) raise('NodeLocked', { node: ident });
  const traits = checkedTraits(next(node));
  const of = { of: 'node', target: nodeTarget(node) } as const;
  requireOperatorTraits(ctx, request.who, of, { before: node.traits, after: traits });
  await ctx.inventory.transaction(async (inventory) => {
    await stampLessee(inventory, request.who, node, { lock: true });
    if (!(await inventory.nodes.update(node, { traits }))) lostLockRace(ident);
    await auditAndEvent(inventory, policy, request, {
      action: 'node.traits',
      kind: 'node.traits.set',
      rule,
      resource: 'node',
      resource_id: node.uuid,
      node,
      data: { traits },
    });
  });
};

const checkedTraits = (given: readonly string[]): string[] => {
  const traits = [...new Set(given)].sort();
  const wrong = traits.find((trait) => !isTrait(trait));
  if (wrong !== undefined) raise('InvalidInput', { field: 'traits', reason: traitRefusal(wrong) });
  if (traits.length > maxTraits)
    raise('InvalidInput', { field: 'traits', reason: `a node has at most ${maxTraits} traits; ${traits.length} came` });
  return traits;
};

const listTraits = async (request: TraitRequest, ctx: ApiContext) => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  ctx.policy().require('baremetal:node:traits:list', request.who, nodeTarget(node));
  return ok({ traits: node.traits });
};
// Older versions get three kinds of refusal; openstack/ironic:ironic/api/controllers/v1/node.py (NodeTraitsController).
export const nodeTraitRoutes: Route[] = [
  nodeRoute('GET', '/traits', {
    answers: { 200: shapes.traits },
    since: traitsSince,
    tooOld: 406,
    rules: ['baremetal:node:traits:list'],
    handler: listTraits,
  }),
  nodeRoute('PUT', '/traits', {
    since: traitsSince,
    tooOld: 405,
    rules: [setTraitRule, operatorTraitRules.node],
    body: nodeTraitBody,
    handler: async (request, ctx) => {
      await changeTraits(request, ctx, setTraitRule, () => request.body.traits);
      return noContent();
    },
  }),
  nodeRoute('PUT', '/traits/:trait', {
    since: traitsSince,
    tooOld: 405,
    rules: [setTraitRule, operatorTraitRules.node],
    params: traitParams,
    handler: async (request, ctx) => {
      const { node_ident, trait } = request.params;
      await changeTraits(request, ctx, setTraitRule, (node) => [...node.traits, trait]);
      return noContent(`${request.base}/v1/nodes/${encodeURIComponent(node_ident)}/traits/${trait}`);
    },
  }),
  nodeRoute('DELETE', '/traits', {
    since: traitsSince,
    rules: [removeTraitRule, operatorTraitRules.node],
    handler: async (request, ctx) => {
      await changeTraits(request, ctx, removeTraitRule, () => []);
      return noContent();
    },
  }),
  nodeRoute('DELETE', '/traits/:trait', {
    since: traitsSince,
    rules: [removeTraitRule, operatorTraitRules.node],
    params: traitParams,
    handler: async (request, ctx) => {
      const { node_ident, trait } = request.params;
      await changeTraits(request, ctx, removeTraitRule, (node) =>
        node.traits.includes(trait)
          ? node.traits.filter((one) => one !== trait)
          : raise('TraitNotFound', { node: node_ident, trait }),
      );
      return noContent();
    },
  }),
];
