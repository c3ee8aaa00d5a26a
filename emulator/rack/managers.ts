/** The BMC as a resource: its own firmware, clock and reset, during which it is gone and after which nobody is logged in. */

import { collection, done, healthy, link, oneOf, onlyProperties, refuse, resource } from './answers';
import { chassisPath, managerPath, systemPath } from './bmc';
import { faultOf } from './faults';
import type { Answer, Bmc, Doc, Exchange, Row } from './types';
import { jobListLink } from './vendor-jobs';

/** The share of an outage in which connections are dropped; for the rest of it the answer is 503. */
const silentShare = 0.7;

/** Takes the BMC away for its reset time and ends every session. */
export const resetManager = (bmc: Bmc, at: number): void => {
  const { manager } = bmc.state;
  manager.downUntil = at + bmc.timing.bmcResetMs;
  manager.lastResetAt = at;
  if (faultOf(bmc, 'clock-lost', at)) manager.clockOffsetMs = -at;
  bmc.state.sessions = [];
  bmc.sessionUse.clear();
};

/** Whether the BMC is up; `silent` and `starting` are the two halves of an outage. */
export const managerIs = (bmc: Bmc, now: number): 'up' | 'silent' | 'starting' => {
  const { downUntil } = bmc.state.manager;
  if (downUntil === null || now >= downUntil) return 'up';
  return now < downUntil - bmc.timing.bmcResetMs * (1 - silentShare) ? 'silent' : 'starting';
};

const mediaLink = (bmc: Bmc, path: string): Doc =>
  bmc.profile.media === 'system' ? {} : { VirtualMedia: link(`${path}/VirtualMedia`) };

/** The time as this BMC spells it: local, whole seconds, with its offset. */
const clockOf = (ms: number, offset: string): string => {
  const [hours, minutes] = offset.slice(1).split(':').map(Number);
  const away = (hours! * 60 + minutes!) * 60_000 * (offset.startsWith('-') ? -1 : 1);
  return `${new Date(ms + away).toISOString().slice(0, 19)}${offset}`;
};

const managerDoc = ({ bmc, now }: Exchange): Doc => {
  const path = managerPath(bmc);
  const { profile } = bmc;
  const { manager, firmware } = bmc.state;
  return resource(path, 'Manager.v1_11_0.Manager', profile.managerId, 'Manager', {
    ManagerType: 'BMC',
    Model: profile.product,
    UUID: bmc.uuid.replace(/^./, 'f'),
    FirmwareVersion: firmware.bmc,
    PowerState: 'On',
    DateTime: clockOf(now + manager.clockOffsetMs, manager.localOffset),
    DateTimeLocalOffset: manager.localOffset,
    ...(profile.lastResetTime && manager.lastResetAt !== null
      ? { LastResetTime: new Date(manager.lastResetAt).toISOString() }
      : {}),
    Status: { ...healthy },
    EthernetInterfaces: link(`${path}/EthernetInterfaces`),
    ...mediaLink(bmc, path),
    GraphicalConsole: { ServiceEnabled: true, MaxConcurrentSessions: 4, ConnectTypesSupported: ['KVMIP'] },
    SerialConsole: { ServiceEnabled: true, MaxConcurrentSessions: 1, ConnectTypesSupported: ['SSH', 'IPMI'] },
    CommandShell: { ServiceEnabled: true, MaxConcurrentSessions: 4, ConnectTypesSupported: ['SSH'] },
    Links: {
      ManagerForServers: [link(systemPath(bmc))],
      ManagerForChassis: [link(chassisPath(bmc))],
      ...jobListLink(bmc),
    },
    Actions: {
      '#Manager.Reset': {
        target: `${path}/Actions/Manager.Reset`,
        'ResetType@Redfish.AllowableValues': profile.managerResetTypes,
      },
    },
  });
};

const patchManager = ({ bmc, body, now }: Exchange): Answer => {
  onlyProperties(body, ['DateTime', 'DateTimeLocalOffset']);
  const { manager } = bmc.state;
  if ('DateTimeLocalOffset' in body) {
    if (!/^[+-]\d\d:\d\d$/.test(String(body.DateTimeLocalOffset)))
      refuse(
        400,
        'PropertyValueFormatError',
        'The value for the property DateTimeLocalOffset is of a different format than it accepts.',
      );
    manager.localOffset = String(body.DateTimeLocalOffset);
  }
  if ('DateTime' in body) {
    const wanted = Date.parse(String(body.DateTime));
    if (Number.isNaN(wanted))
      refuse(
        400,
        'PropertyValueFormatError',
        'The value for the property DateTime is of a different format than it accepts.',
      );
    manager.clockOffsetMs = wanted - now;
  }
  return done;
};

const reset = ({ bmc, body, now }: Exchange): Answer => {
  if (body.ResetType !== undefined) oneOf('ResetType', body.ResetType, bmc.profile.managerResetTypes);
  resetManager(bmc, now);
  return done;
};

export const managerRows: readonly Row[] = [
  {
    path: '/redfish/v1/Managers',
    get: ({ bmc }) => collection('/redfish/v1/Managers', 'ManagerCollection', 'Managers', [bmc.profile.managerId]),
  },
  {
    path: '/redfish/v1/Managers/:manager',
    get: managerDoc,
    patch: { subject: 'clock', effect: 'converge', act: patchManager },
  },
  {
    path: '/redfish/v1/Managers/:manager/Actions/Manager.Reset',
    post: { subject: 'bmc', effect: 'once', act: reset },
  },
];
