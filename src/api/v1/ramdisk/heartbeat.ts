/** POST /v1/heartbeat/{ident}: a ramdisk's sign of life with its URL. It is stored and forwarded without waiting. */

import { timingSafeEqual, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { identOf } from '../../../admission/visibility';
import type { AgentRow } from '../../../inventory/nodes/agents';
import { hashOf } from '../../../inventory/secrets/boot-tokens';
import { cidrContains, isIpAddress } from '../../../model/access/bmc-addresses';
import { maskText } from '../../../model/access/secrets';
import { invalidInput, raise } from '../../../model/errors';
import type { NodeUuid } from '../../../model/ids';
import { acceptsHeartbeat, heartbeatFields } from '../../../model/lifecycle/agents';
import type { ApiContext, ContextSettings } from '../../context';
import { type ApiRequest, accepted, route } from '../../server/route';
import { type NodeParams, nodeParams } from '../nodes/node-route';
import { notifyRun } from './notify-run';
import { isOwnRamdisk, leadsTo, peerOf } from './peers';

const heartbeatRule = 'baremetal:node:ipa_heartbeat';

/** Characters. */
const longestMessage = 1_000;
const longestUrl = 1_024;
const longestCertificate = 65_536;

/** Bytes: every field at maximum length, escaped, and a long message. */
const bodyLimit = 512 * 1024;

const heartbeatBody = z.strictObject({
  callback_url: z.string().max(longestUrl),
  agent_token: z.string().max(255),
  agent_version: z.string().min(1).max(255).optional(),
  agent_verify_ca: z.string().max(longestCertificate).nullish(),
  agent_status: z.enum(['start', 'end', 'error']).nullish(),
  agent_status_message: z.string().nullish(),
});
type Beat = z.output<typeof heartbeatBody>;

const refuseNewer = (given: Readonly<Record<string, unknown>>, minor: number): void => {
  for (const [name, since] of Object.entries(heartbeatFields))
    if (given[name] !== undefined && minor < since) invalidInput(name, `needs API version 1.${since}`);
};

const isToken = ({ token_hash }: AgentRow, token: string): boolean =>
  timingSafeEqual(Buffer.from(token_hash, 'hex'), Buffer.from(hashOf(token), 'hex'));

const parseUrl = (text: string): URL => {
  try {
    return new URL(text);
  } catch {
    return invalidInput('callback_url', 'must be a URL such as https://192.0.2.7:9999');
  }
};

/** Throws InvalidInput for an unusable URL, AgentAddressRefused for one outside the networks. */
const checkUrl = async (settings: ContextSettings, text: string, peer: string): Promise<void> => {
  const url = parseUrl(text);
  if (!/^https?:$/.test(url.protocol)) invalidInput('callback_url', 'must begin with http:// or https://');
  if (url.protocol === 'http:' && settings.agentRequireTls)
    invalidInput('callback_url', 'must begin with https:// here (TEMPER_AGENT_REQUIRE_TLS)');
  if (url.username || url.password || url.search || url.hash)
    invalidInput('callback_url', 'must not hold credentials, a query or a fragment');
  await checkNetworks(settings, url);
  if (!(await leadsTo(settings, url, peer)))
    invalidInput('callback_url', `must lead to ${peer}, where this request comes from (TEMPER_TRUSTED_PROXIES)`);
};

const checkNetworks = async (settings: ContextSettings, url: URL): Promise<void> => {
  const networks = settings.agentNetworks ?? settings.bmcNetworks;
  if (networks.length === 0) return;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const found = isIpAddress(host) ? [host] : await settings.lookup(host).catch(() => []);
  const allowed = (address: string) => networks.some((cidr) => cidrContains(cidr, address));
  if (found.length === 0 || !found.every(allowed)) raise('AgentAddressRefused', { address: host });
};

const checkCertificate = (pem: string): void => {
  try {
    new X509Certificate(pem);
  } catch {
    invalidInput('agent_verify_ca', 'must be a certificate in PEM form');
  }
};

/** Throws InvalidInput if the token differs from the record's, or the URL from the first one. */
const checkBeat = async (ctx: ApiContext, agent: AgentRow, beat: Beat, peer: string): Promise<void> => {
  const { callback_url: url, agent_verify_ca: pem } = beat;
  if (!beat.agent_version) invalidInput('agent_version', 'is missing');
  if (agent.url !== null && url !== '' && url !== agent.url)
    invalidInput('callback_url', 'is not the one that this ramdisk gave first');
  if (agent.url !== null && pem && pem !== agent.verify_ca)
    invalidInput('agent_verify_ca', 'is not the one that this ramdisk gave first');
  if (agent.url !== null || url === '') return;
  await checkUrl(ctx.settings, url, peer);
  if (pem) checkCertificate(pem);
};

const writeBeat = async (ctx: ApiContext, node: NodeUuid, beat: Beat): Promise<void> => {
  const message = beat.agent_status_message;
  const known = await ctx.inventory.agents.beat(node, {
    token_hash: hashOf(beat.agent_token),
    url: beat.callback_url || null,
    version: beat.agent_version!,
    verify_ca: beat.agent_verify_ca || null,
    status: beat.agent_status ?? null,
    status_message: message ? maskText(message).slice(0, longestMessage) : null,
  });
  if (!known) raise('Conflict', { reason: 'The ramdisk on record has changed meanwhile; try again.' });
};

const heartbeat = async (request: ApiRequest<NodeParams, unknown, Beat>, ctx: ApiContext) => {
  ctx.policy().require(heartbeatRule, request.who);
  const ident = request.params.node_ident;
  const node = await ctx.inventory.nodes.find(identOf(ident, request.version));
  const agent = node && (await ctx.inventory.agents.find(node.uuid));
  // A node without lookup gives the same refusal as a missing node.
  if (!node || !agent) return raise('NodeNotFound', { node: ident });
  if (!isToken(agent, request.body.agent_token)) invalidInput('agent_token', 'is not the one of the ramdisk on record');
  if (!acceptsHeartbeat(node.provision_state)) {
    ctx.log.info('heartbeat ignored', { node_uuid: node.uuid, provision_state: node.provision_state });
    return accepted();
  }
  const peer = peerOf(request);
  // Only a request with the valid token counts as a second ramdisk. Others are refused above.
  if (node.reservation !== null && !(await isOwnRamdisk(ctx, node, peer)))
    return raise('Conflict', { reason: 'No ramdisk is expected at this address.' });
  await checkBeat(ctx, agent, request.body, peer);
  await writeBeat(ctx, node.uuid, request.body);
  if (node.reservation !== null && !node.maintenance) notifyRun(ctx, node.uuid, 'heartbeat');
  return accepted();
};

export const heartbeatRoute = route({
  method: 'POST',
  path: '/v1/heartbeat/:node_ident',
  answers: { 202: null },
  since: 22,
  rules: [heartbeatRule],
  open: true,
  bodyLimit,
  bodyValues: 100,
  cleansTexts: true,
  params: nodeParams,
  body: heartbeatBody,
  arguments: true,
  gate: ({ body: given, query }, minor) =>
    refuseNewer({ ...query, ...(typeof given === 'object' && given !== null ? given : {}) }, minor),
  handler: heartbeat,
});
