/** The computer system: one document about the host, its power and boot, and the way to everything below it. */

import { collection, done, healthy, link, onlyProperties, resource } from './answers';
import { chassisPath, managerPath, systemPath } from './bmc';
import { bootDoc, patchBoot } from './boot';
import { indicatorDoc, patchIndicator } from './indicator';
import { inPost, reportedPower, resetEffect, resetSystem } from './power';
import { shows } from './profiles';
import type { Answer, Bmc, Doc, Exchange, Row, Subject } from './types';

const resetAction = ({ profile }: Bmc, path: string): Doc => ({
  target: `${path}/Actions/ComputerSystem.Reset`,
  ...(profile.actionInfo
    ? { '@Redfish.ActionInfo': `${path}/ResetActionInfo` }
    : { 'ResetType@Redfish.AllowableValues': profile.resetTypes }),
});

const bootProgress = (bmc: Bmc, now: number): Doc => {
  if (!bmc.profile.bootProgress) return {};
  const { power } = bmc.state;
  const running =
    power.shows === 'On' ? (inPost(bmc, now) ? 'SystemHardwareInitializationComplete' : 'OSRunning') : 'None';
  return { BootProgress: { LastState: running } };
};

const mediaLink = (bmc: Bmc, path: string): Doc =>
  bmc.profile.media === 'manager' ? {} : { VirtualMedia: link(`${path}/VirtualMedia`) };

const systemDoc = ({ bmc, now }: Exchange): Doc => {
  const path = systemPath(bmc);
  const { profile, state } = bmc;
  return resource(path, 'ComputerSystem.v1_16_0.ComputerSystem', profile.systemId, 'System', {
    SystemType: 'Physical',
    Manufacturer: profile.manufacturer,
    Model: profile.model,
    // The mainboard's, where the number on the case is the SKU.
    SerialNumber: shows('serial is SKU', profile) ? `CN${bmc.serial}` : bmc.serial,
    SKU: bmc.serial,
    PartNumber: `${profile.name.toUpperCase()}-01`,
    UUID: bmc.uuid,
    HostName: '',
    AssetTag: state.indicator.assetTag,
    BiosVersion: state.firmware.bios,
    PowerState: reportedPower(bmc, now),
    Boot: bootDoc(bmc),
    ...bootProgress(bmc, now),
    ...indicatorDoc(bmc),
    Status: { ...healthy },
    ProcessorSummary: {
      Count: 2,
      CoreCount: 32,
      LogicalProcessorCount: 64,
      Model: 'Emulated CPU at 2.4 GHz',
      Status: { ...healthy },
    },
    MemorySummary: { TotalSystemMemoryGiB: 256, Status: { ...healthy } },
    Bios: link(`${path}/Bios`),
    ...(profile.secureBoot ? { SecureBoot: link(`${path}/SecureBoot`) } : {}),
    Storage: link(`${path}/Storage`),
    SimpleStorage: link(`${path}/SimpleStorage`),
    EthernetInterfaces: link(`${path}/EthernetInterfaces`),
    Processors: link(`${path}/Processors`),
    Memory: link(`${path}/Memory`),
    ...mediaLink(bmc, path),
    Links: { ManagedBy: [link(managerPath(bmc))], Chassis: [link(chassisPath(bmc))] },
    Actions: { '#ComputerSystem.Reset': resetAction(bmc, path) },
  });
};

const patchSystem = ({ bmc, body, now }: Exchange): Answer => {
  onlyProperties(body, ['Boot', 'IndicatorLED', 'LocationIndicatorActive', 'AssetTag']);
  patchIndicator(bmc, body);
  if ('AssetTag' in body) bmc.state.indicator.assetTag = String(body.AssetTag);
  if ('Boot' in body) patchBoot(bmc, body.Boot, now);
  return done;
};

const patchSubject = ({ body }: Exchange): Subject => ('Boot' in body ? 'boot' : 'indicator');

export const systemRows: readonly Row[] = [
  {
    path: '/redfish/v1/Systems',
    get: ({ bmc }) => collection('/redfish/v1/Systems', 'ComputerSystemCollection', 'Systems', [bmc.profile.systemId]),
  },
  {
    path: '/redfish/v1/Systems/:system',
    get: systemDoc,
    patch: { subject: patchSubject, effect: 'converge', act: patchSystem },
  },
  {
    path: '/redfish/v1/Systems/:system/Actions/ComputerSystem.Reset',
    post: { subject: 'power', effect: resetEffect, act: resetSystem },
  },
  {
    path: '/redfish/v1/Systems/:system/ResetActionInfo',
    when: (profile) => profile.actionInfo,
    get: ({ bmc }) =>
      resource(
        `${systemPath(bmc)}/ResetActionInfo`,
        'ActionInfo.v1_1_2.ActionInfo',
        'ResetActionInfo',
        'Reset Action Info',
        {
          Parameters: [
            { Name: 'ResetType', Required: true, DataType: 'String', AllowableValues: bmc.profile.resetTypes },
          ],
        },
      ),
  },
];
