/** GET /v1/nodes/{ident}/children: child nodes that the caller may see. */

import { z } from 'zod';
import { visibleNode } from '../../../admission/visibility';
import { nodeTarget } from '../../../policy';
import { link } from '../../../wire/ironic';
import { visibleNodes } from '../../resource/visibility';
import { ok, type Route } from '../../server/route';
import { nodeRoute } from './node-route';

const childGetRule = 'baremetal:node:get';

const shape = z.strictObject({ children: z.array(z.uuid()), links: link });

export const childrenRoutes: Route[] = [
  nodeRoute('GET', '/children', {
    answers: { 200: shape },
    since: 83,
    rules: ['baremetal:node:list_all', 'baremetal:node:list'],
    handler: async (request, ctx) => {
      const { uuid } = await visibleNode(ctx, request, request.params.node_ident);
      const policy = ctx.policy();
      visibleNodes(policy, request.who); // refuses callers who may not list nodes
      const all = await ctx.inventory.nodes.children(uuid);
      const children = all.filter((child) => policy.allows(childGetRule, request.who, nodeTarget(child)));
      // One link here, not a list of them; openstack/ironic:ironic/api/controllers/v1/node.py.
      const links = { href: `${request.base}/v1/nodes?parent_node=${uuid}`, rel: 'children' };
      return ok({ children: children.map((child) => child.uuid), links });
    },
  }),
];
