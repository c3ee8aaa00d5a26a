/** /v1/nodes/{ident}/vifs: networks of a node's instance. Each gets a port or portgroup; Temper does not configure switches. */

import { z } from 'zod';
import { visibleNode } from '../../../admission/visibility';
import type { Queries } from '../../../inventory';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { VifRow } from '../../../inventory/nodes/vifs';
import { raise } from '../../../model/errors';
import { asUuid, isLogicalName } from '../../../model/ids';
import { requireMinor } from '../../../model/resources/microversions';
import { type VifCards, vifPlace } from '../../../model/resources/vif-places';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { stampLessee } from '../../resource/lease-writes';
import { uuid } from '../../resource/validation';
import { lostLockRace } from '../../server/lock-wait';
import { type ApiRequest, noContent, ok, type Route } from '../../server/route';
import { type NodeParams, nodeParams, nodeRoute } from './node-route';

const vifsSince = 28;
const vifRules = {
  list: 'baremetal:node:vif:list',
  attach: 'baremetal:node:vif:attach',
  detach: 'baremetal:node:vif:detach',
} as const;

/** First minor version with port or portgroup in the request. */
const placesSince = 67;

const vifId = z.string().refine((text) => asUuid(text) !== undefined || isLogicalName(text), {
  error: 'must be a UUID or a name of 1-255 letters, digits and - . _ ~',
});
// Ironic accepts more keys. They are accepted and dropped, because they are for switch services.
const vifBody = z
  .object({ id: vifId, port_uuid: uuid.optional(), portgroup_uuid: uuid.optional() })
  .catchall(z.unknown());
type VifBody = z.output<typeof vifBody>;

type VifRequest<Given = unknown> = ApiRequest<NodeParams, unknown, Given>;

/** The node, if visible and admitted. Throws NodeNotFound, PolicyDenied. */
const nodeFor = async (request: VifRequest, ctx: ApiContext, rule: string): Promise<NodeRow> => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  ctx.policy().require(rule, request.who, nodeTarget(node));
  return node;
};

/** Throws InvalidInput alike for a missing port or portgroup and one of another node. */
const checkNamed = (node: NodeRow, { port_uuid, portgroup_uuid }: VifBody, cards: VifCards): void => {
  if (port_uuid !== undefined && portgroup_uuid !== undefined)
    raise('InvalidInput', { field: 'port_uuid, portgroup_uuid', reason: 'name one of them' });
  const places = [
    { field: 'port_uuid', wanted: port_uuid, there: cards.ports },
    { field: 'portgroup_uuid', wanted: portgroup_uuid, there: cards.portgroups },
  ];
  for (const { field, wanted, there } of places)
    if (wanted !== undefined && !there.some(({ uuid }) => uuid === wanted))
      raise('InvalidInput', { field, reason: `node ${node.uuid} has no ${field.replace('_uuid', '')} ${wanted}` });
};

/** Throws VifAlreadyAttached: Nova passes over this conflict, and takes any other for it. */
const checkUnattached = (node: NodeRow, vif: string, attached: readonly VifRow[]): void => {
  const same = attached.find((one) => one.vif === vif);
  if (!same) return;
  const [object, uuid] = same.port_uuid
    ? ['Port', same.port_uuid]
    : same.portgroup_uuid
      ? ['Portgroup', same.portgroup_uuid]
      : ['Node', node.uuid];
  raise('VifAlreadyAttached', { vif, object, uuid });
};

/** Locks the node for the rest of the transaction. Throws NodeNotFound, NodeLocked, NodeLockedByRun. */
const holdNode = async (inventory: Queries, request: VifRequest, node: NodeRow): Promise<void> => {
  const ident = request.params.node_ident;
  await stampLessee(inventory, request.who, node, { lock: true });
  const now = (await inventory.vifs.hold(node.uuid)) ?? raise('NodeNotFound', { node: ident });
  // The rule admitted the caller to the former tenant's node.
  if (now.owner !== node.owner || now.lessee !== node.lessee) lostLockRace(node.uuid);
  if (now.reservation !== null) raise('NodeLockedByRun', { node: ident });
};

const recordAttachment = (
  inventory: Queries,
  request: VifRequest,
  ctx: ApiContext,
  node: NodeRow,
  act: 'attach' | 'detach',
  vif: string,
) =>
  auditAndEvent(inventory, ctx.policy(), request, {
    action: `node.vif.${act}`,
    kind: `node.vif.${act}ed`,
    rule: vifRules[act],
    resource: 'node',
    resource_id: node.uuid,
    node,
    data: { vif },
  });

const attach = async (request: VifRequest<VifBody>, ctx: ApiContext) => {
  const node = await nodeFor(request, ctx, vifRules.attach);
  const { id: vif, port_uuid, portgroup_uuid } = request.body;
  if (port_uuid !== undefined || portgroup_uuid !== undefined)
    requireMinor(request.version, placesSince, 'naming a port or portgroup');
  await ctx.inventory.transaction(async (inventory) => {
    await holdNode(inventory, request, node);
    const cards = await inventory.vifs.cards(node.uuid);
    checkNamed(node, request.body, cards);
    const attached = await inventory.vifs.list(node.uuid);
    checkUnattached(node, vif, attached);
    const place =
      vifPlace(cards, attached.length, { port_uuid, portgroup_uuid }) ?? raise('NoFreePhysicalPorts', { vif });
    await inventory.vifs.attach(node.uuid, { vif, ...place });
    await recordAttachment(inventory, request, ctx, node, 'attach', vif);
  });
  return noContent();
};

const oneParams = nodeParams.extend({ vif: z.string() });

const detach = async (request: ApiRequest<z.output<typeof oneParams>, unknown, unknown>, ctx: ApiContext) => {
  const node = await nodeFor(request, ctx, vifRules.detach);
  const { vif } = request.params;
  await ctx.inventory.transaction(async (inventory) => {
    await holdNode(inventory, request, node);
    if (!(await inventory.vifs.detach(node.uuid, vif)))
      raise('VifNotAttached', { vif: vif.slice(0, 80), node: node.uuid });
    await recordAttachment(inventory, request, ctx, node, 'detach', vif);
  });
  return noContent();
};

export const nodeVifRoutes: Route[] = [
  nodeRoute('GET', '/vifs', {
    answers: { 200: shapes.vifs },
    since: vifsSince,
    rules: [vifRules.list],
    handler: async (request, ctx) => {
      const node = await nodeFor(request, ctx, vifRules.list);
      const rows = await ctx.inventory.vifs.list(node.uuid);
      return ok({ vifs: rows.map(({ vif }) => ({ id: vif })) });
    },
  }),
  nodeRoute('POST', '/vifs', {
    answers: { 204: null },
    since: vifsSince,
    rules: [vifRules.attach],
    body: vifBody,
    handler: attach,
  }),
  nodeRoute('DELETE', '/vifs/:vif', {
    since: vifsSince,
    rules: [vifRules.detach],
    params: oneParams,
    handler: detach,
  }),
];
