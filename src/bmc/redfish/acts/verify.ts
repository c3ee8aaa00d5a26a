/** Looks of verify and power sync. */

import { isTemperError, messageOf } from '../../../model/errors';
import { ownValue } from '../../../model/own';
import type { ActOutcome, RunObserved } from '../../../model/runs/runs';
import { tidyText } from '../../texts';
import { findSystem, lookAtPowerOf, serviceRoot } from '../discovery/discovery';
import { SecureBoot, type System } from '../discovery/resources';
import type { Client } from '../transport/client';
import { readSettings } from './bios-read';
import { readVersions } from './firmware-read';
import { powerStateOf } from './power';

const modes: Readonly<Record<string, RunObserved['boot_mode']>> = { UEFI: 'uefi', Legacy: 'bios' };

export const bootModeOf = (system: System): RunObserved['boot_mode'] =>
  ownValue(modes, system.Boot?.BootSourceOverrideMode ?? '') ?? null;

export const healthOf = (system: System): RunObserved['health'] => {
  const said = system.Status?.HealthRollup ?? system.Status?.Health;
  return said === 'OK' || said === 'Warning' || said === 'Critical' ? said : null;
};

/** The value in force now, not at the next boot. */
export const secureBootOf = (secureBoot: SecureBoot | undefined): boolean | null => {
  if (secureBoot?.SecureBootCurrentBoot !== undefined) return secureBoot.SecureBootCurrentBoot === 'Enabled';
  return secureBoot?.SecureBootEnable ?? null;
};

export const vendorOf = async (client: Client, system: System): Promise<string | undefined> =>
  tidyText((await serviceRoot(client)).Vendor ?? system.Manufacturer);

/** A BMC that fails only at secure boot is still usable. */
const ignoreRefusal = (error: unknown): undefined => {
  if (!isTemperError(error, 'BmcServerError') && !isTemperError(error, 'BmcRejected')) throw error;
};

/** A failure here does not fail verify. */
const bestEffort = async <T>(client: Client, what: string, read: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await read();
  } catch (error) {
    client.context.signal.throwIfAborted();
    const why = messageOf(error);
    client.context.log.info('verify goes on without a part', { node_uuid: client.node.uuid, what, why });
    return undefined;
  }
};

/** Only runs read these. */
const inDepth = async (client: Client): Promise<Pick<RunObserved, 'bios' | 'firmware'>> => {
  if (client.context.kind === undefined) return {};
  const bios = await bestEffort(client, 'BIOS settings', () => readSettings(client));
  const firmware = await bestEffort(client, 'firmware', () => readVersions(client));
  return { ...(bios && { bios }), ...(firmware && { firmware }) };
};

/** `only: 'power'` takes one request if driver_info names the system. */
export const verify = async (client: Client, { only }: Readonly<Record<string, unknown>> = {}): Promise<ActOutcome> => {
  if (only === 'power') return { is: 'done', seen: { power_state: powerStateOf(await lookAtPowerOf(client)) } };
  const { value: system } = await (await findSystem(client)).look();
  const secureBoot = await client.find(system.SecureBoot?.['@odata.id'], SecureBoot).catch(ignoreRefusal);
  const vendor = await vendorOf(client, system);
  return {
    is: 'done',
    seen: {
      power_state: powerStateOf(system),
      ...(system.BootProgress?.LastState && { boot_progress: system.BootProgress.LastState }),
      boot_mode: bootModeOf(system),
      secure_boot: secureBootOf(secureBoot?.value),
      ...(vendor === undefined ? {} : { vendor }),
      health: healthOf(system),
      ...(await inDepth(client)),
    },
  };
};
