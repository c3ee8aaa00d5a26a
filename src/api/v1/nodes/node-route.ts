/** Routes below one node: each names the node in its path, and asks first the rule that shows it. */
import { z } from 'zod';
import { type Method, type Route, type RouteDefinition, route } from '../../http/route';

/** Parameters of every path below one node. */
export const nodeParams = z.object({ node_ident: z.string() });
export type NodeParams = z.output<typeof nodeParams>;

/** The rule that shows a node. */
const seeNode = 'baremetal:node:get';

type NodeRoute<Query, Body, Params> = Omit<
  RouteDefinition<Params, Query, Body>,
  'method' | 'path' | 'params' | 'rules'
> & {
  /** The rules that its handler may ask beside the one that shows the node. */
  readonly rules: readonly string[];
  /** Of a path that has more parameters than the node. */
  readonly params?: z.ZodType<Params>;
};

/**
 * Defines a route below one node.
 * @param below what follows `/v1/nodes/:node_ident`
 */
export const nodeRoute = <Query = unknown, Body = unknown, Params = NodeParams>(
  method: Method,
  below: string,
  { rules, ...definition }: NodeRoute<Query, Body, Params>,
): Route =>
  route({
    params: nodeParams as unknown as z.ZodType<Params>,
    ...definition,
    method,
    path: `/v1/nodes/:node_ident${below}`,
    rules: [seeNode, ...rules],
  });
