/** GET /v1/shards: shards with their number of nodes that the caller may see. */

import * as shapes from '../../wire/ironic';
import { nodeColumns } from '../resource/visibility';
import { ok, type Route, route } from '../server/route';

const shardRule = 'baremetal:shards:get';

/** The wire's name for nodes without a shard. */
const unsharded = 'None';

export const shardRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/shards',
    answers: { 200: shapes.shards },
    since: 82,
    rules: [shardRule, 'baremetal:node:get'],
    handler: async ({ who }, ctx) => {
      ctx.policy().require(shardRule, who);
      const seen = ctx.policy().filter('baremetal:node:get', who, nodeColumns);
      const rows = await ctx.inventory.shards.list(seen);
      return ok({ shards: rows.map(({ name, count }) => ({ name: name ?? unsharded, count })) });
    },
  }),
];
