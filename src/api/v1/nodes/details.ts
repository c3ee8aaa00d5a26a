/** GET /v1/nodes/{ident}/bios, /firmware and /inventory: last known data from PostgreSQL, never from the BMC. */

import { z } from 'zod';
import { flag } from '../../../admission/schemas';
import { visibleNode } from '../../../admission/visibility';
import type { NodeRow } from '../../../inventory/nodes/nodes';
import { maskSecrets } from '../../../model/access/secrets';
import { raise } from '../../../model/errors';
import type { ResourceTable } from '../../../model/resources/fields';
import {
  biosTable,
  firmwareTable,
  identityFields,
  identitySince,
  registrySince,
} from '../../../model/resources/node-details';
import { nodeTarget } from '../../../policy';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { chosenFields } from '../../resource/lists';
import { type Extra, links, type Projection, projections } from '../../resource/representation';
import { fieldNames } from '../../resource/validation';
import { type ApiRequest, ok, type Route } from '../../server/route';
import { nodeParams, nodeRoute } from './node-route';

const detailRules = {
  bios: 'baremetal:node:bios:get',
  firmware: 'baremetal:node:firmware:get',
  inventory: 'baremetal:node:inventory:get',
} as const;

const nullable =
  (name: string): Extra =>
  (row) =>
    row[name] ?? null;

const shownBios = projections(biosTable, {
  links: (row, { base }) => links(base, `nodes/${row.node_uuid}/bios/${encodeURIComponent(String(row.name))}`),
  allowable_values: nullable('allowable_values'),
});
const shownFirmware = projections(firmwareTable, {});

const detailQuery = z.strictObject({ fields: fieldNames.optional(), detail: flag.optional() });
type DetailQuery = z.output<typeof detailQuery>;
type Node = { readonly node_ident: string };

/** The node, if the caller may see it and this part. Throws NodeNotFound, PolicyDenied. */
const nodeFor = async (
  request: ApiRequest<Node, unknown, unknown>,
  ctx: ApiContext,
  part: keyof typeof detailRules,
): Promise<NodeRow> => {
  const node = await visibleNode(ctx, request, request.params.node_ident);
  ctx.policy().require(detailRules[part], request.who, nodeTarget(node));
  return node;
};

const projectionOf = (
  table: ResourceTable,
  shown: ReturnType<typeof projections>,
  { query: { fields, detail }, version }: ApiRequest<Node, DetailQuery, unknown>,
  since: number,
): Projection => {
  const early =
    version < since ? Object.entries({ detail, fields }).find(([, value]) => value !== undefined) : undefined;
  if (early) raise('InvalidInput', { field: early[0], reason: `needs API version 1.${since}` });
  if (detail && fields) raise('InvalidInput', { field: 'fields', reason: 'cannot be combined with detail=true' });
  return shown.ofList(version, { fields: chosenFields(table, fields, version, since), detail });
};

/** Values with secret names are masked: BIOS settings include passwords. */
const showAll = (rows: readonly object[], node: NodeRow, { represent }: Projection, base: string): unknown[] =>
  rows.map((row) => maskSecrets(represent({ ...row, node_uuid: node.uuid }, { base })));

const listBios = async (request: ApiRequest<Node, DetailQuery, unknown>, ctx: ApiContext) => {
  const projection = projectionOf(biosTable, shownBios, request, registrySince);
  const node = await nodeFor(request, ctx, 'bios');
  return ok({ bios: showAll(await ctx.inventory.details.bios(node.uuid), node, projection, request.base) });
};

const biosParams = nodeParams.extend({ setting: z.string() });

const showBios = async (request: ApiRequest<z.output<typeof biosParams>, unknown, unknown>, ctx: ApiContext) => {
  const { node_ident, setting } = request.params;
  const node = await nodeFor(request, ctx, 'bios');
  const found = (await ctx.inventory.details.bios(node.uuid)).find(({ name }) => name === setting);
  if (!found) return raise('BiosSettingNotFound', { node: node_ident, setting });
  const [shown] = showAll([found], node, shownBios.full(request.version), request.base);
  return ok({ [setting]: shown });
};

const firmwareSince = 86;

const listFirmware = async (request: ApiRequest<Node, DetailQuery, unknown>, ctx: ApiContext) => {
  const early = request.query.fields?.find((name) => identityFields.includes(name));
  if (early !== undefined && request.version < identitySince)
    raise('InvalidInput', { field: 'fields', reason: `${early} needs API version 1.${identitySince}` });
  const projection = projectionOf(firmwareTable, shownFirmware, request, firmwareSince);
  const node = await nodeFor(request, ctx, 'firmware');
  return ok({ firmware: showAll(await ctx.inventory.details.firmware(node.uuid), node, projection, request.base) });
};

const showInventory = async (request: ApiRequest<Node, unknown, unknown>, ctx: ApiContext) => {
  const node = await nodeFor(request, ctx, 'inventory');
  const found = await ctx.inventory.details.inventory(node.uuid);
  if (!found) return raise('InventoryNotFound', { node: request.params.node_ident });
  const { inventory, plugin_data } = found;
  return ok(maskSecrets({ inventory, plugin_data }));
};
export const nodeDetailRoutes: Route[] = [
  nodeRoute('GET', '/bios', {
    since: 40,
    rules: [detailRules.bios],
    query: detailQuery,
    handler: listBios,
  }),
  nodeRoute('GET', '/bios/:setting', {
    answers: { 200: shapes.biosSetting },
    since: 40,
    rules: [detailRules.bios],
    params: biosParams,
    handler: showBios,
  }),
  nodeRoute('GET', '/firmware', {
    since: firmwareSince,
    rules: [detailRules.firmware],
    query: detailQuery,
    handler: listFirmware,
  }),
  nodeRoute('GET', '/inventory', {
    answers: { 200: shapes.inventory },
    since: 81,
    rules: [detailRules.inventory],
    handler: showInventory,
  }),
];
