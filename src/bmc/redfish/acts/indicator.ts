/** Indicator of a node, by the older or the newer property. */
import { raise } from '../../../model/errors';
import { indicatorComponents, type indicatorStates } from '../../../model/lifecycle/steps';
import type { ActOutcome } from '../../../model/runs/runs';
import { converge } from '../../converge';
import { findSystem } from '../discovery/discovery';
import { Chassis } from '../discovery/resources';
import type { Client } from '../transport/client';
import { type Component, findLights, hasLight, type Light } from './indicator-read';

type IndicatorArgs = Readonly<Record<string, unknown>>;

/** Values of the older property. */
const leds: Readonly<Record<(typeof indicatorStates)[number], string>> = {
  on: 'Lit',
  off: 'Off',
  blinking: 'Blinking',
};

/** The system's light, else that of its chassis. */
const findAnyLight = async (client: Client): Promise<{ path: string; light: Light }> => {
  const at = await findSystem(client);
  const { value: system } = await at.look();
  for (const path of [at.path, ...(system.Links?.Chassis ?? []).map((link) => link['@odata.id'])]) {
    const light = (await client.find(path, Chassis))?.value;
    if (hasLight(light)) return { path, light };
  }
  return raise('BmcUnsupported', client.facts({ what: 'an indicator' }));
};

const components: readonly string[] = indicatorComponents;

/** `name` distinguishes drives. */
const findNamedLight = async (
  client: Client,
  { component, name }: IndicatorArgs,
): Promise<{ path: string; light: Light }> => {
  const refuse = (reason: string) => raise('StepRejected', client.facts({ step: 'set the indicator', reason }));
  if (!components.includes(String(component))) return refuse(`component must be one of ${components.join(', ')}`);
  const lights = await findLights(client, [component as Component]);
  const named = lights.filter((light) => name === undefined || light.name === name);
  if (named.length === 0)
    return raise('BmcUnsupported', client.facts({ what: `an indicator of ${component} ${name ?? ''}`.trim() }));
  if (named.length > 1) return refuse(`name one of ${lights.map((light) => light.name).join(', ')}`);
  return named[0]!;
};

/** `args`: state, and optionally component and name of `read_indicators`. */
export const setIndicator = async (client: Client, args: IndicatorArgs): Promise<ActOutcome> => {
  const wanted = args.state as keyof typeof leds;
  const what = `set the indicator ${wanted}`;
  const any = args.component === undefined && args.name === undefined;
  const { path, light } = any ? await findAnyLight(client) : await findNamedLight(client, args);
  const body =
    light.IndicatorLED !== undefined ? { IndicatorLED: leds[wanted] } : { LocationIndicatorActive: wanted !== 'off' };
  await converge<Light>(client, {
    what,
    desired: { indicator: wanted, path },
    timeoutMs: client.context.timing.powerTimeoutMs,
    look: async () => (await client.get(path, Chassis)).value,
    reached: (now) => Object.entries(body).every(([name, value]) => now[name] === value),
    act: () => client.patch(path, body, what),
    show: (now) => String(now.IndicatorLED ?? now.LocationIndicatorActive),
    again: 'now',
  });
  return { is: 'done', note: what };
};
