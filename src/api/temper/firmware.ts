/** Firmware versions of the nodes whose firmware a caller may read. */
import { z } from 'zod';
import * as shapes from '../../wire/runs';
import type { ApiContext } from '../context';
import { readPage } from '../resource/own-pages';
import { pageLimit } from '../resource/validation';
import { behindNode, nodeColumns, visibleRows } from '../resource/visibility';
import { type ApiRequest, ok, type Route, route } from '../server/route';

const rules = {
  all: 'baremetal:node:list_all',
  own: 'baremetal:node:list',
  see: 'baremetal:node:firmware:get',
} as const;

const firmwarePath = '/temper/v1/firmware';

const filterText = z.string().min(1).max(255);
const firmwareQuery = z.strictObject({
  vendor: filterText.optional(),
  model: filterText.optional(),
  component: filterText.optional(),
  limit: pageLimit,
  /** An offset: the rows are counts, which have no name. */
  marker: z.coerce.number().int().min(0).max(1_000_000).default(0),
});

const listFirmware = async (request: ApiRequest<unknown, z.output<typeof firmwareQuery>, unknown>, ctx: ApiContext) => {
  const { marker, ...wanted } = request.query;
  const { who } = request;
  const policy = ctx.policy();
  const visible = behindNode(policy, who, visibleRows(policy, who, { ...rules, columns: nodeColumns }));
  const { rows, next } = await readPage(
    request,
    firmwarePath,
    (limit) => ctx.inventory.firmwareVersions.list({ ...wanted, visible, limit, skip: marker }),
    () => marker + wanted.limit,
  );
  return ok({ firmware: rows, ...next });
};

export const firmwareRoutes: Route[] = [
  route({
    method: 'GET',
    path: firmwarePath,
    answers: { 200: shapes.firmwareVersions },
    rules: [rules.all, rules.own, rules.see, 'baremetal:node:get'],
    query: firmwareQuery,
    handler: listFirmware,
  }),
];
