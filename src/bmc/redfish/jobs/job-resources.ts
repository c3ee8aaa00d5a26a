/** Lenient schemas for long work: tasks, jobs, storage and updates. */
import { z } from 'zod';
import { link, maybe, optionalLinks, optionalText, status, texts } from '../discovery/resources';

const number = maybe(z.number());

export const JobRoot = z.looseObject({
  Systems: maybe(link),
  UpdateService: maybe(link),
  Tasks: maybe(link),
  JobService: maybe(link),
});

export const TaskService = z.looseObject({ Tasks: maybe(link) });
export const JobService = z.looseObject({ Jobs: maybe(link) });

const message = z.looseObject({
  MessageId: optionalText,
  Message: optionalText,
  Severity: optionalText,
  MessageSeverity: optionalText,
});

export const Task = z.looseObject({
  '@odata.id': optionalText,
  '@odata.type': optionalText,
  Id: optionalText,
  TaskState: optionalText,
  TaskStatus: optionalText,
  TaskMonitor: optionalText,
  PercentComplete: number,
  Messages: maybe(z.array(message)),
});
export type Task = z.output<typeof Task>;

/** A vendor's job or one of the standard's JobService. */
export const VendorJob = z.looseObject({
  JobState: optionalText,
  JobStatus: optionalText,
  Message: optionalText,
  Messages: maybe(z.array(message)),
});
export type VendorJob = z.output<typeof VendorJob>;

/** Unparsed: quirks.ts has the paths of vendors' jobs. */
export const ManagerDocument = z.looseObject({});

export const StorageSystem = z.looseObject({ Storage: maybe(link) });

const member = z.looseObject({ Name: optionalText, SupportedRAIDTypes: texts });
export const StorageController = member;
export const Storage = z.looseObject({
  Id: optionalText,
  Name: optionalText,
  Drives: optionalLinks,
  Volumes: maybe(link),
  Controllers: maybe(link),
  StorageControllers: maybe(z.array(member)),
});

const applyTimes = maybe(z.looseObject({ SupportedValues: texts }));
export type Storage = z.output<typeof Storage>;

export const VolumeCollection = z.looseObject({
  Members: z.array(link),
  '@Redfish.OperationApplyTimeSupport': applyTimes,
});

export const Volume = z.looseObject({
  Id: optionalText,
  Name: optionalText,
  RAIDType: optionalText,
  VolumeType: optionalText,
  CapacityBytes: number,
  Status: status,
  Links: maybe(z.looseObject({ Drives: optionalLinks })),
});

export const Drive = z.looseObject({
  Id: optionalText,
  Name: optionalText,
  SerialNumber: optionalText,
  CapacityBytes: number,
  MediaType: optionalText,
  Protocol: optionalText,
  Status: status,
});

const simpleUpdate = maybe(
  z.looseObject({
    target: z.string(),
    'TransferProtocol@Redfish.AllowableValues': texts,
    '@Redfish.ActionInfo': optionalText,
  }),
);
export const UpdateService = z.looseObject({
  Actions: maybe(z.looseObject({ '#UpdateService.SimpleUpdate': simpleUpdate })),
});

export const FirmwareSystem = z.looseObject({ BiosVersion: optionalText, PowerState: optionalText });
export const FirmwareChassis = z.looseObject({ NetworkAdapters: maybe(link) });
export const NetworkAdapter = z.looseObject({
  Id: optionalText,
  SerialNumber: optionalText,
  Controllers: maybe(z.array(z.looseObject({ FirmwarePackageVersion: optionalText }))),
});

export const ManagerClock = z.looseObject({ DateTime: optionalText, DateTimeLocalOffset: optionalText });
export type ManagerClock = z.output<typeof ManagerClock>;
