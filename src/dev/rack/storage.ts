/** Storage: controllers, drives and volumes; volumes come and go as tasks, at once or at the next boot. */

import { asObject, collection, healthy, link, notThere, oneOf, refuse, resource } from './answers';
import { nextId, systemPath } from './bmc';
import { type Controller, controllersOf, type Drive, raidLevels } from './drives';
import { isBusyWith, startTask } from './tasks';
import type { Answer, Bmc, Doc, Exchange, Row, TaskWork, Volume } from './types';

const storagePath = (bmc: Bmc): string => `${systemPath(bmc)}/Storage`;
const pathOf = (bmc: Bmc, controller: Controller): string => `${storagePath(bmc)}/${controller.id}`;

const controllerOf = (x: Exchange): Controller =>
  controllersOf(x.bmc).find(({ id }) => id === x.params.storage) ?? notThere(x.path);
const volumesOf = (bmc: Bmc, controller: Controller): Volume[] => bmc.state.volumes[controller.id] ?? [];

const memberDoc = (bmc: Bmc, controller: Controller): Doc => ({
  Name: controller.name,
  Manufacturer: bmc.profile.manufacturer,
  Model: controller.name,
  SpeedGbps: 12,
  FirmwareVersion: '5.13.0',
  SupportedControllerProtocols: ['PCIe'],
  SupportedDeviceProtocols: controller.protocols,
  SupportedRAIDTypes: controller.raidTypes,
  Identifiers: [],
  Status: { ...healthy },
});

const storageDoc = (x: Exchange): Doc => {
  const { bmc } = x;
  const controller = controllerOf(x);
  const path = pathOf(bmc, controller);
  const embedded = bmc.profile.controllers === 'embedded';
  return resource(path, 'Storage.v1_10_0.Storage', controller.id, controller.name, {
    Status: { ...healthy },
    Drives: controller.drives.map(({ id }) => link(`${path}/Drives/${id}`)),
    'Drives@odata.count': controller.drives.length,
    Volumes: link(`${path}/Volumes`),
    ...(embedded
      ? {
          StorageControllers: [
            { ...link(`${path}#/StorageControllers/0`), MemberId: '0', ...memberDoc(bmc, controller) },
          ],
        }
      : { Controllers: link(`${path}/Controllers`) }),
  });
};

const driveDoc = (x: Exchange): Doc => {
  const controller = controllerOf(x);
  const drive: Drive = controller.drives.find(({ id }) => id === x.params.drive) ?? notThere(x.path);
  const path = pathOf(x.bmc, controller);
  const volumes = volumesOf(x.bmc, controller).filter(({ drives }) => drives.includes(drive.id));
  return resource(`${path}/Drives/${drive.id}`, 'Drive.v1_13_0.Drive', drive.id, drive.name, {
    CapacityBytes: drive.capacityBytes,
    BlockSizeBytes: 512,
    MediaType: 'SSD',
    Protocol: drive.protocol,
    Manufacturer: 'Emulated',
    Model: drive.model,
    SerialNumber: drive.serial,
    Revision: '1.0',
    IndicatorLED: 'Off',
    Identifiers: [{ DurableName: drive.serial, DurableNameFormat: 'NAA' }],
    Status: { ...healthy },
    Links: { Volumes: volumes.map(({ id }) => link(`${path}/Volumes/${id}`)) },
  });
};

const find = (x: Exchange, controller: Controller): Volume =>
  volumesOf(x.bmc, controller).find(({ id }) => id === x.params.volume) ?? notThere(x.path);

const volumeDoc = (x: Exchange): Doc => {
  const controller = controllerOf(x);
  const volume = find(x, controller);
  const path = `${pathOf(x.bmc, controller)}/Volumes/${volume.id}`;
  return resource(path, 'Volume.v1_6_0.Volume', volume.id, volume.name, {
    CapacityBytes: volume.capacityBytes,
    RAIDType: volume.raidType,
    VolumeType: raidLevels[volume.raidType]!.volumeType,
    BlockSizeBytes: 512,
    Encrypted: false,
    Identifiers: [],
    Status: { ...healthy },
    Links: { Drives: volume.drives.map((drive) => link(`${pathOf(x.bmc, controller)}/Drives/${drive}`)) },
    '@Redfish.OperationApplyTimeSupport': { SupportedValues: x.bmc.profile.applyTimes },
    Actions: {
      '#Volume.Initialize': {
        target: `${path}/Actions/Volume.Initialize`,
        'InitializeType@Redfish.AllowableValues': ['Fast', 'Slow'],
      },
    },
  });
};

const drivesWanted = (x: Exchange, controller: Controller): Drive[] => {
  const links = x.body.Links === undefined ? x.body.Drives : asObject('Links', x.body.Links).Drives;
  if (!Array.isArray(links) || links.length === 0)
    return refuse(
      400,
      'PropertyMissing',
      'The property Links/Drives is a required property and must be included in the request.',
    );
  const path = pathOf(x.bmc, controller);
  return links.map((each: unknown) => {
    const id = String((each as Doc | null)?.['@odata.id']);
    return (
      controller.drives.find((drive) => `${path}/Drives/${drive.id}` === id) ??
      refuse(400, 'ResourceNotFound', `The drive ${id} is not attached to this controller.`)
    );
  });
};

const raidTypeWanted = ({ body }: Exchange, controller: Controller): string => {
  const byVolumeType = Object.entries(raidLevels).find(([, level]) => level.volumeType === body.VolumeType)?.[0];
  return oneOf('RAIDType', body.RAIDType ?? byVolumeType, controller.raidTypes);
};

const capacityWanted = ({ body }: Exchange, raidType: string, drives: readonly Drive[]): number => {
  const most =
    raidLevels[raidType]!.share(drives.length) * Math.min(...drives.map(({ capacityBytes }) => capacityBytes));
  const wanted = body.CapacityBytes ?? most;
  if (typeof wanted !== 'number' || wanted <= 0 || wanted > most)
    return refuse(
      400,
      'PropertyValueOutOfRange',
      `The value for the property CapacityBytes has to be between 1 and ${most}.`,
    );
  return wanted;
};

const refuseBusy = (bmc: Bmc, controller: Controller): void => {
  if (isBusyWith(bmc, (work: TaskWork) => 'controller' in work && work.controller === controller.id))
    refuse(409, 'ResourceInUse', 'A job of this controller is under way; only one at a time is possible.');
};

const applyTimeOf = ({ bmc, body }: Exchange): 'Immediate' | 'OnReset' =>
  oneOf('@Redfish.OperationApplyTime', body['@Redfish.OperationApplyTime'] ?? 'Immediate', bmc.profile.applyTimes);

const createVolume = (x: Exchange): Answer => {
  const { bmc, now } = x;
  const controller = controllerOf(x);
  const raidType = raidTypeWanted(x, controller);
  const drives = drivesWanted(x, controller);
  const needed = raidLevels[raidType]!.atLeast;
  if (drives.length < needed) refuse(400, 'PropertyValueConflict', `${raidType} needs at least ${needed} drives.`);
  const used = new Set(volumesOf(bmc, controller).flatMap((volume) => volume.drives));
  const taken = drives.find(({ id }) => used.has(id));
  if (taken) refuse(409, 'ResourceInUse', `The drive ${taken.id} is part of a volume already.`);
  refuseBusy(bmc, controller);
  const applyTime = applyTimeOf(x);
  const id = `Volume.${nextId(bmc)}`;
  const volume: Volume = {
    id,
    name: typeof x.body.Name === 'string' ? x.body.Name : id,
    raidType,
    capacityBytes: capacityWanted(x, raidType, drives),
    drives: drives.map((drive) => drive.id),
  };
  const work: TaskWork = { is: 'create-volume', controller: controller.id, volume };
  return startTask(bmc, {
    name: 'Create volume',
    work,
    now,
    ms: bmc.timing.volumeTaskMs,
    needsBoot: applyTime === 'OnReset',
  });
};

const deleteVolume = (x: Exchange): Answer => {
  const { bmc, now } = x;
  const controller = controllerOf(x);
  const volume = find(x, controller);
  if (bmc.profile.deleteRefusesApplyTime && '@Redfish.OperationApplyTime' in x.body)
    refuse(
      500,
      'IDRAC.2.8.SYS029',
      'Unable to complete the operation because the parameter @Redfish.OperationApplyTime is not applicable (SYS029).',
    );
  refuseBusy(bmc, controller);
  const needsBoot = applyTimeOf(x) === 'OnReset';
  const work: TaskWork = { is: 'delete-volume', controller: controller.id, volume: volume.id };
  return startTask(bmc, { name: 'Delete volume', work, now, ms: bmc.timing.volumeTaskMs, needsBoot });
};

const initializeVolume = (x: Exchange): Answer => {
  const controller = controllerOf(x);
  const volume = find(x, controller);
  oneOf('InitializeType', x.body.InitializeType ?? 'Fast', ['Fast', 'Slow']);
  refuseBusy(x.bmc, controller);
  const work: TaskWork = { is: 'initialize-volume', controller: controller.id, volume: volume.id };
  return startTask(x.bmc, { name: 'Initialize volume', work, now: x.now, ms: x.bmc.timing.volumeTaskMs });
};

/** What the end of a volume task does to the BMC. */
export const endStorageWork = (bmc: Bmc, work: TaskWork): void => {
  if (work.is !== 'create-volume' && work.is !== 'delete-volume') return;
  const before = bmc.state.volumes[work.controller] ?? [];
  bmc.state.volumes[work.controller] =
    work.is === 'create-volume' ? [...before, work.volume] : before.filter(({ id }) => id !== work.volume);
};

const simpleDoc = (x: Exchange): Doc => {
  const controller = controllerOf(x);
  return resource(
    `${systemPath(x.bmc)}/SimpleStorage/${controller.id}`,
    'SimpleStorage.v1_3_0.SimpleStorage',
    controller.id,
    controller.name,
    {
      Status: { ...healthy },
      Devices: controller.drives.map(({ name, model, capacityBytes }) => ({
        Name: name,
        Model: model,
        CapacityBytes: capacityBytes,
        Status: { State: 'Enabled', Health: 'OK' },
      })),
    },
  );
};

const at = '/redfish/v1/Systems/:system/Storage';
const collected = (profile: { controllers: string }): boolean => profile.controllers === 'collection';

export const storageRows: readonly Row[] = [
  {
    path: at,
    get: ({ bmc }) =>
      collection(
        storagePath(bmc),
        'StorageCollection',
        'Storage',
        controllersOf(bmc).map(({ id }) => id),
      ),
  },
  { path: `${at}/:storage`, get: storageDoc },
  { path: `${at}/:storage/Drives/:drive`, get: driveDoc },
  {
    path: `${at}/:storage/Controllers`,
    when: collected,
    get: (x) =>
      collection(`${pathOf(x.bmc, controllerOf(x))}/Controllers`, 'StorageControllerCollection', 'Controllers', ['0']),
  },
  {
    path: `${at}/:storage/Controllers/0`,
    when: collected,
    get: (x) => {
      const controller = controllerOf(x);
      const path = `${pathOf(x.bmc, controller)}/Controllers/0`;
      return resource(
        path,
        'StorageController.v1_2_0.StorageController',
        '0',
        controller.name,
        memberDoc(x.bmc, controller),
      );
    },
  },
  {
    path: `${at}/:storage/Volumes`,
    get: (x) => {
      const controller = controllerOf(x);
      const ids = volumesOf(x.bmc, controller).map(({ id }) => id);
      return collection(`${pathOf(x.bmc, controller)}/Volumes`, 'VolumeCollection', 'Volumes', ids, {
        '@Redfish.OperationApplyTimeSupport': { SupportedValues: x.bmc.profile.applyTimes },
      });
    },
    post: { subject: 'storage', effect: 'once', act: createVolume },
  },
  {
    path: `${at}/:storage/Volumes/:volume`,
    get: volumeDoc,
    delete: { subject: 'storage', effect: 'once', act: deleteVolume },
  },
  {
    path: `${at}/:storage/Volumes/:volume/Actions/Volume.Initialize`,
    post: { subject: 'storage', effect: 'once', act: initializeVolume },
  },
  {
    path: '/redfish/v1/Systems/:system/SimpleStorage',
    get: ({ bmc }) =>
      collection(
        `${systemPath(bmc)}/SimpleStorage`,
        'SimpleStorageCollection',
        'Simple Storage',
        controllersOf(bmc).map(({ id }) => id),
      ),
  },
  { path: '/redfish/v1/Systems/:system/SimpleStorage/:storage', get: simpleDoc },
];
