/** Plan of volumes on controllers and drives. Pure. */
import { ownValue } from '../../../model/own';
import type { ControllerSeen, DriveSeen, VolumeSeen } from '../discovery/raid-storage';
import { gib, type Level, type LogicalDisk, levelOf, levels, type PlannedVolume } from './raid-levels';

/** `free` in bytes. `used`: a volume is on it. */
type Room = Map<string, { free: number; used: boolean }>;

const roomOf = (controllers: readonly ControllerSeen[], keepVolumes: boolean): Room => {
  const room: Room = new Map();
  for (const { drives } of controllers)
    for (const { path, bytes } of drives) room.set(path, { free: bytes, used: false });
  if (!keepVolumes) return room;
  for (const { volumes } of controllers)
    for (const volume of volumes) occupy(room, volume.drives, volume.bytes / dataDrives(volume));
  return room;
};

const dataDrives = ({ raidType, drives }: VolumeSeen): number =>
  Math.max(1, ownValue(levels, levelOf(raidType) ?? '')?.data(drives.length) ?? 1);

const occupy = (room: Room, drives: readonly string[], each: number): void => {
  for (const path of drives) {
    const known = room.get(path);
    if (known) room.set(path, { free: Math.max(0, known.free - each), used: true });
  }
};

const same = (given: string, known: string | undefined): boolean => known?.toLowerCase() === given.toLowerCase();

const driveFits = (disk: LogicalDisk, drive: DriveSeen, room: Room): boolean => {
  const { free, used } = room.get(drive.path)!;
  if (free <= 0 || (used && !disk.share_physical_disks)) return false;
  if (disk.disk_type && !same(disk.disk_type, drive.media)) return false;
  if (disk.interface_type && !same(disk.interface_type, drive.protocol)) return false;
  return !disk.physical_disks || disk.physical_disks.some((name) => drive.names.includes(String(name)));
};

const counts = (level: Level, disk: LogicalDisk, there: number): number[] => {
  const asked = disk.physical_disks?.length ?? disk.number_of_physical_disks;
  const all = Array.from({ length: Math.max(0, there - level.least + 1) }, (_, more) => level.least + more).filter(
    (n) => (n - level.least) % level.step === 0 && n <= (level.most ?? n),
  );
  return asked === undefined ? all : all.filter((n) => n === asked);
};

/** The fewest drives that hold the disk. For MAX, `wide` takes as many as possible, otherwise the fewest of the largest. */
const choose = (
  disk: LogicalDisk,
  level: Level,
  drives: readonly DriveSeen[],
  room: Room,
  wide: boolean,
): DriveSeen[] | undefined => {
  const free = (drive: DriveSeen): number => room.get(drive.path)!.free;
  const able = drives.filter((drive) => driveFits(disk, drive, room)).sort((a, b) => free(a) - free(b));
  const possible = counts(level, disk, able.length);
  if (disk.size_gb === 'MAX') {
    const count = wide ? possible.at(-1) : possible[0];
    return count === undefined ? undefined : able.slice(-count);
  }
  for (const count of possible) {
    const each = (disk.size_gb * gib) / level.data(count);
    const large = able.filter((drive) => free(drive) >= each);
    if (large.length >= count) return large.slice(0, count);
  }
  return undefined;
};

const offers = (controller: ControllerSeen, disk: LogicalDisk, level: Level): boolean =>
  (controller.raidTypes?.includes(level.type) ?? true) &&
  (disk.controller === undefined || controller.names.includes(disk.controller));

type Placed = { readonly volume: PlannedVolume } | { readonly fault: string };

const place = (
  disk: LogicalDisk,
  index: number,
  controllers: readonly ControllerSeen[],
  room: Room,
  wide: boolean,
): Placed => {
  const level = ownValue(levels, disk.raid_level);
  if (!level)
    return {
      fault: `RAID level ${disk.raid_level} cannot be made through redfish; ${Object.keys(levels).join(', ')} can`,
    };
  if (disk.interface_type === 'scsi') return { fault: 'interface type scsi is not known to redfish; use sata or sas' };
  const able = controllers.filter((controller) => offers(controller, disk, level));
  if (able.length === 0)
    return { fault: `no controller offers ${level.type}; there are: ${controllers.map(({ id }) => id).join(', ')}` };
  for (const controller of able) {
    const drives = choose(disk, level, controller.drives, room, wide);
    if (drives) return { volume: plannedVolume(disk, index, controller, level, drives, room) };
  }
  return {
    fault: `no controller has the drives for it: ${level.type} of ${disk.size_gb} GiB on unused drives that fit its hints`,
  };
};

const plannedVolume = (
  disk: LogicalDisk,
  index: number,
  { id, volumesPath }: ControllerSeen,
  level: Level,
  drives: readonly DriveSeen[],
  room: Room,
): PlannedVolume => {
  const paths = drives.map(({ path }) => path);
  const smallest = Math.min(...paths.map((path) => room.get(path)!.free));
  const shares = paths.some((path) => room.get(path)!.used);
  const wanted = disk.size_gb === 'MAX' ? null : disk.size_gb * gib;
  const most = Math.floor((smallest * level.data(drives.length)) / gib) * gib;
  occupy(room, paths, wanted === null ? smallest : wanted / level.data(drives.length));
  return {
    index,
    controller: id,
    volumesPath,
    raidType: level.type,
    bytes: wanted ?? (shares ? most : null),
    name: disk.volume_name ?? null,
    root: disk.is_root_volume === true,
    drives: paths,
  };
};

/** Sizes come before MAX, and named drives before any. */
const constraintRank = ({ size_gb, physical_disks, number_of_physical_disks }: LogicalDisk): number =>
  (size_gb === 'MAX' ? 4 : 0) + (physical_disks ? 0 : 2) + (number_of_physical_disks === undefined ? 1 : 0);

/** Plans in the order of creation. */
export const planVolumes = (
  disks: readonly { readonly disk: LogicalDisk; readonly index: number }[],
  controllers: readonly ControllerSeen[],
  keepVolumes: boolean,
): { readonly volumes: readonly PlannedVolume[] } | { readonly fault: string } => {
  const room = roomOf(controllers, keepVolumes);
  const volumes: PlannedVolume[] = [];
  const queue = [...disks].sort((a, b) => constraintRank(a.disk) - constraintRank(b.disk) || a.index - b.index);
  for (const [place0, { disk, index }] of queue.entries()) {
    const placed = place(disk, index, controllers, room, place0 === queue.length - 1);
    if ('fault' in placed) return { fault: `logical disk ${index}: ${placed.fault}` };
    volumes.push(placed.volume);
  }
  return { volumes };
};
