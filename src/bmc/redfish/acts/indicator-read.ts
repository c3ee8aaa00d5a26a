/** Lights of a node and their states. */

import type { z } from 'zod';
import { raise } from '../../../model/errors';
import { indicatorComponents } from '../../../model/lifecycle/steps';
import { ownValue } from '../../../model/own';
import type { ActOutcome } from '../../../model/runs/runs';
import { tidyText } from '../../texts';
import { findChecked } from '../discovery/discovery';
import { readDrives } from '../discovery/inventory';
import { HostChassis, HostSystem } from '../discovery/inventory-resources';
import { createParts, type FoundPart } from '../discovery/parts';
import type { Chassis } from '../discovery/resources';
import type { Client } from '../transport/client';
import { lastOf } from '../transport/texts';

export type Light = z.output<typeof Chassis>;
export type Component = (typeof indicatorComponents)[number];

export type LightAt = {
  readonly component: Component;
  /** Id of the resource; for a drive `<storage>:<drive>`. */
  readonly name: string;
  readonly path: string;
  readonly light: Light;
  readonly readonly: boolean;
};

export const hasLight = (light: Light | undefined): light is Light =>
  light !== undefined && (light.IndicatorLED !== undefined || light.LocationIndicatorActive !== undefined);

const lightStates: Readonly<Record<string, 'on' | 'off' | 'blinking'>> = {
  Lit: 'on',
  Off: 'off',
  Blinking: 'blinking',
};

/** Only IndicatorLED, the older property, distinguishes lit from blinking. */
const stateOf = ({ IndicatorLED, LocationIndicatorActive }: Light) =>
  IndicatorLED !== undefined
    ? (ownValue(lightStates, IndicatorLED) ?? 'unknown')
    : LocationIndicatorActive
      ? 'on'
      : 'off';

const statesOf = ({ IndicatorLED }: Light): readonly string[] =>
  IndicatorLED === undefined ? ['on', 'off'] : ['on', 'off', 'blinking'];

const lightAt = (component: Component, name: string, at: FoundPart<Light>): LightAt => ({
  component,
  name: tidyText(name) ?? lastOf(at.path),
  path: at.path,
  light: at.value,
  readonly: at.headers.allow !== undefined && !/\bPATCH\b/i.test(at.headers.allow),
});

/** Drives take one request each. */
export const findLights = async (client: Client, wanted: readonly Component[]): Promise<LightAt[]> => {
  const { path } = await findChecked(client);
  const system = { ...(await client.get(path, HostSystem)), path };
  const parts = createParts(client);
  const chassis = (system.value.Links?.Chassis ?? []).map((link) => link['@odata.id']);
  const read: Readonly<Record<Component, () => Promise<LightAt[]>>> = {
    chassis: async () =>
      (await parts.each(chassis, HostChassis)).map((at) => lightAt('chassis', at.value.Id ?? lastOf(at.path), at)),
    system: async () => [lightAt('system', lastOf(path), system)],
    disk: async () =>
      (await readDrives(parts, system.value)).map(({ controller, at }) =>
        lightAt('disk', `${controller}:${at.value.Id ?? lastOf(at.path)}`, at),
      ),
  };
  const found: LightAt[] = [];
  for (const component of wanted) found.push(...(await read[component]()));
  return found.filter(({ light }) => hasLight(light));
};

const indicatorView = ({ component, name, light, readonly }: LightAt) => ({
  component,
  name,
  state: stateOf(light),
  readonly,
  states: statesOf(light),
});

export const readIndicators = async (client: Client): Promise<ActOutcome> => {
  const lights = await findLights(client, indicatorComponents);
  if (lights.length === 0) raise('BmcUnsupported', client.facts({ what: 'an indicator' }));
  return { is: 'done', note: `${lights.length} lights`, value: lights.map(indicatorView) };
};
