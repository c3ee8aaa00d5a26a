/** Refusals below a parent. Nodes, ports and volumes are only listed there; single ones have a separate path. */

import { z } from 'zod';
import { visibleNode } from '../../admission/visibility';
import { raise } from '../../model/errors';
import { nestedPortgroupsSince } from '../../model/resources/portgroups';
import { volumesSince } from '../../model/resources/volumes';
import type { ApiContext } from '../context';
import { findVisible } from '../resource/reach';
import { type ApiRequest, type Method, type Route, route } from '../server/route';
import { portgroup } from './ports/portgroups';

type NestedRequest = ApiRequest<Readonly<Record<string, string>>, unknown, unknown>;

/** If the caller may not see the parent, everything below is missing. */
type See = { readonly rule: string; see(request: NestedRequest, ctx: ApiContext, parent: string): Promise<unknown> };

const node: See = {
  rule: 'baremetal:node:get',
  see: (request, ctx, parent) => visibleNode(ctx, request, parent),
};
const group: See = {
  rule: 'baremetal:node:get',
  see: (request, ctx, parent) => findVisible(portgroup, ctx, request.who, parent),
};
const chassis: See = {
  rule: 'baremetal:chassis:get',
  see: async ({ who }, ctx) => ctx.policy().require('baremetal:chassis:get', who),
};

type NestedRow = {
  /** Path of the list in its own route. */
  readonly list: string;
  readonly since: number;
  readonly parent: See;
  /** The path to use instead. */
  readonly use: string;
};

const nestedRows: readonly NestedRow[] = [
  { list: '/v1/nodes/:node_ident/ports', since: 1, parent: node, use: 'ports' },
  { list: '/v1/nodes/:ident/portgroups', since: nestedPortgroupsSince, parent: node, use: 'portgroups' },
  { list: '/v1/nodes/:ident/volume/connectors', since: volumesSince, parent: node, use: 'volume/connectors' },
  { list: '/v1/nodes/:ident/volume/targets', since: volumesSince, parent: node, use: 'volume/targets' },
  { list: '/v1/portgroups/:ident/ports', since: nestedPortgroupsSince, parent: group, use: 'ports' },
  { list: '/v1/chassis/:ident/nodes', since: 1, parent: chassis, use: 'nodes' },
];

const nestedParams = z.object({}).catchall(z.string());

const refusingRoute = ({ since, parent, use }: NestedRow, method: Method, path: string): Route =>
  route({
    method,
    path,
    answers: {},
    since,
    rules: [parent.rule],
    params: nestedParams,
    body: z.unknown(),
    handler: async (request, ctx) => {
      const { node_ident, ident } = request.params;
      await parent.see(request, ctx, (node_ident ?? ident)!);
      const reason = `here they are only listed; to make, show, change or delete one use /v1/${use}`;
      return raise('InvalidInput', { field: 'path', reason });
    },
  });

export const nestedRoutes: Route[] = nestedRows.flatMap((row) => [
  refusingRoute(row, 'POST', row.list),
  ...(['GET', 'PATCH', 'DELETE'] as const).map((method) => refusingRoute(row, method, `${row.list}/:child`)),
]);
