/** Checks RAID configurations before any change to hardware. */
import { isDocument } from '../document';

const levelNames = ['JBOD', '0', '1', '2', '5', '6', '1+0', '5+0', '6+0'] as const;

type ValueCheck = (value: unknown) => string | undefined;
const isText: ValueCheck = (value) => (typeof value === 'string' && value !== '' ? undefined : 'must be a text');
const yesNo: ValueCheck = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false');
const oneOf =
  (...known: readonly unknown[]): ValueCheck =>
  (value) =>
    known.includes(value) ? undefined : `must be one of ${known.join(', ')}`;
const above0: ValueCheck = (value) =>
  Number.isSafeInteger(value) && Number(value) > 0 ? undefined : 'must be above 0';

// openstack/ironic:ironic/drivers/raid_config_schema.json
const diskKeys: Readonly<Record<string, { readonly required?: true; readonly fits: ValueCheck }>> = {
  raid_level: { required: true, fits: oneOf(...levelNames) },
  size_gb: {
    required: true,
    fits: (value) => (value === 'MAX' ? undefined : above0(value) && 'must be a whole number above 0, or MAX'),
  },
  volume_name: { fits: isText },
  is_root_volume: { fits: yesNo },
  share_physical_disks: { fits: yesNo },
  disk_type: { fits: oneOf('hdd', 'ssd') },
  interface_type: { fits: oneOf('sata', 'scsi', 'sas') },
  number_of_physical_disks: { fits: above0 },
  controller: { fits: isText },
  physical_disks: {
    fits: (value) => (Array.isArray(value) && value.length > 0 ? undefined : 'must be a list of disks'),
  },
};

const diskFault = (disk: unknown, index: number): string | undefined => {
  if (!isDocument(disk)) return `logical disk ${index} must be an object`;
  const unknown = Object.keys(disk).find((key) => !Object.hasOwn(diskKeys, key));
  if (unknown !== undefined)
    return `logical disk ${index} has an unexpected key ${unknown}; known are: ${Object.keys(diskKeys).join(', ')}`;
  for (const [key, row] of Object.entries(diskKeys)) {
    const value = disk[key];
    if (value === undefined && row.required) return `logical disk ${index} lacks ${key}`;
    const fault = value === undefined ? undefined : row.fits(value);
    if (fault) return `logical disk ${index}: ${key} ${fault}`;
  }
  return undefined;
};

export const raidFault = (value: unknown): string | undefined => {
  const disks = (value as { logical_disks?: unknown } | null)?.logical_disks;
  if (typeof value !== 'object' || value === null || !Array.isArray(disks)) return 'must hold logical_disks, a list';
  const roots = disks.filter((disk) => (disk as { is_root_volume?: unknown } | null)?.is_root_volume === true);
  if (roots.length > 1) return 'may hold only one root volume';
  return disks.map(diskFault).find((fault) => fault !== undefined);
};
