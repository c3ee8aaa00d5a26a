/** Lenient schemas of Redfish resources: extra properties stay. */
import { z } from 'zod';

/** Absent, null and ill-typed values become undefined. */
export const maybe = <T extends z.ZodType>(schema: T) =>
  schema
    .nullish()
    .catch(undefined)
    .transform((value) => value ?? undefined);

export const link = z.looseObject({ '@odata.id': z.string() });
export const optionalText = maybe(z.string());
export const optionalFlag = maybe(z.boolean());
export const texts = maybe(z.array(z.string()));
export const status = maybe(z.looseObject({ State: optionalText, Health: optionalText }));
export const optionalLinks = maybe(z.array(link));

const action = maybe(
  z.looseObject({
    target: z.string(),
    'ResetType@Redfish.AllowableValues': texts,
    'ResetKeysType@Redfish.AllowableValues': texts,
    '@Redfish.ActionInfo': optionalText,
  }),
);

const settings = maybe(
  z.looseObject({
    SettingsObject: maybe(link),
    SupportedApplyTimes: texts,
  }),
);

export const ServiceRoot = z.looseObject({
  Vendor: optionalText,
  Product: optionalText,
  Systems: maybe(link),
  Managers: maybe(link),
  Registries: maybe(link),
  EventService: maybe(link),
});

export const Collection = z.looseObject({ Members: z.array(link) });

const boot = maybe(
  z.looseObject({
    BootSourceOverrideTarget: optionalText,
    BootSourceOverrideEnabled: optionalText,
    BootSourceOverrideMode: optionalText,
    HttpBootUri: optionalText,
    'BootSourceOverrideTarget@Redfish.AllowableValues': texts,
    'BootSourceOverrideEnabled@Redfish.AllowableValues': texts,
  }),
);

export const System = z.looseObject({
  '@odata.id': optionalText,
  UUID: optionalText,
  PowerState: optionalText,
  BootProgress: maybe(z.looseObject({ LastState: optionalText })),
  Manufacturer: optionalText,
  Model: optionalText,
  IndicatorLED: optionalText,
  LocationIndicatorActive: optionalFlag,
  Boot: boot,
  Status: maybe(z.looseObject({ Health: optionalText, HealthRollup: optionalText })),
  Bios: maybe(link),
  SecureBoot: maybe(link),
  VirtualMedia: maybe(link),
  Actions: maybe(z.looseObject({ '#ComputerSystem.Reset': action })),
  Links: maybe(z.looseObject({ ManagedBy: optionalLinks, Chassis: optionalLinks })),
  '@Redfish.Settings': settings,
});
export type System = z.output<typeof System>;

/** Less to parse for each look at power. */
export const PowerOfSystem = System.pick({ UUID: true, PowerState: true });

export const BootSettings = z.looseObject({ Boot: boot });

export const ActionInfo = z.looseObject({
  Parameters: maybe(z.array(z.looseObject({ Name: optionalText, AllowableValues: texts }))),
});

export const SecureBoot = z.looseObject({
  SecureBootEnable: optionalFlag,
  SecureBootCurrentBoot: optionalText,
  SecureBootMode: optionalText,
  SecureBootDatabases: maybe(link),
  Actions: maybe(z.looseObject({ '#SecureBoot.ResetKeys': action })),
});
export type SecureBoot = z.output<typeof SecureBoot>;

const Value = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type BiosValue = z.output<typeof Value>;
// One bad value must not hide the others.
const attributes = z.record(z.string(), Value.catch(null)).catch({}).default({});

export const Bios = z.looseObject({
  '@odata.id': optionalText,
  AttributeRegistry: optionalText,
  Attributes: attributes,
  '@Redfish.Settings': settings,
  Actions: maybe(z.looseObject({ '#Bios.ResetBios': action })),
});
export type Bios = z.output<typeof Bios>;

export const BiosSettings = z.looseObject({ Attributes: attributes });

export const RegistryFile = z.looseObject({
  Id: optionalText,
  Registry: optionalText,
  Location: maybe(z.array(z.looseObject({ Uri: optionalText, Language: optionalText }))),
});

export const AttributeRow = z.looseObject({
  AttributeName: z.string(),
  Type: optionalText,
  ReadOnly: optionalFlag,
  GrayOut: optionalFlag,
  ResetRequired: optionalFlag,
  IsSystemUniqueProperty: optionalFlag,
  Value: maybe(z.array(z.looseObject({ ValueName: optionalText }))),
  LowerBound: maybe(z.number()),
  UpperBound: maybe(z.number()),
  MinLength: maybe(z.number()),
  MaxLength: maybe(z.number()),
  DefaultValue: maybe(Value),
});
export type AttributeRow = z.output<typeof AttributeRow>;

export const AttributeRegistry = z.looseObject({
  RegistryEntries: maybe(z.looseObject({ Attributes: maybe(z.array(AttributeRow)) })),
});

export const VirtualMedia = z.looseObject({
  '@odata.id': optionalText,
  MediaTypes: texts,
  Inserted: optionalFlag,
  Image: optionalText,
  Actions: maybe(z.looseObject({ '#VirtualMedia.InsertMedia': action, '#VirtualMedia.EjectMedia': action })),
});
export type VirtualMedia = z.output<typeof VirtualMedia>;

export const Manager = z.looseObject({
  '@odata.id': optionalText,
  LastResetTime: optionalText,
  FirmwareVersion: optionalText,
  VirtualMedia: maybe(link),
  Status: maybe(z.looseObject({ State: optionalText })),
  Actions: maybe(z.looseObject({ '#Manager.Reset': action })),
});
export type Manager = z.output<typeof Manager>;

export const Chassis = z.looseObject({ IndicatorLED: optionalText, LocationIndicatorActive: optionalFlag });

export const Anything = z.looseObject({});
