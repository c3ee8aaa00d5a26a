/** Volumes: they come and go as tasks, at once or at the next boot, one job per controller. */

import { spellingsFor } from '../../src/bmc/quirks';
import { asObject, collection, healthy, link, notThere, oneOf, refuse, resource } from './answers';
import { nextId } from './bmc';
import { type Controller, type Drive, raidLevels } from './drives';
import { faultOf } from './faults';
import { makerOf } from './profiles';
import { controllerOf, pathOf, volumesOf } from './storage';
import { isBusyWith, startTask } from './tasks';
import type { Answer, Bmc, Doc, Exchange, Row, TaskWork, Volume } from './types';

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
    '@Redfish.OperationApplyTimeSupport': { SupportedValues: applyTimes(x) },
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

const applyTimes = ({ bmc, now }: Exchange): readonly ('Immediate' | 'OnReset')[] =>
  faultOf(bmc, 'raid-on-reset', now) ? ['OnReset'] : bmc.profile.applyTimes;

const applyTimeOf = (x: Exchange): 'Immediate' | 'OnReset' => {
  const known = applyTimes(x);
  return oneOf('@Redfish.OperationApplyTime', x.body['@Redfish.OperationApplyTime'] ?? known[0], known);
};

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
  for (const { property, value } of spellingsFor('delete volume', makerOf(bmc.profile)))
    if (value === undefined && property in x.body)
      refuse(
        500,
        'IDRAC.2.8.SYS029',
        `Unable to complete the operation because the parameter ${property} is not applicable (SYS029).`,
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

const at = '/redfish/v1/Systems/:system/Storage';

export const volumeRows: readonly Row[] = [
  {
    path: `${at}/:storage/Volumes`,
    get: (x) => {
      const controller = controllerOf(x);
      const ids = volumesOf(x.bmc, controller).map(({ id }) => id);
      return collection(`${pathOf(x.bmc, controller)}/Volumes`, 'VolumeCollection', 'Volumes', ids, {
        '@Redfish.OperationApplyTimeSupport': { SupportedValues: applyTimes(x) },
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
];
