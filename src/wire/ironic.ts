/** Response schemas beyond the resource tables, for the OpenAPI description. Tests check every response against them. */
import { z } from 'zod';
import type { Document } from '../model/document';
import { interfaceNames } from '../model/lifecycle/step-types';
import { stateFields } from '../model/resources/nodes';
import { list, maybe, text, typed } from './parts';

const anything = z.unknown();
const words = z.record(text, text);

export const link = z.strictObject({ href: text, rel: text, type: text.optional() });
const linkList = list(link);

const version = z.strictObject({ id: text, status: text, min_version: text, version: text, links: linkList });

/** GET / */
export const root = z.strictObject({
  name: text,
  description: text,
  default_version: version,
  versions: list(version),
});

/** GET /v1; also one list of links per resource of the version. */
export const discovery = typed<Document>(
  z
    .object({ id: text, links: linkList, media_types: z.strictObject({ base: text, type: text }), version })
    .catchall(linkList),
);

/** GET states: the version's fields. */
export const states = z.strictObject(Object.fromEntries(stateFields.map(({ name }) => [name, anything.optional()])));

export const traits = z.strictObject({ traits: list(text) });

const verdict = z.strictObject({ result: z.boolean().nullable(), reason: maybe.optional() });

/** GET validate: a result per interface. */
export const validation = z.strictObject(Object.fromEntries(interfaceNames.map((name) => [name, verdict.optional()])));

/** GET bios/{setting}: the setting under its name. */
export const biosSetting = typed<Document>(z.record(text, z.looseObject({ name: text, value: maybe })));

export const inventory = z.strictObject({ inventory: z.record(text, anything), plugin_data: anything });

export const bootDevice = z.strictObject({ boot_device: maybe, persistent: z.boolean().nullable() });
export const bootDevices = z.strictObject({ supported_boot_devices: list(text) });

export const indicators = z.strictObject({
  indicators: list(
    z.strictObject({ name: text, component: text, readonly: z.boolean(), states: list(text), links: linkList }),
  ),
});
export const indicator = z.strictObject({ state: text });

export const media = list(z.looseObject({}));

/** Keys with their descriptions. */
export const properties = words;

export const volume = z.strictObject({ links: linkList, connectors: linkList, targets: linkList });
export const shards = z.strictObject({ shards: list(z.strictObject({ name: text, count: z.int() })) });
export const vifs = z.strictObject({ vifs: list(z.strictObject({ id: text })) });
export const consoleState = z.strictObject({
  console_enabled: z.boolean(),
  console_info: z.strictObject({ type: text, url: text }).nullable(),
});

/** The lookup response. */
const lookedUp = typed<Document>(z.looseObject({ uuid: z.guid() }));
export const lookup = z.strictObject({ node: lookedUp, config: z.looseObject({}) });
// Empty if the machine is recorded as discovered, without a node.
export const continued = z.union([lookup, z.strictObject({ uuid: z.guid() }), z.strictObject({})]);
