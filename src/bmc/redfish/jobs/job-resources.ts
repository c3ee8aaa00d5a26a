/** Resources that long work reads: tasks, storage, volumes and the update service, as lenient as the others. */
import { z } from 'zod';
import { link, links, maybe, status, text, texts } from '../discovery/resources';

const number = maybe(z.number());

export const JobRoot = z.looseObject({
  Systems: maybe(link),
  UpdateService: maybe(link),
  Tasks: maybe(link),
  JobService: maybe(link),
});

export const TaskService = z.looseObject({ Tasks: maybe(link) });
export const JobService = z.looseObject({ Jobs: maybe(link) });

const message = z.looseObject({ MessageId: text, Message: text, Severity: text, MessageSeverity: text });

export const Task = z.looseObject({
  '@odata.id': text,
  '@odata.type': text,
  Id: text,
  TaskState: text,
  TaskStatus: text,
  TaskMonitor: text,
  PercentComplete: number,
  Messages: maybe(z.array(message)),
});
export type Task = z.output<typeof Task>;

/** A job of a vendor or of the standard's JobService: the two spell the same things. */
export const VendorJob = z.looseObject({
  JobState: text,
  JobStatus: text,
  Message: text,
  Messages: maybe(z.array(message)),
});
export type VendorJob = z.output<typeof VendorJob>;

/** As it comes: where a vendor's jobs are is said by its row in quirks.ts. */
export const ManagerDocument = z.looseObject({});

export const StorageSystem = z.looseObject({ Storage: maybe(link) });

const member = z.looseObject({ Name: text, SupportedRAIDTypes: texts });
export const StorageController = member;
export const Storage = z.looseObject({
  Id: text,
  Name: text,
  Drives: links,
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
  Id: text,
  Name: text,
  RAIDType: text,
  VolumeType: text,
  CapacityBytes: number,
  Status: status,
  Links: maybe(z.looseObject({ Drives: links })),
});

export const Drive = z.looseObject({
  Id: text,
  Name: text,
  SerialNumber: text,
  CapacityBytes: number,
  MediaType: text,
  Protocol: text,
  Status: status,
});

const simpleUpdate = maybe(
  z.looseObject({
    target: z.string(),
    'TransferProtocol@Redfish.AllowableValues': texts,
    '@Redfish.ActionInfo': text,
  }),
);
export const UpdateService = z.looseObject({
  Actions: maybe(z.looseObject({ '#UpdateService.SimpleUpdate': simpleUpdate })),
});

export const FirmwareSystem = z.looseObject({ BiosVersion: text, PowerState: text });
export const FirmwareChassis = z.looseObject({ NetworkAdapters: maybe(link) });
export const NetworkAdapter = z.looseObject({
  Id: text,
  SerialNumber: text,
  Controllers: maybe(z.array(z.looseObject({ FirmwarePackageVersion: text }))),
});

export const ManagerClock = z.looseObject({ DateTime: text, DateTimeLocalOffset: text });
export type ManagerClock = z.output<typeof ManagerClock>;
