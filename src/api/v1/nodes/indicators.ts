/** /v1/nodes/{ident}/management/indicators: lights of a node, named `name@component`. */
import { z } from 'zod';
import { raise } from '../../../model/errors';
import * as shapes from '../../../wire/ironic';
import type { ApiContext } from '../../context';
import { links } from '../../resource/representation';
import { type ApiRequest, noContent, ok, type Route } from '../../server/route';
import { actOn, lookAt } from './bmc-calls';
import { type NodeParams, nodeParams, nodeRoute } from './node-route';

const indicatorRules = {
  get: 'baremetal:node:get_indicator_state',
  set: 'baremetal:node:set_indicator_state',
} as const;

const light = z.object({
  component: z.string(),
  name: z.string(),
  state: z.string().nullish(),
  readonly: z.boolean().catch(true),
  states: z.array(z.string()).catch([]),
});
type Light = z.output<typeof light>;
const lights = z.array(light).catch([]);

const seen = async (request: ApiRequest<NodeParams, unknown, unknown>, ctx: ApiContext): Promise<Light[]> =>
  lights.parse(await lookAt(request, ctx, indicatorRules.get, 'read_indicators'));

const listIndicators = async (request: ApiRequest<NodeParams, unknown, unknown>, ctx: ApiContext) => {
  const found = await seen(request, ctx);
  const below = `nodes/${encodeURIComponent(request.params.node_ident)}/management/indicators`;
  const indicators = found.map(({ name: plain, component, readonly, states }) => {
    const name = `${plain}@${component}`;
    return { name, component, readonly, states, links: links(request.base, `${below}/${encodeURIComponent(name)}`) };
  });
  return ok({ indicators });
};

const indicatorParams = nodeParams.extend({ indicator: z.string() });
type IndicatorParams = z.output<typeof indicatorParams>;

/** Throws InvalidInput if it is not `name@component`. */
const indicatorOf = ({ indicator }: IndicatorParams): { name: string; component: string } => {
  const [, name, component] = /^(.+)@([^@]+)$/.exec(indicator) ?? [];
  if (name === undefined || component === undefined)
    return raise('InvalidInput', { field: 'indicator', reason: 'must be <name>@<component>, as the list shows them' });
  return { name, component };
};

const showIndicator = async (request: ApiRequest<IndicatorParams, unknown, unknown>, ctx: ApiContext) => {
  const { name, component } = indicatorOf(request.params);
  const found = (await seen(request, ctx)).find((one) => one.name === name && one.component === component);
  if (!found)
    return raise('InvalidInput', { field: 'indicator', reason: 'the node has none of this name; see the list' });
  return ok({ state: found.state ?? 'unknown' });
};

const indicatorBody = z.strictObject({ state: z.string() });

const setIndicator = async (
  request: ApiRequest<IndicatorParams, unknown, z.output<typeof indicatorBody>>,
  ctx: ApiContext,
) => {
  const more = indicatorOf(request.params);
  await actOn(request, ctx, {
    rule: indicatorRules.set,
    step: 'set_indicator',
    args: { state: request.body.state },
    more,
  });
  return noContent();
};
export const nodeIndicatorRoutes: Route[] = [
  nodeRoute('GET', '/management/indicators', {
    answers: { 200: shapes.indicators },
    rules: [indicatorRules.get],
    handler: listIndicators,
  }),
  nodeRoute('GET', '/management/indicators/:indicator', {
    answers: { 200: shapes.indicator },
    rules: [indicatorRules.get],
    params: indicatorParams,
    handler: showIndicator,
  }),
  nodeRoute('PUT', '/management/indicators/:indicator', {
    rules: [indicatorRules.set],
    params: indicatorParams,
    body: indicatorBody,
    arguments: true,
    handler: setIndicator,
  }),
];
