/** Firmware settings: current and pending values, what may be written, and their application at the next boot. */

import { asObject, done, link, onlyProperties, refuse, resource } from './answers';
import { type BiosAttribute, biosAttributes, biosDefaults, biosType } from './bios-attributes';
import { systemPath } from './bmc';
import { etagOf } from './etags';
import { faultOf } from './faults';
import { refuseDuringPost } from './power';
import type { Answer, Bmc, Doc, Exchange, Row } from './types';

const biosPath = (bmc: Bmc): string => `${systemPath(bmc)}/Bios`;
const settingsPath = (bmc: Bmc): string => `${biosPath(bmc)}/${bmc.profile.biosSettings}`;

/** The name of the attribute registry, which also is its id. */
export const biosRegistryName = ({ profile }: Bmc): string => `BiosAttributeRegistry.${profile.name}.v1_0_0`;

const settingsDoc = ({ bmc }: { bmc: Bmc }): Doc => {
  const { bios } = bmc.state;
  const factory = bios.resetPending ? biosDefaults(bmc.profile.bios) : {};
  const Attributes =
    bmc.profile.biosPending === 'full' ? { ...bios.attributes, ...factory, ...bios.pending } : { ...bios.pending };
  return resource(settingsPath(bmc), 'Bios.v1_2_0.Bios', bmc.profile.biosSettings, 'BIOS Pending Settings', {
    AttributeRegistry: biosRegistryName(bmc),
    Attributes,
  });
};

const biosDoc = (x: Exchange): Doc => {
  const { bmc } = x;
  const { bios } = bmc.state;
  return resource(biosPath(bmc), 'Bios.v1_2_0.Bios', 'Bios', 'BIOS Configuration', {
    AttributeRegistry: biosRegistryName(bmc),
    Attributes: bios.attributes,
    '@Redfish.Settings': {
      '@odata.type': '#Settings.v1_3_0.Settings',
      SettingsObject: link(settingsPath(bmc)),
      SupportedApplyTimes: ['OnReset'],
      ETag: etagOf(bmc, settingsDoc(x)),
      ...(bios.appliedAt === null ? {} : { Time: new Date(bios.appliedAt).toISOString() }),
      Messages: [],
    },
    Actions: { '#Bios.ResetBios': { target: `${biosPath(bmc)}/Actions/Bios.ResetBios` } },
  });
};

const problemWith = (attribute: BiosAttribute, value: unknown): string | undefined => {
  const kind = biosType(attribute);
  if (kind === 'Enumeration') return attribute.values!.includes(String(value)) ? undefined : 'PropertyValueNotInList';
  if (typeof value !== typeof attribute.default) return 'PropertyValueTypeError';
  if (kind === 'Boolean') return undefined;
  if (kind === 'Integer' && !Number.isInteger(value)) return 'PropertyValueTypeError';
  const size = typeof value === 'string' ? value.length : Number(value);
  return size < (attribute.min ?? 0) || size > (attribute.max ?? size) ? 'PropertyValueOutOfRange' : undefined;
};

const checkAttribute = (bmc: Bmc, name: string, value: unknown): void => {
  const attribute =
    biosAttributes[bmc.profile.bios].find((each) => each.name === name) ??
    refuse(400, 'PropertyUnknown', `The property ${name} is not in the list of valid properties for the resource.`);
  if (attribute.readOnly)
    refuse(400, 'PropertyNotWritable', `The property ${name} is a read only property and cannot be assigned a value.`);
  const problem = problemWith(attribute, value);
  if (problem) refuse(400, problem, `The value ${JSON.stringify(value)} for the property ${name} is not acceptable.`);
};

const patchSettings = ({ bmc, body, now }: Exchange): Answer => {
  onlyProperties(body, ['Attributes']);
  const wanted = asObject('Attributes', body.Attributes);
  refuseDuringPost(bmc, now);
  // As a BIOS with a setup password on it does.
  if (faultOf(bmc, 'bios-refused', now))
    refuse(400, 'PropertyNotUpdated', 'The BIOS settings are locked by a setup password and cannot be changed.');
  const { bios } = bmc.state;
  if (bmc.profile.biosOneWrite && Object.keys(bios.pending).length > 0)
    refuse(
      400,
      'IDRAC.2.8.SYS011',
      'Pending configuration values are already committed; another set operation is not possible.',
    );
  for (const [name, value] of Object.entries(wanted)) checkAttribute(bmc, name, value);
  const changed = Object.entries({ ...bios.pending, ...wanted }).filter(
    ([name, value]) => bios.resetPending || bios.attributes[name] !== value,
  );
  bios.pending = Object.fromEntries(changed) as typeof bios.pending;
  return done;
};

const resetBios = ({ bmc, now }: Exchange): Answer => {
  refuseDuringPost(bmc, now);
  bmc.state.bios.resetPending = true;
  bmc.state.bios.pending = {};
  return done;
};

/** What a boot of the host does to pending settings. */
export const bootBios = (bmc: Bmc, at: number): void => {
  const { bios } = bmc.state;
  if (!bios.resetPending && Object.keys(bios.pending).length === 0) return;
  if (faultOf(bmc, 'bios-not-applied', at)) return;
  bmc.state.bios = {
    attributes: { ...(bios.resetPending ? biosDefaults(bmc.profile.bios) : bios.attributes), ...bios.pending },
    pending: {},
    resetPending: false,
    appliedAt: at,
  };
};

export const biosRows: readonly Row[] = [
  { path: '/redfish/v1/Systems/:system/Bios', get: biosDoc },
  ...['Settings', 'Pending', 'SD'].map(
    (id): Row => ({
      path: `/redfish/v1/Systems/:system/Bios/${id}`,
      when: (profile) => profile.biosSettings === id,
      get: settingsDoc,
      patch: { subject: 'bios', effect: 'converge', act: patchSettings },
    }),
  ),
  {
    path: '/redfish/v1/Systems/:system/Bios/Actions/Bios.ResetBios',
    post: { subject: 'bios', effect: 'once', act: resetBios },
  },
];
