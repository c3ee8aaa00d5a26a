/** Machines of a system's rack as the Go clients are given them, and what is said of a walk. */
import { bmcOf } from '../e2e/support/nodes';
import type { System } from '../e2e/support/system';
import type { Machine, Walked } from '../support/go';

/** A BMC of the rack, to be enrolled under a name. */
export const machineOf = async (system: System, bmc: number, name: string): Promise<Machine> => {
  const { address, systemId, username, password, macs } = await bmcOf(system, `bmc-${bmc}`);
  const driver_info = {
    redfish_address: address,
    redfish_system_id: systemId,
    redfish_username: username,
    redfish_password: password,
  };
  return { name, driver: 'redfish', driver_info, mac: macs[0]!, resource_class: `class-${bmc}` };
};

/** One line for the log of a run: how many requests, and how long they took. */
export const tell = (what: string, { calls, ms, steps }: Walked): void => {
  process.stderr.write(`${what}: ${calls} requests, ${steps.length} kinds of step, ${(ms / 1_000).toFixed(1)} s\n`);
};
