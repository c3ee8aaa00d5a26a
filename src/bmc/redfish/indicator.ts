/** The light that shows a technician which node it is, in the older spelling or the newer one. */
import type { z } from 'zod';
import { raise } from '../../model/errors';
import type { ActOutcome } from '../../model/runs';
import type { indicatorStates } from '../../model/steps';
import type { Client } from './client';
import { converge } from './converge';
import { findSystem } from './discovery';
import { Chassis } from './resources';

type Light = z.output<typeof Chassis>;

/** The older property tells lit from blinking; the newer one only lit from dark. */
const leds: Readonly<Record<(typeof indicatorStates)[number], string>> = {
  on: 'Lit',
  off: 'Off',
  blinking: 'Blinking',
};

const has = (light: Light | undefined): boolean =>
  light !== undefined && (light.IndicatorLED !== undefined || light.LocationIndicatorActive !== undefined);

/** The system's light, else that of its chassis. */
const findLight = async (client: Client): Promise<{ path: string; light: Light }> => {
  const at = await findSystem(client);
  const { value: system } = await at.look();
  for (const path of [at.path, ...(system.Links?.Chassis ?? []).map((link) => link['@odata.id'])]) {
    const light = (await client.find(path, Chassis))?.value;
    if (light && has(light)) return { path, light };
  }
  return raise('BmcUnsupported', client.facts({ what: 'an indicator' }));
};

export const setIndicator = async (client: Client, args: Readonly<Record<string, unknown>>): Promise<ActOutcome> => {
  const wanted = args.state as keyof typeof leds;
  const what = `set the indicator ${wanted}`;
  const { path, light } = await findLight(client);
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
