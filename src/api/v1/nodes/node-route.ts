/** Routes below one node. Each evaluates the rule that shows the node first. */
import { z } from 'zod';
import { type Answers, type Method, type Route, type RouteDefinition, route } from '../../server/route';

export const nodeParams = z.object({ node_ident: z.string() });
export type NodeParams = z.output<typeof nodeParams>;

/** The change of a request that has passed all its checks. */
export type CheckedChange = () => Promise<unknown>;

/** The rule that shows a node. */
const seeNode = 'baremetal:node:get';

type NodeRoute<Query, Body, Params, Described extends Answers> = Omit<
  RouteDefinition<Params, Query, Body, Described>,
  'method' | 'path' | 'params' | 'rules'
> & {
  /** Rules that its handler may evaluate beside that one. */
  readonly rules: readonly string[];
  /** For paths with further parameters. */
  readonly params?: z.ZodType<Params>;
};

/**
 * Defines a route below one node.
 * @param below the path after `/v1/nodes/:node_ident`
 */
export const nodeRoute = <Query = unknown, Body = unknown, Params = NodeParams, Described extends Answers = Answers>(
  method: Method,
  below: string,
  { rules, ...definition }: NodeRoute<Query, Body, Params, Described>,
): Route =>
  route({
    params: nodeParams as unknown as z.ZodType<Params>,
    ...definition,
    method,
    path: `/v1/nodes/:node_ident${below}`,
    rules: [seeNode, ...rules],
  });
