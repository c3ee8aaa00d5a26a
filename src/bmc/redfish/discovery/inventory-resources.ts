/** Resources that inspection and indicators read, as lenient as the others. */
import { z } from 'zod';
import { Drive, Storage } from '../jobs/job-resources';
import { Chassis, flag, link, links, maybe, System, status, text } from './resources';

const number = maybe(z.number().nonnegative());

export const HostSystem = System.extend({
  SerialNumber: text,
  SKU: text,
  BiosVersion: text,
  ProcessorSummary: maybe(z.looseObject({ Count: number, LogicalProcessorCount: number, Model: text })),
  MemorySummary: maybe(z.looseObject({ TotalSystemMemoryGiB: number })),
  Processors: maybe(link),
  EthernetInterfaces: maybe(link),
  Storage: maybe(link),
  SimpleStorage: maybe(link),
});
export type HostSystem = z.output<typeof HostSystem>;

export const Processor = z.looseObject({
  ProcessorType: text,
  ProcessorArchitecture: text,
  InstructionSet: text,
  Model: text,
  MaxSpeedMHz: number,
  TotalCores: number,
  TotalThreads: number,
  Status: status,
});
export type Processor = z.output<typeof Processor>;

export const EthernetInterface = z.looseObject({
  Id: text,
  MACAddress: text,
  PermanentMACAddress: text,
  SpeedMbps: number,
  LinkStatus: text,
  InterfaceEnabled: flag,
  Status: status,
});
export type EthernetInterface = z.output<typeof EthernetInterface>;

export const HostStorage = Storage.extend({ Drives: links });

/** A drive with its light. */
export const HostDrive = Drive.extend({
  Model: text,
  Manufacturer: text,
  IndicatorLED: text,
  LocationIndicatorActive: flag,
});
export type HostDrive = z.output<typeof HostDrive>;

export const SimpleStorage = z.looseObject({
  Devices: maybe(
    z.array(z.looseObject({ Name: text, Manufacturer: text, Model: text, CapacityBytes: number, Status: status })),
  ),
});

export const HostChassis = Chassis.extend({ Id: text });
