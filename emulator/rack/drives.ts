/** The drives and controllers of an emulated node, and what each RAID level makes of drives. */

import type { Bmc } from './types';

export type Drive = {
  id: string;
  name: string;
  model: string;
  serial: string;
  protocol: string;
  capacityBytes: number;
};
export type Controller = {
  id: string;
  name: string;
  protocols: readonly string[];
  /** Empty: a controller that passes its drives through. */
  raidTypes: readonly string[];
  drives: readonly Drive[];
};

/** `share`: how many drives' worth of space n drives give. */
export const raidLevels: Readonly<
  Record<string, { volumeType: string; atLeast: number; share: (drives: number) => number }>
> = {
  RAID0: { volumeType: 'NonRedundant', atLeast: 1, share: (drives) => drives },
  RAID1: { volumeType: 'Mirrored', atLeast: 2, share: () => 1 },
  RAID5: { volumeType: 'StripedWithParity', atLeast: 3, share: (drives) => drives - 1 },
  RAID6: { volumeType: 'StripedWithParity', atLeast: 4, share: (drives) => drives - 2 },
  RAID10: { volumeType: 'SpannedMirrors', atLeast: 4, share: (drives) => drives / 2 },
};

const raidDrives = 4;
const directDrives = 2;

const drive = (bmc: Bmc, number: number, protocol: 'SAS' | 'NVMe'): Drive => ({
  id: `Disk.${number}`,
  name: `${protocol} SSD ${number}`,
  model: protocol === 'SAS' ? 'ESAS960' : 'ENVME1920',
  serial: `${bmc.serial}${protocol[0]}${number}`,
  protocol,
  capacityBytes: protocol === 'SAS' ? 960_197_124_096 : 1_920_383_410_176,
});

/** One RAID controller and one pass-through controller, the same for every BMC but for their names. */
export const controllersOf = (bmc: Bmc): Controller[] => [
  {
    id: bmc.profile.storageId,
    name: 'RAID Controller',
    protocols: ['SAS', 'SATA'],
    raidTypes: Object.keys(raidLevels),
    drives: Array.from({ length: raidDrives }, (_, number) => drive(bmc, number, 'SAS')),
  },
  {
    id: 'Direct1',
    name: 'PCIe Direct',
    protocols: ['NVMe'],
    raidTypes: [],
    drives: Array.from({ length: directDrives }, (_, number) => drive(bmc, number, 'NVMe')),
  },
];
