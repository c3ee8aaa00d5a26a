/** Routes below one node: each names the node in its path, and asks first the rule that shows it. */
import { z } from 'zod';
import { type Route, type RouteDefinition, route } from '../../http/route';

/** Parameters of every path below one node. */
export const nodeParams = z.object({ node_ident: z.string() });
export type NodeParams = z.output<typeof nodeParams>;

/** The rule that shows a node. */
const seeNode = 'baremetal:node:get';

type NodeRoute<Query, Body, Params> = Omit<RouteDefinition<Params, Query, Body>, 'path' | 'params' | 'rules'> & {
  /** What follows `/v1/nodes/:node_ident`. */
  readonly below: string;
  /** The rules that its handler may ask beside the one that shows the node. */
  readonly rules: readonly string[];
  /** Of a path that has more parameters than the node. */
  readonly params?: z.ZodType<Params>;
};

/** Defines a route below one node. */
export const nodeRoute = <Query = unknown, Body = unknown, Params = NodeParams>({
  below,
  rules,
  ...definition
}: NodeRoute<Query, Body, Params>): Route =>
  route({
    params: nodeParams as unknown as z.ZodType<Params>,
    ...definition,
    path: `/v1/nodes/:node_ident${below}`,
    rules: [seeNode, ...rules],
  });
