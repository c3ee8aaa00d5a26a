/** What answers hold beyond the resource tables: for the API's description, against which tests hold every answer. */
import { z } from 'zod';
import { interfaceNames } from '../../model/lifecycle/step-types';
import { stateFields } from '../../model/resources/nodes';

const text = z.string();
const maybe = text.nullable();
const anything = z.unknown();
const words = z.record(text, text);

/** An address with what it is. */
export const link = z.strictObject({ href: text, rel: text, type: text.optional() });
const linkList = z.array(link);

const version = z.strictObject({ id: text, status: text, min_version: text, version: text, links: linkList });

/** GET / */
export const root = z.strictObject({
  name: text,
  description: text,
  default_version: version,
  versions: z.array(version),
});

/** GET /v1: beside these, one list of links for each resource of the version. */
export const discovery = z
  .object({ id: text, links: linkList, media_types: z.strictObject({ base: text, type: text }), version })
  .catchall(linkList);

/** GET states: what the version knows of them. */
export const states = z.strictObject(Object.fromEntries(stateFields.map(({ name }) => [name, anything.optional()])));

export const traits = z.strictObject({ traits: z.array(text) });

const verdict = z.strictObject({ result: z.boolean().nullable(), reason: maybe.optional() });

/** GET validate: a verdict for each interface. */
export const validation = z.strictObject(Object.fromEntries(interfaceNames.map((name) => [name, verdict.optional()])));

/** GET bios/{setting}: the setting below its name. */
export const biosSetting = z.record(text, z.looseObject({ name: text, value: maybe }));

/** GET inventory */
export const inventory = z.strictObject({ inventory: z.record(text, anything), plugin_data: anything });

export const bootDevice = z.strictObject({ boot_device: maybe, persistent: z.boolean().nullable() });
export const bootDevices = z.strictObject({ supported_boot_devices: z.array(text) });

/** GET management/indicators */
export const indicators = z.strictObject({
  indicators: z.array(
    z.strictObject({ name: text, component: text, readonly: z.boolean(), states: z.array(text), links: linkList }),
  ),
});
export const indicator = z.strictObject({ state: text });

/** GET vmedia */
export const media = z.array(z.looseObject({}));

/** Keys with what each is for. */
export const properties = words;

export const volume = z.strictObject({ links: linkList, connectors: linkList, targets: linkList });
export const shards = z.strictObject({ shards: z.array(z.strictObject({ name: text, count: z.int() })) });
export const vifs = z.strictObject({ vifs: z.array(z.strictObject({ id: text })) });
export const consoleState = z.strictObject({
  console_enabled: z.boolean(),
  console_info: z.strictObject({ type: text, url: text }).nullable(),
});

/** What a ramdisk is sent. */
export const lookup = z.strictObject({ node: z.looseObject({ uuid: z.guid() }), config: z.looseObject({}) });
// Empty where the machine is recorded as discovered: no node stands for it.
export const continued = z.union([lookup, z.strictObject({ uuid: z.guid() }), z.strictObject({})]);
