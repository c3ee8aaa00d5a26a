/** The chassis: its place in the tree, its readings, its network adapter, and a second door to the power switch. */

import { collection, done, healthy, link, onlyProperties, refuse, resource } from './answers';
import { chassisPath, managerPath, systemPath } from './bmc';
import { indicatorDoc, patchIndicator } from './indicator';
import { reportedPower, resetEffect, resetSystem } from './power';
import { shows } from './profiles';
import type { Doc, Exchange, Row } from './types';

const chassisDoc = ({ bmc, now }: Exchange): Doc => {
  const path = chassisPath(bmc);
  const { profile } = bmc;
  return resource(path, 'Chassis.v1_15_0.Chassis', profile.chassisId, 'Chassis', {
    ChassisType: 'RackMount',
    Manufacturer: profile.manufacturer,
    Model: profile.model,
    SerialNumber: bmc.serial,
    PartNumber: `${profile.name.toUpperCase()}-01`,
    PowerState: reportedPower(bmc, now),
    ...indicatorDoc(bmc),
    Status: { ...healthy },
    Power: link(`${path}/Power`),
    Thermal: link(`${path}/Thermal`),
    NetworkAdapters: link(`${path}/NetworkAdapters`),
    Links: { ComputerSystems: [link(systemPath(bmc))], ManagedBy: [link(managerPath(bmc))] },
    Actions: {
      '#Chassis.Reset': {
        target: `${path}/Actions/Chassis.Reset`,
        'ResetType@Redfish.AllowableValues': profile.resetTypes,
      },
    },
  });
};

const powerDoc = ({ bmc }: Exchange): Doc => {
  const watts = bmc.state.power.shows === 'Off' ? 18 : 210;
  return resource(`${chassisPath(bmc)}/Power`, 'Power.v1_7_0.Power', 'Power', 'Power', {
    PowerControl: [{ MemberId: '0', Name: 'System Power Control', PowerConsumedWatts: watts, PowerCapacityWatts: 800 }],
    PowerSupplies: [0, 1].map((number) => ({
      MemberId: String(number),
      Name: `PSU ${number}`,
      PowerSupplyType: 'AC',
      PowerCapacityWatts: 800,
      LastPowerOutputWatts: watts / 2,
      LineInputVoltage: 230,
      SerialNumber: `${bmc.serial}P${number}`,
      Status: { State: 'Enabled', Health: 'OK' },
    })),
  });
};

const thermalDoc = ({ bmc }: Exchange): Doc => {
  const warm = bmc.state.power.shows === 'Off' ? 0 : 18;
  return resource(`${chassisPath(bmc)}/Thermal`, 'Thermal.v1_7_0.Thermal', 'Thermal', 'Thermal', {
    Temperatures: [
      { MemberId: '0', Name: 'Inlet Temp', PhysicalContext: 'Intake', ReadingCelsius: 22 },
      { MemberId: '1', Name: 'CPU1 Temp', PhysicalContext: 'CPU', ReadingCelsius: 24 + warm },
    ].map((sensor) => ({ ...sensor, UpperThresholdCritical: 95, Status: { State: 'Enabled', Health: 'OK' } })),
    Fans: [0, 1, 2, 3].map((number) => ({
      MemberId: String(number),
      Name: `Fan ${number}`,
      Reading: warm === 0 ? 0 : 5400,
      ReadingUnits: 'RPM',
      Status: { State: 'Enabled', Health: 'OK' },
    })),
  });
};

const adapterDoc = ({ bmc }: Exchange): Doc =>
  resource(
    `${chassisPath(bmc)}/NetworkAdapters/NIC.1`,
    'NetworkAdapter.v1_8_0.NetworkAdapter',
    'NIC.1',
    'Network Adapter',
    {
      Manufacturer: 'Emulated',
      Model: 'Dual Port 25 GbE',
      SerialNumber: `${bmc.serial}N1`,
      Status: { ...healthy },
      Controllers: [{ FirmwarePackageVersion: bmc.state.firmware.nic }],
    },
  );

const at = '/redfish/v1/Chassis/:chassis';

export const chassisRows: readonly Row[] = [
  {
    path: '/redfish/v1/Chassis',
    get: ({ bmc }) => collection('/redfish/v1/Chassis', 'ChassisCollection', 'Chassis', [bmc.profile.chassisId]),
  },
  {
    path: at,
    get: chassisDoc,
    patch: {
      subject: 'indicator',
      effect: 'converge',
      act: ({ bmc, body }) => {
        onlyProperties(body, ['IndicatorLED', 'LocationIndicatorActive']);
        patchIndicator(bmc, body);
        return done;
      },
    },
  },
  { path: `${at}/Actions/Chassis.Reset`, post: { subject: 'power', effect: resetEffect, act: resetSystem } },
  { path: `${at}/Power`, get: powerDoc },
  { path: `${at}/Thermal`, get: thermalDoc },
  {
    path: `${at}/NetworkAdapters`,
    get: ({ bmc }) => {
      if (bmc.state.power.shows !== 'On' && shows('adapters need a running host', bmc.profile))
        refuse(400, 'GeneralError', 'The network adapters are not known before the host runs.');
      return collection(`${chassisPath(bmc)}/NetworkAdapters`, 'NetworkAdapterCollection', 'Network Adapters', [
        'NIC.1',
      ]);
    },
  },
  { path: `${at}/NetworkAdapters/NIC.1`, get: adapterDoc },
];
