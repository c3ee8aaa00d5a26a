/** /v1/nodes/{ident}/management/indicators: the lights of a node, each named `name@component`. */
import { z } from 'zod';
import { raise } from '../../../model/errors';
import type { Rooms } from '../../context';
import { type Answer, type Asking, noContent, ok, type Route, route } from '../../http/route';
import { links } from '../../resource/representation';
import * as shapes from '../shapes';
import { actOn, lookAt } from './bmc-calls';
import { type NodeParams, nodeParams } from './nodes';

const see = 'baremetal:node:get';
const rules = { get: 'baremetal:node:get_indicator_state', set: 'baremetal:node:set_indicator_state' } as const;

const light = z.object({
  component: z.string(),
  name: z.string(),
  state: z.string().nullish(),
  readonly: z.boolean().catch(true),
  states: z.array(z.string()).catch([]),
});
type Light = z.output<typeof light>;
const lights = z.array(light).catch([]);

const seen = async (asking: Asking<NodeParams, unknown, unknown>, rooms: Rooms): Promise<Light[]> =>
  lights.parse(await lookAt(asking, rooms, rules.get, 'read_indicators'));

const listIndicators = async (asking: Asking<NodeParams, unknown, unknown>, rooms: Rooms): Promise<Answer> => {
  const found = await seen(asking, rooms);
  const below = `nodes/${encodeURIComponent(asking.params.node_ident)}/management/indicators`;
  const indicators = found.map(({ name: plain, component, readonly, states }) => {
    const name = `${plain}@${component}`;
    return { name, component, readonly, states, links: links(asking.base, `${below}/${encodeURIComponent(name)}`) };
  });
  return ok({ indicators });
};

const params = nodeParams.extend({ indicator: z.string() });
type Params = z.output<typeof params>;

/** Throws InvalidInput for what is no `name@component`. */
const parsed = ({ indicator }: Params): { name: string; component: string } => {
  const [, name, component] = /^(.+)@([^@]+)$/.exec(indicator) ?? [];
  if (name === undefined || component === undefined)
    return raise('InvalidInput', { field: 'indicator', reason: 'must be <name>@<component>, as the list shows them' });
  return { name, component };
};

const showIndicator = async (asking: Asking<Params, unknown, unknown>, rooms: Rooms): Promise<Answer> => {
  const { name, component } = parsed(asking.params);
  const found = (await seen(asking, rooms)).find((one) => one.name === name && one.component === component);
  if (!found)
    return raise('InvalidInput', { field: 'indicator', reason: 'the node has none of this name; see the list' });
  return ok({ state: found.state ?? 'unknown' });
};

const body = z.strictObject({ state: z.string() });

const setIndicator = async (asking: Asking<Params, unknown, z.output<typeof body>>, rooms: Rooms): Promise<Answer> => {
  const more = parsed(asking.params);
  await actOn(asking, rooms, { rule: rules.set, step: 'set_indicator', args: { state: asking.body.state }, more });
  return noContent();
};

const path = '/v1/nodes/:node_ident/management/indicators';

export const nodeIndicatorRoutes: Route[] = [
  route<NodeParams>({
    method: 'GET',
    path,
    answers: { 200: shapes.indicators },
    rules: [see, rules.get],
    params: nodeParams,
    handler: listIndicators,
  }),
  route<Params>({
    method: 'GET',
    path: `${path}/:indicator`,
    answers: { 200: shapes.indicator },
    rules: [see, rules.get],
    params,
    handler: showIndicator,
  }),
  route<Params, unknown, z.output<typeof body>>({
    method: 'PUT',
    path: `${path}/:indicator`,
    rules: [see, rules.set],
    params,
    body,
    arguments: true,
    handler: setIndicator,
  }),
];
