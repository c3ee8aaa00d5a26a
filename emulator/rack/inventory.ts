/** What the host is made of: network interfaces, processors, memory. Nothing here can be changed. */

import { collection, healthy, notThere, resource } from './answers';
import { managerPath, systemPath } from './bmc';
import type { Bmc, Doc, Exchange, Row } from './types';

const nicIds = (bmc: Bmc): string[] => bmc.macs.map((_, number) => `NIC.1-${number + 1}`);
const processors = ['CPU.1', 'CPU.2'];
const dimms = Array.from({ length: 8 }, (_, number) => `DIMM.A${number + 1}`);

const nicDoc = (x: Exchange): Doc => {
  const { bmc } = x;
  const mac = bmc.macs[nicIds(bmc).indexOf(x.params.nic!)] ?? notThere(x.path);
  const path = `${systemPath(bmc)}/EthernetInterfaces/${x.params.nic}`;
  const up = bmc.state.power.shows === 'On';
  return resource(path, 'EthernetInterface.v1_8_0.EthernetInterface', x.params.nic!, 'Ethernet Interface', {
    MACAddress: mac,
    PermanentMACAddress: mac,
    SpeedMbps: 25_000,
    LinkStatus: up ? 'LinkUp' : 'LinkDown',
    InterfaceEnabled: true,
    Status: { State: 'Enabled', Health: 'OK' },
  });
};

const managerNicDoc = ({ bmc }: Exchange): Doc =>
  resource(
    `${managerPath(bmc)}/EthernetInterfaces/1`,
    'EthernetInterface.v1_8_0.EthernetInterface',
    '1',
    'Manager Ethernet Interface',
    {
      MACAddress: bmc.macs[0]!.replace(/:00:/, ':ff:'),
      SpeedMbps: 1000,
      InterfaceEnabled: true,
      Status: { State: 'Enabled', Health: 'OK' },
    },
  );

const processorDoc = (x: Exchange): Doc => {
  const id = processors.find((each) => each === x.params.processor) ?? notThere(x.path);
  return resource(`${systemPath(x.bmc)}/Processors/${id}`, 'Processor.v1_13_0.Processor', id, 'Processor', {
    Socket: id,
    ProcessorType: 'CPU',
    ProcessorArchitecture: 'x86',
    InstructionSet: 'x86-64',
    Manufacturer: 'Emulated',
    Model: 'Emulated CPU at 2.4 GHz',
    MaxSpeedMHz: 3600,
    TotalCores: 16,
    TotalThreads: 32,
    Status: { State: 'Enabled', Health: 'OK' },
  });
};

const memoryDoc = (x: Exchange): Doc => {
  const id = dimms.find((each) => each === x.params.dimm) ?? notThere(x.path);
  return resource(`${systemPath(x.bmc)}/Memory/${id}`, 'Memory.v1_12_0.Memory', id, 'Memory', {
    MemoryType: 'DRAM',
    MemoryDeviceType: 'DDR4',
    CapacityMiB: 32_768,
    OperatingSpeedMhz: 3200,
    SerialNumber: `${x.bmc.serial}M${dimms.indexOf(id)}`,
    Status: { ...healthy },
  });
};

const at = '/redfish/v1/Systems/:system';

export const inventoryRows: readonly Row[] = [
  {
    path: `${at}/EthernetInterfaces`,
    get: ({ bmc }) =>
      collection(
        `${systemPath(bmc)}/EthernetInterfaces`,
        'EthernetInterfaceCollection',
        'Ethernet Interfaces',
        nicIds(bmc),
      ),
  },
  { path: `${at}/EthernetInterfaces/:nic`, get: nicDoc },
  {
    path: `${at}/Processors`,
    get: ({ bmc }) => collection(`${systemPath(bmc)}/Processors`, 'ProcessorCollection', 'Processors', processors),
  },
  { path: `${at}/Processors/:processor`, get: processorDoc },
  {
    path: `${at}/Memory`,
    get: ({ bmc }) => collection(`${systemPath(bmc)}/Memory`, 'MemoryCollection', 'Memory', dimms),
  },
  { path: `${at}/Memory/:dimm`, get: memoryDoc },
  {
    path: '/redfish/v1/Managers/:manager/EthernetInterfaces',
    get: ({ bmc }) =>
      collection(`${managerPath(bmc)}/EthernetInterfaces`, 'EthernetInterfaceCollection', 'Ethernet Interfaces', ['1']),
  },
  { path: '/redfish/v1/Managers/:manager/EthernetInterfaces/1', get: managerNicDoc },
];
