/** BIOS attribute registry, and the check of a caller's values. */

import { raise } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import { textOf } from '../../../model/texts';
import type { Client } from '../transport/client';
import { lastOf } from '../transport/texts';
import { membersOf, serviceRoot } from './discovery';
import { AttributeRegistry, type AttributeRow, type Bios, type BiosValue, RegistryFile } from './resources';

export type Registry = ReadonlyMap<string, AttributeRow>;

const none: Registry = new Map();

/** Members have the registry's name, possibly with a version or language. */
const findFile = async (client: Client, name: string): Promise<RegistryFileAt | undefined> => {
  const members = await membersOf(client, (await serviceRoot(client)).Registries?.['@odata.id']);
  const likely = members.filter(
    (path) => lastOf(path) === name || name.startsWith(lastOf(path)) || lastOf(path).startsWith(name),
  );
  const [path] = likely.sort((a, b) => Number(lastOf(b) === name) - Number(lastOf(a) === name));
  const file = await client.find(path, RegistryFile);
  return file && { locations: file.value.Location ?? [] };
};
type RegistryFileAt = { readonly locations: readonly { readonly Uri?: string; readonly Language?: string }[] };

/** Empty if the BMC publishes none, as many do not. */
export const readRegistry = async (client: Client, bios: Bios): Promise<Registry> => {
  if (bios.AttributeRegistry === undefined) return none;
  const file = await findFile(client, bios.AttributeRegistry);
  const uri = (file?.locations.find(({ Language }) => Language?.startsWith('en')) ?? file?.locations[0])?.Uri;
  const rows = (await client.find(uri, AttributeRegistry, { large: true }))?.value.RegistryEntries?.Attributes ?? [];
  return new Map(rows.map((row) => [row.AttributeName, row]));
};

type BiosValueGiven = string | number | boolean;

const words: Readonly<Record<string, boolean>> = { true: true, false: false };

const inBounds = (size: number, low: number | undefined, high: number | undefined): boolean =>
  size >= (low ?? -Infinity) && size <= (high ?? Infinity);

/** The value in the BMC's spelling, or the reason of the refusal. */
const readers: Readonly<
  Record<string, (given: BiosValueGiven, row: AttributeRow) => { value: BiosValueGiven } | { fault: string }>
> = {
  Enumeration: (given, row) => {
    const names = (row.Value ?? []).flatMap(({ ValueName }) => ValueName ?? []);
    return names.length === 0 || names.includes(textOf(given))
      ? { value: textOf(given) }
      : { fault: `must be one of ${names.join(', ')}` };
  },
  Integer: (given, row) => {
    const value = typeof given === 'string' && given.trim() !== '' ? Number(given) : given;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return { fault: 'must be a whole number' };
    return inBounds(value, row.LowerBound, row.UpperBound)
      ? { value }
      : { fault: `must be between ${row.LowerBound ?? 'any'} and ${row.UpperBound ?? 'any'}` };
  },
  Boolean: (given) => {
    const value = typeof given === 'boolean' ? given : ownValue(words, textOf(given).toLowerCase());
    return value === undefined ? { fault: 'must be true or false' } : { value };
  },
  String: (given, row) =>
    inBounds(textOf(given).length, row.MinLength, row.MaxLength)
      ? { value: textOf(given) }
      : { fault: `must have ${row.MinLength ?? 0} to ${row.MaxLength ?? 'any number of'} characters` },
};

const typeNames: Readonly<Record<string, string>> = { number: 'Integer', boolean: 'Boolean' };

/** Without a registry, the type comes from the current value. */
const guessed = (name: string, now: BiosValue | undefined): AttributeRow =>
  ({ AttributeName: name, Type: typeNames[typeof now] ?? 'String' }) as AttributeRow;

/** Throws InvalidStepArgs with setting and reason, before anything is sent. */
export const checkSettings = (
  settings: readonly { readonly name: string; readonly value: BiosValueGiven }[],
  { bios, registry }: { bios: Bios; registry: Registry },
): Record<string, BiosValueGiven> => {
  const refuse = (name: string, reason: string) =>
    raise('InvalidStepArgs', { step: 'bios.apply_configuration', reason: `setting ${name} ${reason}` });
  const checked = settings.map(({ name, value }): [string, BiosValueGiven] => {
    const known = registry.get(name);
    if (!known && !Object.hasOwn(bios.Attributes, name)) refuse(name, 'is not known to this BIOS');
    const row = known ?? guessed(name, bios.Attributes[name]);
    if (row.ReadOnly) refuse(name, 'is read-only');
    const result = (ownValue(readers, row.Type ?? 'String') ?? readers.String!)(value, row);
    return 'fault' in result ? refuse(name, result.fault) : [name, result.value];
  });
  return Object.fromEntries(checked);
};

/** Defaults after a reset; passwords have none. */
export const defaultsOf = (registry: Registry): Record<string, BiosValue> =>
  Object.fromEntries(
    [...registry.values()]
      .filter((row) => row.DefaultValue !== undefined && !row.ReadOnly && row.Type !== 'Password')
      .map((row) => [row.AttributeName, row.DefaultValue as BiosValue]),
  );
