/** /v1/nodes/{ident}/vifs: networks of a node's instance. They are only recorded; Temper does not configure switches. */

import { z } from 'zod';
import { visibleNode } from '../../../admission/visibility';
import type { Queries } from '../../../inventory';
import { brokenUnique } from '../../../inventory/database';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import type { NewVif } from '../../../inventory/nodes/vifs';
import { raise } from '../../../model/errors';
import { asUuid, isLogicalName } from '../../../model/ids';
import { requireMinor } from '../../../model/resources/microversions';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import { auditAndEvent } from '../../audit/record';
import type { ApiContext } from '../../context';
import { stampLessee } from '../../resource/lease-writes';
import { uuid } from '../../resource/validation';
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

/** The named port or portgroup. Throws InvalidInput alike for missing ones and those of another node. */
const checkPlace = async (inventory: Queries, node: NodeRow, given: VifBody): Promise<void> => {
  const { port_uuid, portgroup_uuid } = given;
  if (port_uuid !== undefined && portgroup_uuid !== undefined)
    raise('InvalidInput', { field: 'port_uuid, portgroup_uuid', reason: 'name one of them' });
  const port = port_uuid === undefined ? undefined : (await inventory.ports.find(port_uuid))?.row;
  const group = portgroup_uuid === undefined ? undefined : (await inventory.portgroups.find(portgroup_uuid))?.row;
  const places = [
    { field: 'port_uuid', wanted: port_uuid, found: port },
    { field: 'portgroup_uuid', wanted: portgroup_uuid, found: group },
  ];
  for (const { field, wanted, found } of places)
    if (wanted !== undefined && found?.node_uuid !== node.uuid)
      raise('InvalidInput', { field, reason: `node ${node.uuid} has no ${field.replace('_uuid', '')} ${wanted}` });
};

const attached = async (inventory: Queries, node: NodeRow, vif: NewVif): Promise<boolean> => {
  try {
    return await inventory.vifs.attach(node.uuid, vif);
  } catch (thrown) {
    const constraint = brokenUnique(thrown);
    if (!constraint?.startsWith('node_vifs_')) throw thrown;
    const what = constraint.endsWith('_vif_key')
      ? `Network ${vif.vif} is attached to node ${node.uuid}`
      : `Another network is attached to ${vif.port_uuid ?? vif.portgroup_uuid}`;
    return raise('Conflict', { reason: `${what} already; detach it first.` });
  }
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
  const { id, port_uuid, portgroup_uuid } = request.body;
  if (port_uuid !== undefined || portgroup_uuid !== undefined)
    requireMinor(request.version, placesSince, 'naming a port or portgroup');
  await ctx.inventory.transaction(async (inventory) => {
    await checkPlace(inventory, node, request.body);
    await stampLessee(inventory, request.who, node);
    const vif = { vif: id, port_uuid: port_uuid ?? null, portgroup_uuid: portgroup_uuid ?? null };
    if (!(await attached(inventory, node, vif))) raise('NodeLocked', { node: request.params.node_ident });
    await recordAttachment(inventory, request, ctx, node, 'attach', id);
  });
  return noContent();
};

const oneParams = nodeParams.extend({ vif: z.string() });

const detach = async (request: ApiRequest<z.output<typeof oneParams>, unknown, unknown>, ctx: ApiContext) => {
  const node = await nodeFor(request, ctx, vifRules.detach);
  if (node.reservation !== null) raise('NodeLocked', { node: request.params.node_ident });
  const { vif } = request.params;
  await ctx.inventory.transaction(async (inventory) => {
    if (!(await inventory.vifs.detach(node.uuid, vif)))
      raise('InvalidInput', { field: 'vif', reason: `${vif.slice(0, 80)} is not attached to node ${node.uuid}` });
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
