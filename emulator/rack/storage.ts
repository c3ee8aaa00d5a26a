/** Storage: controllers and drives, in the new spelling and the old. */

import { collection, healthy, link, notThere, resource } from './answers';
import { systemPath } from './bmc';
import { type Controller, controllersOf, type Drive } from './drives';
import type { Bmc, Doc, Exchange, Row, Volume } from './types';

const storagePath = (bmc: Bmc): string => `${systemPath(bmc)}/Storage`;
export const pathOf = (bmc: Bmc, controller: Controller): string => `${storagePath(bmc)}/${controller.id}`;

export const controllerOf = (x: Exchange): Controller =>
  controllersOf(x.bmc).find(({ id }) => id === x.params.storage) ?? notThere(x.path);
export const volumesOf = (bmc: Bmc, controller: Controller): Volume[] => bmc.state.volumes[controller.id] ?? [];

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
