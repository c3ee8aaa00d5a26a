/** Current BIOS settings, with their registry rows. */
import { raise } from '../../../model/errors';
import type { ActOutcome, BiosSetting } from '../../../model/runs/runs';
import { tidyText } from '../../texts';
import { readRegistry } from '../discovery/bios-registry';
import { findSystem } from '../discovery/discovery';
import { type AttributeRow, Bios, type BiosValue } from '../discovery/resources';
import type { Client } from '../transport/client';

// No BIOS has more; a BMC that lists more is malicious.
const mostSettings = 5_000;
const longestValue = 1_000;

const orNull = <T>(value: T | undefined): T | null => value ?? null;

/** A password is never shown, whatever the BMC reports. */
const biosText = (value: BiosValue, row: AttributeRow | undefined): string | null =>
  value === null || row?.Type === 'Password' ? null : (tidyText(String(value), longestValue) ?? '');

const settingOf = (name: string, value: BiosValue, row: AttributeRow | undefined): BiosSetting => ({
  name,
  value: biosText(value, row),
  attribute_type: orNull(row?.Type),
  allowable_values: orNull(row?.Value?.flatMap(({ ValueName }) => tidyText(ValueName) ?? [])),
  lower_bound: orNull(row?.LowerBound),
  upper_bound: orNull(row?.UpperBound),
  min_length: orNull(row?.MinLength),
  max_length: orNull(row?.MaxLength),
  read_only: orNull(row?.ReadOnly),
  reset_required: orNull(row?.ResetRequired),
  unique: orNull(row?.IsSystemUniqueProperty),
});

/** Throws BmcUnsupported. */
export const readSettings = async (client: Client): Promise<BiosSetting[]> => {
  const { value: system } = await (await findSystem(client)).look();
  const bios = (await client.find(system.Bios?.['@odata.id'], Bios))?.value;
  if (!bios) return raise('BmcUnsupported', client.facts({ what: 'BIOS settings' }));
  const registry = await readRegistry(client, bios);
  return Object.entries(bios.Attributes)
    .filter(([name]) => tidyText(name) === name)
    .slice(0, mostSettings)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => settingOf(name, value, registry.get(name)));
};

/** `value` is short for waiting callers; `seen` has the rest. */
export const readBios = async (client: Client): Promise<ActOutcome> => {
  const bios = await readSettings(client);
  return {
    is: 'done',
    note: `${bios.length} settings`,
    seen: { bios },
    value: { bios: bios.map(({ name, value }) => ({ name, value })) },
  };
};
