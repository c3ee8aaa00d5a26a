/** Registries: what the BIOS attributes mean, and which values they take. */

import { collection, notThere, resource } from './answers';
import { biosRegistryName } from './bios';
import { type BiosAttribute, biosAttributes, biosType } from './bios-attributes';
import type { Doc, Exchange, Row } from './types';

const registries = '/redfish/v1/Registries';

const attributeDoc = (attribute: BiosAttribute): Doc => ({
  AttributeName: attribute.name,
  DisplayName: attribute.name.replaceAll('_', ' '),
  Type: biosType(attribute),
  DefaultValue: attribute.default,
  ReadOnly: attribute.readOnly ?? false,
  Immutable: false,
  ResetRequired: true,
  IsSystemUniqueProperty: false,
  ...(attribute.values
    ? { Value: attribute.values.map((value) => ({ ValueName: value, ValueDisplayName: value })) }
    : {}),
  ...(biosType(attribute) === 'Integer' ? { LowerBound: attribute.min, UpperBound: attribute.max } : {}),
  ...(biosType(attribute) === 'String' ? { MinLength: 0, MaxLength: attribute.max } : {}),
});

const fileDoc = ({ bmc }: Exchange): Doc => {
  const name = biosRegistryName(bmc);
  const path = `${registries}/${name}`;
  return resource(path, 'MessageRegistryFile.v1_1_3.MessageRegistryFile', name, 'BIOS Attribute Registry File', {
    Registry: name,
    Languages: ['en'],
    'Languages@odata.count': 1,
    Location: [{ Language: 'en', Uri: `${path}/registry` }],
    'Location@odata.count': 1,
  });
};

const registryDoc = ({ bmc }: Exchange): Doc => {
  const name = biosRegistryName(bmc);
  return resource(
    `${registries}/${name}/registry`,
    'AttributeRegistry.v1_3_6.AttributeRegistry',
    name,
    'BIOS Attribute Registry',
    {
      Language: 'en',
      OwningEntity: bmc.profile.vendor,
      RegistryVersion: '1.0.0',
      SupportedSystems: [{ ProductName: bmc.profile.model, SystemId: bmc.profile.systemId }],
      RegistryEntries: { Attributes: biosAttributes[bmc.profile.bios].map(attributeDoc) },
    },
  );
};

/** Any other name below Registries is not there, so the parameter has to be this BMC's own. */
const own = (answer: (x: Exchange) => Doc) => (x: Exchange) =>
  x.params.biosRegistry === biosRegistryName(x.bmc) ? answer(x) : notThere(x.path);

export const registryRows: readonly Row[] = [
  {
    path: registries,
    get: ({ bmc }) =>
      collection(registries, 'MessageRegistryFileCollection', 'Registry File Collection', [biosRegistryName(bmc)]),
  },
  { path: `${registries}/:biosRegistry`, get: own(fileDoc) },
  { path: `${registries}/:biosRegistry/registry`, get: own(registryDoc) },
];
