/** GET /v1/lookup: a ramdisk finds its node by its network addresses, and gets its token once. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { hashOf } from '../../../inventory/secrets/boot-tokens';
import { masked } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import { isMac, type NodeUuid } from '../../../model/ids';
import { agentConfig, lookupFields, shownToRamdisk, tokenSince } from '../../../model/lifecycle/agents';
import { states } from '../../../model/lifecycle/states';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { uuid } from '../../resource/validation';
import { type ApiRequest, ok, route } from '../../server/route';
import { nodeProjections } from '../nodes/representation';
import { isOwnRamdisk, peerOf } from './peers';

const lookupRule = 'baremetal:driver:ipa_lookup';

/** The MAC addresses among these texts, lower-cased, without repeats. */
export const macsAmong = (texts: readonly string[]): string[] => [
  ...new Set(texts.map((text) => text.trim().toLowerCase()).filter(isMac)),
];

/**
 * The node with a port of these addresses; undefined for none or several.
 * With `named` it is that node, but undefined if an address is another node's, or if it has ports and none matches.
 * A UUID is no secret, and the caller gets the found node's token.
 */
export const nodeAt = async (
  ctx: ApiContext,
  macs: readonly string[],
  named: NodeUuid | undefined,
): Promise<NodeUuid | undefined> => {
  const homes = await ctx.inventory.agents.withPorts(macs);
  if (named === undefined || homes.length > 0)
    return homes.length === 1 && homes[0] === (named ?? homes[0]) ? homes[0] : undefined;
  return (await ctx.inventory.agents.hasPorts(named)) ? undefined : named;
};

/** A new token for a ramdisk, or the mask if the node has one already. */
const tokenOf = async (ctx: ApiContext, node: NodeRow): Promise<string> => {
  const agent_token = randomBytes(32).toString('base64url');
  const { secrets } = ctx.vault.seal(
    { agent_token },
    { holder: 'agent', holder_id: node.uuid, field: 'agent', groups: [node.conductor_group] },
  );
  return (await ctx.inventory.agents.meet(node.uuid, hashOf(agent_token), secrets[0]!)) ? agent_token : masked;
};

/** The response for a ramdisk: its node and settings. */
export const lookupBody = async (
  ctx: ApiContext,
  { version, base }: { readonly version: number; readonly base: string },
  node: NodeRow,
): Promise<z.output<typeof shapes.lookup>> => ({
  node: shownToRamdisk(nodeProjections.ofOne(version, lookupFields).represent(node, { base }), node.provision_state),
  config: {
    ...agentConfig,
    heartbeat_timeout: ctx.settings.heartbeatTimeoutS,
    ...(version >= tokenSince && { agent_token: await tokenOf(ctx, node) }),
  },
});

/**
 * True if the address may look up the node. A ramdisk that booted with a token gets none here, so its address does
 * not count. Its first heartbeat with the token does.
 */
const mayLookUp = async (ctx: ApiContext, node: NodeRow, peer: string): Promise<boolean> =>
  typeof (await ctx.inventory.ramdiskBoots.brings(node.uuid)) === 'string' || isOwnRamdisk(ctx, node, peer);

const lookupQuery = z.strictObject({ addresses: z.string().optional(), node_uuid: uuid.optional() });

const lookUp = async (request: ApiRequest<unknown, z.output<typeof lookupQuery>, unknown>, ctx: ApiContext) => {
  ctx.policy().require(lookupRule, request.who);
  const { addresses, node_uuid } = request.query;
  const macs = macsAmong((addresses ?? '').split(','));
  if (macs.length === 0 && node_uuid === undefined)
    raise('InvalidInput', { field: 'addresses', reason: 'must hold a MAC address, unless node_uuid is given' });
  const found = await nodeAt(ctx, macs, node_uuid as NodeUuid | undefined);
  const node = found && (await ctx.inventory.nodes.find({ uuid: found }));
  // A caller with only an address must learn nothing except that no run waits for it.
  if (!node || !states[node.provision_state].lookup || !(await mayLookUp(ctx, node, peerOf(request))))
    return raise('NodeNotFound', { node: node_uuid ?? macs.join(', ') });
  return ok(await lookupBody(ctx, request, node));
};

export const lookupRoute = route({
  method: 'GET',
  path: '/v1/lookup',
  answers: { 200: shapes.lookup },
  since: 22,
  rules: [lookupRule],
  open: true,
  query: lookupQuery,
  handler: lookUp,
});
