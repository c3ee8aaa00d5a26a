/** GET /v1/shards: into how many parts the fleet is divided, and how many nodes each has. */
import { ok, type Route, route } from '../route';
import * as shapes from './shapes';

const rule = 'baremetal:shards:get';

/** The wire's name for nodes without one. */
const unsharded = 'None';

export const shardRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/shards',
    answers: { 200: shapes.shards },
    since: 82,
    rules: [rule],
    handler: async ({ who }, rooms) => {
      rooms.policy().require(rule, who);
      const rows = await rooms.inventory.shards.list();
      return ok({ shards: rows.map(({ name, count }) => ({ name: name ?? unsharded, count })) });
    },
  }),
];
