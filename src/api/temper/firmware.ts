/** Firmware versions of the nodes whose firmware a caller may read. */
import { z } from 'zod';
import * as shapes from '../../wire/runs';
import type { ApiContext } from '../context';
import { pageLimit } from '../resource/validation';
import { behindNode, nodeColumns, visibleRows } from '../resource/visibility';
import { type Answer, type ApiRequest, ok, type Route, route } from '../server/route';

const rules = {
  all: 'baremetal:node:list_all',
  own: 'baremetal:node:list',
  see: 'baremetal:node:firmware:get',
} as const;

const filterText = z.string().min(1).max(255);
const firmwareQuery = z.strictObject({
  vendor: filterText.optional(),
  model: filterText.optional(),
  component: filterText.optional(),
  limit: pageLimit,
});

const listFirmware = async (
  { who, query }: ApiRequest<unknown, z.output<typeof firmwareQuery>, unknown>,
  ctx: ApiContext,
): Promise<Answer> => {
  const policy = ctx.policy();
  const visible = behindNode(policy, who, visibleRows(policy, who, { ...rules, columns: nodeColumns }));
  return ok({ firmware: await ctx.inventory.firmwareVersions.list({ ...query, visible }) });
};

export const firmwareRoutes: Route[] = [
  route<unknown, z.output<typeof firmwareQuery>>({
    method: 'GET',
    path: '/temper/v1/firmware',
    answers: { 200: shapes.firmwareVersions },
    rules: [rules.all, rules.own, rules.see, 'baremetal:node:get'],
    query: firmwareQuery,
    handler: listFirmware,
  }),
];
