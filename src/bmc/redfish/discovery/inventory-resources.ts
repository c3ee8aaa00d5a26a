/** Lenient schemas for inspection and indicators. */
import { z } from 'zod';
import { Drive, Storage } from '../jobs/job-resources';
import { Chassis, link, maybe, optionalFlag, optionalLinks, optionalText, System, status } from './resources';

const number = maybe(z.number().nonnegative());

export const HostSystem = System.extend({
  SerialNumber: optionalText,
  SKU: optionalText,
  BiosVersion: optionalText,
  ProcessorSummary: maybe(z.looseObject({ Count: number, LogicalProcessorCount: number, Model: optionalText })),
  MemorySummary: maybe(z.looseObject({ TotalSystemMemoryGiB: number })),
  Processors: maybe(link),
  EthernetInterfaces: maybe(link),
  Storage: maybe(link),
  SimpleStorage: maybe(link),
});
export type HostSystem = z.output<typeof HostSystem>;

export const Processor = z.looseObject({
  ProcessorType: optionalText,
  ProcessorArchitecture: optionalText,
  InstructionSet: optionalText,
  Model: optionalText,
  MaxSpeedMHz: number,
  TotalCores: number,
  TotalThreads: number,
  Status: status,
});
export type Processor = z.output<typeof Processor>;

export const EthernetInterface = z.looseObject({
  Id: optionalText,
  MACAddress: optionalText,
  PermanentMACAddress: optionalText,
  SpeedMbps: number,
  LinkStatus: optionalText,
  InterfaceEnabled: optionalFlag,
  Status: status,
});
export type EthernetInterface = z.output<typeof EthernetInterface>;

export const HostStorage = Storage.extend({ Drives: optionalLinks });

export const HostDrive = Drive.extend({
  Model: optionalText,
  Manufacturer: optionalText,
  IndicatorLED: optionalText,
  LocationIndicatorActive: optionalFlag,
});
export type HostDrive = z.output<typeof HostDrive>;

export const SimpleStorage = z.looseObject({
  Devices: maybe(
    z.array(
      z.looseObject({
        Name: optionalText,
        Manufacturer: optionalText,
        Model: optionalText,
        CapacityBytes: number,
        Status: status,
      }),
    ),
  ),
});

export const HostChassis = Chassis.extend({ Id: optionalText });
