/** Out-of-band inspection: inventory, and properties for schedulers. */
import { raise, type TemperError } from '../../../model/errors';
import { factsOf, missingFacts } from '../../../model/inspection/inspection';
import type { ActOutcome, RunObserved } from '../../../model/runs/runs';
import { findChecked } from '../discovery/discovery';
import { type InventoryFound, readInventory } from '../discovery/inventory';
import { HostSystem } from '../discovery/inventory-resources';
import type { Client } from '../transport/client';
import { powerStateOf } from './power';
import { bootModeOf, healthOf, vendorOf } from './verify';

type Properties = Readonly<Record<string, unknown>>;

/** Adds the boot mode to `a:1,b:2`; undefined if the operator set one, or the value is no text. */
const withBootMode = (capabilities: unknown, mode: string | null): string | undefined => {
  if (!mode || (capabilities !== undefined && capabilities !== null && typeof capabilities !== 'string'))
    return undefined;
  const given = (capabilities ?? '').split(',').filter((each) => each.trim() !== '');
  const names = given.map((each) => each.split(':')[0]!.trim());
  return names.includes('boot_mode') ? undefined : [...given, `boot_mode:${mode}`].join(',');
};

/** After a read error, an empty list does not mean that the node has no disks. */
const diskless = ({ inventory, troubles }: InventoryFound): Properties =>
  inventory.disks.length === 0 && troubles.local_gb.length === 0 ? { local_gb: 0 } : {};

const troublesWith = ({ troubles }: InventoryFound, name: string): readonly TemperError[] =>
  Object.entries(troubles).find(([property]) => property === name)?.[1] ?? [];

// Looks for about half a minute. A part that fails for longer than a BMC's start is broken.
const looks = 6;

/**
 * Throws if an essential property is neither found nor recorded. The error is the BMC's if a later look may find all, else
 * StepRejected.
 */
const requireEssential = (client: Client, properties: Properties, found: InventoryFound): void => {
  const missing = missingFacts({ properties: { ...client.node.properties, ...properties } });
  if (missing.length === 0) return;
  const passing = missing.map((name) => troublesWith(found, name).find((trouble) => trouble.retry));
  if (client.context.attempt < looks && passing[0] && passing.every((trouble) => trouble !== undefined))
    throw passing[0];
  const [trouble] = missing.flatMap((name) => troublesWith(found, name));
  const why = trouble ? ` (${trouble.message})` : '';
  raise(
    'StepRejected',
    client.facts({
      step: 'inspect',
      reason: `the BMC does not report ${missing.join(', ')}${why}; set it in the node's properties, or inspect by the ramdisk`,
    }),
  );
};

const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`;

const noteOf = ({ inventory: { disks, interfaces }, troubles }: InventoryFound): string => {
  const skipped = Object.values(troubles).flat().length;
  const unread = skipped === 0 ? '' : `; not readable: ${counted(skipped, 'part')}`;
  return `${counted(disks.length, 'disk')}, ${counted(interfaces.length, 'interface')}${unread}`;
};

export const inspect = async (client: Client): Promise<ActOutcome> => {
  const system = (await client.get((await findChecked(client)).path, HostSystem)).value;
  const found = await readInventory(client, system);
  const { properties = {}, macs = [] } = factsOf(found.inventory);
  const reported: Properties = { ...diskless(found), ...properties };
  requireEssential(client, reported, found);
  const boot_mode = bootModeOf(system) ?? null;
  const capabilities = withBootMode(client.node.properties.capabilities, boot_mode);
  const vendor = await vendorOf(client, system);
  const seen: RunObserved = {
    power_state: powerStateOf(system),
    boot_mode,
    health: healthOf(system),
    ...(vendor === undefined ? {} : { vendor }),
    properties: { ...reported, ...(capabilities === undefined ? {} : { capabilities }) },
    macs,
    inventory: found.inventory,
  };
  return { is: 'done', note: noteOf(found), seen };
};
