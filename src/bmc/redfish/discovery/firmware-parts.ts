/** Firmware parts of a node and their versions. */
import { isTemperError } from '../../../model/errors';
import { FirmwareChassis, FirmwareSystem, NetworkAdapter } from '../jobs/job-resources';
import type { Client } from '../transport/client';
import { findManager, findSystem, membersOf } from './discovery';
import type { System } from './resources';

export type FirmwarePart = { readonly component: string; readonly version: string | null };

/** Some BMCs answer 400 until the host runs; others have no adapters. */
const unlessAbsent = (error: unknown): undefined => {
  if (!isTemperError(error, 'BmcRejected')) throw error;
};

const adapters = async (client: Client, system: System): Promise<FirmwarePart[]> => {
  const chassis = await client.find(system.Links?.Chassis?.[0]?.['@odata.id'], FirmwareChassis);
  const paths = await membersOf(client, chassis?.value.NetworkAdapters?.['@odata.id']);
  const found: FirmwarePart[] = [];
  for (const path of paths) {
    const adapter = (await client.find(path, NetworkAdapter))?.value;
    const name = adapter?.SerialNumber ?? adapter?.Id;
    if (name)
      found.push({ component: `nic:${name}`, version: adapter?.Controllers?.[0]?.FirmwarePackageVersion ?? null });
  }
  return found;
};

/** `bios`, `bmc` and one `nic:<serial or id>` per network adapter. */
export const readParts = async (client: Client): Promise<FirmwarePart[]> => {
  const at = await findSystem(client);
  const { value: system } = await at.look();
  const { value: manager } = await findManager(client, system);
  const bios = (await client.get(at.path, FirmwareSystem)).value.BiosVersion ?? null;
  const nics = (await adapters(client, system).catch(unlessAbsent)) ?? [];
  return [
    { component: 'bios', version: bios },
    { component: 'bmc', version: manager.FirmwareVersion ?? null },
    ...nics,
  ];
};
