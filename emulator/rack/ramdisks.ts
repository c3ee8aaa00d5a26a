/** Boots emulated ramdisks on the rack's hosts: on those that boot from the network or from one of the ramdisk's images. */
import { type Agents, type AgentTiming, createAgents, type Machine } from '../agent';
import { bootArguments, isServed } from './boot-image';
import { type Hosts, watchHosts } from './hosts';
import { type HostPower, powerFromHost } from './power';
import type { Bmc, Recorder } from './types';

export type RamdiskOptions = {
  /** Of Temper's API, without /v1. */
  readonly apiUrl: string;
  /** URLs of discs that hold the ramdisk, beside those of a boot service, which are read; any disc when none is named. */
  readonly images?: readonly string[];
  readonly tls?: boolean;
  /** Of the ramdisks' own API; 0, the default, takes a free one. */
  readonly port?: number;
  readonly timing?: Partial<AgentTiming>;
};

export type Ramdisks = { readonly agents: Agents; readonly hosts: Hosts; close(): Promise<void> };

const networkTargets: readonly string[] = ['Pxe', 'UefiHttp'];

const machineOf = (bmc: Bmc, mode: string): Machine => ({
  macs: bmc.macs,
  bootMode: mode === 'Legacy' ? 'bios' : 'uefi',
});

/** Starts with no ramdisk: those of an earlier rack have lost their tokens, and a machine is booted again anyway. */
export const startRamdisks = async (
  bmcs: readonly Bmc[],
  record: Recorder,
  { images = [], ...options }: RamdiskOptions & { readonly host?: string },
): Promise<Ramdisks> => {
  const boots = (target: string, image: string | null): boolean =>
    networkTargets.includes(target) ||
    (image !== null && (images.length === 0 || images.includes(image) || isServed(image)));
  const onPower = (machine: Machine, what: HostPower): void => {
    const bmc = bmcs.find(({ macs }) => macs[0] === machine.macs[0]);
    if (bmc) powerFromHost(bmc, what, record);
  };
  const gateOf = (mac: string) => bmcs.find(({ macs }) => macs.includes(mac))?.gate;
  const agents = await createAgents({ ...options, onPower, gateOf });
  const reading = new Map<number, AbortController>();
  /** Boots a host from an image that it reads itself; it stays without a ramdisk where it cannot. */
  const bootFrom = async (bmc: Bmc, image: string, mode: string): Promise<void> => {
    const power = new AbortController();
    reading.set(bmc.index, power);
    const found = await bootArguments(image, power.signal);
    if (found && !power.signal.aborted) agents.boot({ ...machineOf(bmc, mode), boot: found });
  };
  const hosts = watchHosts((bmc, event) => {
    agents.powerLost(bmc.macs[0]!);
    reading.get(bmc.index)?.abort();
    if (event.is !== 'booted' || !boots(event.target, event.image)) return;
    if (event.image === null || !isServed(event.image)) agents.boot(machineOf(bmc, event.mode));
    else void bootFrom(bmc, event.image, event.mode);
  });
  for (const bmc of bmcs) hosts.look(bmc);
  return {
    agents,
    hosts,
    close: async () => {
      hosts.close();
      for (const power of reading.values()) power.abort();
      await agents.close();
    },
  };
};
