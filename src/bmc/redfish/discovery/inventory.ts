/** Inventory of a node, in the ramdisk's format. */

import { ownValue } from '../../../model/own';
import { hasQuirk } from '../../quirks';
import { tidyText } from '../../texts';
import { bootModeOf } from '../acts/verify';
import type { Client } from '../transport/client';
import { lastOf } from '../transport/texts';
import {
  EthernetInterface,
  HostDrive,
  HostStorage,
  type HostSystem,
  Processor,
  SimpleStorage,
} from './inventory-resources';
import { createParts, type FoundPart, type Parts } from './parts';

/** Kernel names of instruction sets. */
const architectures: Readonly<Record<string, string>> = {
  'x86-64': 'x86_64',
  x86: 'i686',
  'IA-64': 'ia64',
  'ARM-A64': 'aarch64',
  'ARM-A32': 'arm',
  MIPS64: 'mips64',
  MIPS32: 'mips',
  PowerISA: 'ppc64le',
  'RISC-V': 'riscv64',
};
// A server with a BMC has a 64-bit CPU of the family.
const families: Readonly<Record<string, string>> = { x86: 'x86_64', ARM: 'aarch64', 'IA-64': 'ia64', Power: 'ppc64le' };

const absent = (part: { readonly Status?: { readonly State?: string } }): boolean => part.Status?.State === 'Absent';

const architectureOf = ({ InstructionSet, ProcessorArchitecture }: Processor): string | undefined =>
  ownValue(architectures, InstructionSet ?? '') ?? ownValue(families, ProcessorArchitecture ?? '');

const sum = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined && value > 0) as number[];
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
};

/** `count` is threads, or sockets if nothing else is reported. */
const cpuOf = (system: HostSystem, all: readonly Processor[]) => {
  const cpus = all.filter((one) => !absent(one) && (one.ProcessorType ?? 'CPU') === 'CPU');
  const { ProcessorSummary: summary } = system;
  const [first] = cpus;
  const count = sum(cpus.map((one) => one.TotalThreads)) ?? summary?.LogicalProcessorCount ?? summary?.Count;
  return {
    architecture: cpus.map(architectureOf).find((name) => name !== undefined) ?? null,
    count: count === undefined || count === 0 ? null : Math.floor(count),
    model_name: tidyText(first?.Model ?? summary?.Model) ?? null,
    frequency: first?.MaxSpeedMHz === undefined ? null : String(first.MaxSpeedMHz),
    flags: [],
  };
};

const gib = 1024 ** 3;

/** Some BMCs report 0 until the host has been on. */
const memoryOf = ({ MemorySummary }: HostSystem) => {
  const size = MemorySummary?.TotalSystemMemoryGiB || undefined;
  return {
    physical_mb: size === undefined ? null : Math.round(size * 1024),
    total: size === undefined ? null : Math.round(size * gib),
  };
};

export type DiskSeen = Readonly<Record<string, unknown>> & { readonly name: string; readonly size: number };

const diskOf = (name: string, drive: HostDrive): DiskSeen[] =>
  absent(drive) || !Number.isSafeInteger(drive.CapacityBytes) || drive.CapacityBytes === 0
    ? []
    : [
        {
          name: tidyText(drive.Name ?? name) ?? name,
          size: drive.CapacityBytes!,
          model: tidyText(drive.Model) ?? null,
          vendor: tidyText(drive.Manufacturer) ?? null,
          serial: tidyText(drive.SerialNumber) ?? null,
          rotational: drive.MediaType === undefined ? null : drive.MediaType === 'HDD',
          protocol: tidyText(drive.Protocol) ?? null,
        },
      ];

export const readDrives = async (parts: Parts, system: HostSystem) => {
  const found: { readonly controller: string; readonly at: FoundPart<HostDrive> }[] = [];
  for (const { path, value } of await parts.members(system.Storage?.['@odata.id'], HostStorage)) {
    const drives = (value.Drives ?? []).map((drive) => drive['@odata.id']);
    for (const at of await parts.each(drives, HostDrive)) found.push({ controller: value.Id ?? lastOf(path), at });
  }
  return found;
};

/** Reads SimpleStorage, the older resource, only without drives. */
const readDisks = async (parts: Parts, system: HostSystem): Promise<DiskSeen[]> => {
  const drives = (await readDrives(parts, system)).flatMap(({ at }) => diskOf(lastOf(at.path), at.value));
  if (drives.length > 0) return drives;
  const simple = await parts.members(system.SimpleStorage?.['@odata.id'], SimpleStorage);
  return simple.flatMap(({ path, value }) =>
    (value.Devices ?? []).flatMap((device) => diskOf(device.Name ?? lastOf(path), device as HostDrive)),
  );
};

const macForm = /^[0-9a-f]{2}([:-]?[0-9a-f]{2}){5}$/;
const noMacs: readonly string[] = ['00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff'];

/** BMCs may report empty texts, zeros and names instead. */
const macOf = (text: string | undefined): string | undefined => {
  const lower = (text ?? '').trim().toLowerCase();
  if (!macForm.test(lower)) return undefined;
  const mac = lower.replace(/[:-]/g, '').match(/../g)!.join(':');
  return noMacs.includes(mac) ? undefined : mac;
};

const interfaceOf = (path: string, nic: EthernetInterface) => {
  const mac_address = macOf(nic.MACAddress) ?? macOf(nic.PermanentMACAddress);
  // No port can use a disabled interface.
  const off = (nic.Status?.State ?? 'Enabled') !== 'Enabled' || nic.InterfaceEnabled === false;
  if (mac_address === undefined || off) return [];
  return [
    {
      name: tidyText(nic.Id ?? lastOf(path)) ?? lastOf(path),
      mac_address,
      speed_mbps: nic.SpeedMbps ?? null,
      has_carrier: nic.LinkStatus === undefined ? null : nic.LinkStatus === 'LinkUp',
    },
  ];
};

const readInterfaces = async (parts: Parts, system: HostSystem) => {
  const nics = await parts.members(system.EthernetInterfaces?.['@odata.id'], EthernetInterface);
  const found = nics.flatMap(({ path, value }) => interfaceOf(path, value));
  // An address with two names is one interface.
  return [...new Map(found.map((each) => [each.mac_address, each])).values()];
};

const systemVendorOf = (system: HostSystem) => {
  const bySku = hasQuirk('serial is SKU', { names: [system.Manufacturer], model: system.Model });
  return {
    product_name: tidyText(system.Model) ?? null,
    serial_number: tidyText(bySku ? (system.SKU ?? system.SerialNumber) : system.SerialNumber) ?? null,
    manufacturer: tidyText(system.Manufacturer) ?? null,
    system_uuid: tidyText(system.UUID) ?? null,
    firmware: { version: tidyText(system.BiosVersion) ?? null },
  };
};

/** Values without a report are null. */
const assemble = (client: Client, system: HostSystem, processors: readonly Processor[]) => ({
  cpu: cpuOf(system, processors),
  memory: memoryOf(system),
  bmc_address: client.connection.settings.address.host,
  system_vendor: systemVendorOf(system),
  boot: { current_boot_mode: bootModeOf(system) ?? null, pxe_interface: null },
});

/** `troubles`: failed reads by property. */
export const readInventory = async (client: Client, system: HostSystem) => {
  const [forCpus, forDisks, forInterfaces] = [createParts(client), createParts(client), createParts(client)] as const;
  const processors = await forCpus.members(system.Processors?.['@odata.id'], Processor);
  const disks = await readDisks(forDisks, system);
  const interfaces = await readInterfaces(forInterfaces, system);
  return {
    inventory: {
      ...assemble(
        client,
        system,
        processors.map(({ value }) => value),
      ),
      disks,
      interfaces,
    },
    troubles: { cpu_arch: forCpus.troubles, local_gb: forDisks.troubles, interfaces: forInterfaces.troubles },
  };
};
export type InventoryFound = Awaited<ReturnType<typeof readInventory>>;
