/** RAID storage of a BMC. */
import { raise } from '../../../model/errors';
import { Drive, Storage, StorageController, StorageSystem, Volume, VolumeCollection } from '../jobs/job-resources';
import type { Client } from '../transport/client';
import { findSystem, membersOf } from './discovery';

export type DriveSeen = {
  readonly path: string;
  /** Names that a configuration may use for it. */
  readonly names: readonly string[];
  readonly id: string;
  readonly bytes: number;
  readonly media: string | undefined;
  readonly protocol: string | undefined;
};

export type VolumeSeen = {
  readonly path: string;
  readonly name: string | undefined;
  readonly raidType: string | undefined;
  readonly bytes: number;
  readonly drives: readonly string[];
};

export type ControllerSeen = {
  readonly id: string;
  readonly names: readonly string[];
  /** Undefined if the BMC lists none. */
  readonly raidTypes: readonly string[] | undefined;
  readonly volumesPath: string;
  readonly applyTimes: readonly string[];
  readonly drives: readonly DriveSeen[];
  readonly volumes: readonly VolumeSeen[];
};

const texts = (...values: readonly (string | undefined)[]): string[] => values.filter((value) => value !== undefined);
const last = (path: string): string => path.replace(/\/$/, '').split('/').at(-1) ?? path;

/** Empty for an absent or broken drive. */
const driveAt = async (client: Client, path: string): Promise<DriveSeen[]> => {
  const drive = (await client.find(path, Drive))?.value;
  if (drive === undefined || drive.CapacityBytes === undefined) return [];
  if (drive.Status?.State === 'Absent' || drive.Status?.Health === 'Critical') return [];
  const id = drive.Id ?? last(path);
  const names = texts(id, path, drive.Name, drive.SerialNumber);
  return [{ path, names, id, bytes: drive.CapacityBytes, media: drive.MediaType, protocol: drive.Protocol }];
};

const volumeAt = async (client: Client, path: string): Promise<VolumeSeen[]> => {
  const volume = (await client.find(path, Volume))?.value;
  // A raw device is a drive, which cannot be deleted.
  if (volume === undefined || volume.VolumeType === 'RawDevice') return [];
  const drives = (volume.Links?.Drives ?? []).map((link) => link['@odata.id']);
  return [{ path, name: volume.Name, raidType: volume.RAIDType, bytes: volume.CapacityBytes ?? 0, drives }];
};

export const readVolumes = async (
  client: Client,
  path: string,
): Promise<{ volumes: VolumeSeen[]; applyTimes: readonly string[] }> => {
  const { value } = await client.get(path, VolumeCollection);
  const volumes: VolumeSeen[] = [];
  for (const member of value.Members) volumes.push(...(await volumeAt(client, member['@odata.id'])));
  return { volumes, applyTimes: value['@Redfish.OperationApplyTimeSupport']?.SupportedValues ?? [] };
};

/** RAID types from the new or the old property. An empty list means that the controller passes drives through. */
const controllerOf = async (
  client: Client,
  storage: Storage,
): Promise<{ names: string[]; raidTypes?: readonly string[] }> => {
  const [path] = await membersOf(client, storage.Controllers?.['@odata.id']);
  const found = storage.StorageControllers?.[0] ?? (await client.find(path, StorageController))?.value;
  const raidTypes = found?.SupportedRAIDTypes;
  return { names: texts(found?.Name), ...(raidTypes && { raidTypes }) };
};

const storageAt = async (client: Client, path: string): Promise<ControllerSeen[]> => {
  const { value: storage } = await client.get(path, Storage);
  const volumesPath = storage.Volumes?.['@odata.id'];
  const { names, raidTypes } = await controllerOf(client, storage);
  if (volumesPath === undefined || raidTypes?.length === 0) return [];
  const drives: DriveSeen[] = [];
  for (const link of storage.Drives ?? []) drives.push(...(await driveAt(client, link['@odata.id'])));
  const id = storage.Id ?? last(path);
  const known = { id, names: [...texts(id, path, storage.Name), ...names], raidTypes, volumesPath, drives };
  return [{ ...known, ...(await readVolumes(client, volumesPath)) }];
};

/** Throws BmcUnsupported. */
export const readStorage = async (client: Client): Promise<ControllerSeen[]> => {
  const system = await client.get((await findSystem(client)).path, StorageSystem);
  const found: ControllerSeen[] = [];
  for (const path of await membersOf(client, system.value.Storage?.['@odata.id']))
    found.push(...(await storageAt(client, path)));
  return found.length > 0 ? found : raise('BmcUnsupported', client.facts({ what: 'a RAID controller' }));
};
