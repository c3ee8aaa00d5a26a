/** Fields of a driver: its hosts, and the enabled and default implementation of each interface. */
import { type DriverName, driverRow } from '../lifecycle/drivers';
import { type InterfaceName, interfaceNames } from '../lifecycle/step-types';
import type { FieldRow, ResourceTable } from './fields';

/** Minor version from which drivers list their interfaces. */
export const interfacesSince = 30;

/** Interfaces of later minor versions. */
const later: Partial<Record<InterfaceName, number>> = { storage: 33, rescue: 38, bios: 40, firmware: 86 };

const interfaceFields = (name: InterfaceName): FieldRow[] => {
  const since = later[name] ?? interfacesSince;
  return [
    { name: `default_${name}_interface`, since, type: 'text', nullable: true },
    { name: `enabled_${name}_interfaces`, since, type: 'texts' },
  ];
};

export const driverTable: ResourceTable = {
  resource: 'driver',
  collection: 'drivers',
  fields: [
    { name: 'name', type: 'text', inList: true },
    { name: 'hosts', type: 'texts', inList: true },
    { name: 'type', since: interfacesSince, type: 'text', inList: true },
    ...interfaceNames.flatMap(interfaceFields),
    { name: 'properties', since: 14, type: 'links', column: null, inList: true },
    { name: 'links', type: 'links', column: null, always: true },
  ],
  filters: [],
};

/** An interface without implementation has no default. */
export const driverValues = (name: DriverName, hosts: readonly string[]): Record<string, unknown> => ({
  name,
  hosts,
  type: 'dynamic',
  ...Object.fromEntries(
    interfaceNames.flatMap((one) => {
      const enabled = driverRow(name).interfaces[one];
      return [
        [`default_${one}_interface`, enabled[0] ?? null],
        [`enabled_${one}_interfaces`, enabled],
      ];
    }),
  ),
});

export const driverProperties = (name: DriverName): Record<string, string> =>
  Object.fromEntries(
    Object.entries(driverRow(name).properties).map(([key, row]) => [
      key,
      `${row.says}${row.required ? ' Required.' : ''}`,
    ]),
  );

/** Equal for all drivers with RAID. */
const logicalDiskKeys = {
  raid_level: 'RAID level: JBOD, 0, 1, 2, 5, 6, 1+0, 5+0 or 6+0. Required.',
  size_gb: 'Size in GiB, or MAX for all that is left. Required.',
  volume_name: 'Name of the volume; chosen by the driver when absent.',
  is_root_volume: 'Whether the node boots from it; at most one disk may say so.',
  share_physical_disks: 'Whether its physical disks may serve other logical disks as well; default false.',
  disk_type: 'Kind of physical disk: hdd or ssd.',
  interface_type: 'Bus of the physical disks: sata, scsi or sas.',
  number_of_physical_disks: 'How many physical disks to use; the least for the level when absent.',
  controller: 'RAID controller, as the driver names it.',
  physical_disks: 'Physical disks, as the driver names them.',
} as const;

/** Undefined if the driver has no RAID by default. */
export const logicalDiskProperties = (name: DriverName): Record<string, string> | undefined =>
  driverRow(name).interfaces.raid[0] === 'no-raid' ? undefined : { ...logicalDiskKeys };
