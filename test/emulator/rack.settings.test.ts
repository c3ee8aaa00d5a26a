/** BIOS settings, secure boot, virtual media, volumes and firmware of the emulated BMCs. */

import type { Rack } from '../../emulator/rack';
import { type Client, clientOf, type Reply, testRack, until } from './rack-client';

let rack: Rack;
let dell: Client;
let hpe: Client;
let lenovo: Client;

beforeEach(async () => {
  rack = await testRack({ bmcs: 3, profiles: ['idrac9', 'ilo6', 'xcc-new'] });
  [dell, hpe, lenovo] = rack.bmcs.map((bmc) => clientOf(bmc)) as [Client, Client, Client];
});
afterEach(() => rack.close());

const boot = async (client: Client): Promise<void> => {
  await client.reset('On');
  await client.powerReaches('On');
};
const finished = async (client: Client, accepted: Reply): Promise<Reply> => {
  expect(accepted.status).toBe(202);
  await until(async () => (await client.get(accepted.headers.location!)).status !== 202, 'the task to end');
  return client.get(accepted.headers.location!);
};

test('Dell lists only changed BIOS settings as pending, refuses a second write, and applies them at the next boot', async () => {
  const bios = (await dell.get(`${dell.system}/Bios`)).body;
  const settings = bios['@Redfish.Settings'].SettingsObject['@odata.id'];
  const wanted = { Attributes: { ProcVirtualization: 'Disabled', LogicalProc: 'Enabled' } };
  expect((await dell.patch(settings, wanted)).status).toBe(204);
  expect((await dell.get(settings)).body.Attributes).toEqual({ ProcVirtualization: 'Disabled' });
  expect((await dell.patch(settings, { Attributes: { MemTest: 'Enabled' } })).body.error.code).toContain('SYS011');
  expect((await dell.get(`${dell.system}/Bios`)).body.Attributes.ProcVirtualization).toBe('Enabled');
  await boot(dell);
  expect((await dell.get(`${dell.system}/Bios`)).body.Attributes.ProcVirtualization).toBe('Disabled');
  expect((await dell.get(settings)).body.Attributes).toEqual({});
});

test('Lenovo lists the full set as pending', async () => {
  const settings = `${lenovo.system}/Bios/Pending`;
  await lenovo.patch(settings, { Attributes: { Processors_HyperThreading: 'Disable' } });
  const pending = (await lenovo.get(settings)).body.Attributes;
  const current = (await lenovo.get(`${lenovo.system}/Bios`)).body.Attributes;
  expect(pending).toEqual({ ...current, Processors_HyperThreading: 'Disable' });
});

test.each([
  ['an unknown name', { NoSuchSetting: 1 }],
  ['a value outside the list', { MemTest: 'Perhaps' }],
  ['a text for a number', { AcPwrRcvryUserDelay: '60' }],
  ['a number out of bounds', { AcPwrRcvryUserDelay: 10_000 }],
  ['a read-only setting', { SystemServiceTag: 'X' }],
])('BIOS settings refuse %s, and the whole request with it', async (_, bad) => {
  const settings = `${dell.system}/Bios/Settings`;
  expect((await dell.patch(settings, { Attributes: { ProcVirtualization: 'Disabled', ...bad } })).status).toBe(400);
  expect((await dell.get(settings)).body.Attributes).toEqual({});
});

test('a BIOS reset restores the defaults at the next boot', async () => {
  await dell.patch(`${dell.system}/Bios/Settings`, { Attributes: { MemTest: 'Enabled' } });
  await boot(dell);
  expect((await dell.post(`${dell.system}/Bios/Actions/Bios.ResetBios`)).status).toBe(204);
  expect((await dell.get(`${dell.system}/Bios`)).body.Attributes.MemTest).toBe('Enabled');
  const { boots } = rack.state(0).boot;
  await dell.reset('ForceRestart');
  await until(async () => rack.state(0).boot.boots > boots, 'the next boot');
  await dell.powerReaches('On');
  expect((await dell.get(`${dell.system}/Bios`)).body.Attributes.MemTest).toBe('Disabled');
});

test('secure boot becomes current with a boot, and cannot be asked for in Legacy mode', async () => {
  const path = `${hpe.system}/SecureBoot`;
  expect((await hpe.patch(path, { SecureBootEnable: true })).status).toBe(204);
  expect((await hpe.get(path)).body).toMatchObject({ SecureBootEnable: true, SecureBootCurrentBoot: 'Disabled' });
  await boot(hpe);
  expect((await hpe.get(path)).body.SecureBootCurrentBoot).toBe('Enabled');
  await lenovo.patch(lenovo.system, { Boot: { BootSourceOverrideMode: 'Legacy' } });
  expect((await lenovo.patch(`${lenovo.system}/SecureBoot`, { SecureBootEnable: true })).status).toBe(400);
});

test('media are inserted without being fetched, a full slot refuses more, and iLO ejects only with a body', async () => {
  const slot = (await hpe.get('/redfish/v1/Managers/1/VirtualMedia')).body.Members[1]['@odata.id'];
  const image = { Image: 'http://127.0.0.1:9/boot.iso' };
  expect((await hpe.post(`${slot}/Actions/VirtualMedia.InsertMedia`, image)).status).toBe(204);
  expect((await hpe.get(slot)).body).toMatchObject({ ...image, Inserted: true, ImageName: 'boot.iso' });
  expect((await hpe.post(`${slot}/Actions/VirtualMedia.InsertMedia`, image)).status).toBe(409);
  expect((await hpe.call('POST', `${slot}/Actions/VirtualMedia.EjectMedia`)).status).toBe(400);
  expect((await hpe.post(`${slot}/Actions/VirtualMedia.EjectMedia`)).status).toBe(204);
  expect((await hpe.get(slot)).body).toMatchObject({ Image: null, Inserted: false });
});

test('a volume comes and goes by task, one job at a time', async () => {
  const storage = `${dell.system}/Storage/RAID.Integrated.1-1`;
  const Drives = (await dell.get(storage)).body.Drives.slice(0, 2);
  const wanted = { RAIDType: 'RAID1', Name: 'root', Links: { Drives } };
  const accepted = await dell.post(`${storage}/Volumes`, wanted);
  expect((await dell.post(`${storage}/Volumes`, wanted)).status).toBe(409);
  const end = await finished(dell, accepted);
  expect(end.status).toBe(201);
  expect((await dell.get(end.headers.location!)).body).toMatchObject({
    Name: 'root',
    RAIDType: 'RAID1',
    CapacityBytes: 960_197_124_096,
  });
  await finished(dell, await dell.delete(end.headers.location!));
  expect((await dell.get(`${storage}/Volumes`)).body.Members).toEqual([]);
});

test('a volume for the next boot waits for it', async () => {
  const storage = `${dell.system}/Storage/RAID.Integrated.1-1`;
  const Drives = (await dell.get(storage)).body.Drives.slice(0, 1);
  const accepted = await dell.post(`${storage}/Volumes`, {
    RAIDType: 'RAID0',
    Links: { Drives },
    '@Redfish.OperationApplyTime': 'OnReset',
  });
  expect((await dell.get(accepted.headers.location!)).body).toMatchObject({ TaskState: 'Starting' });
  await boot(dell);
  expect((await finished(dell, accepted)).status).toBe(201);
});

test('a failed task says so and leaves nothing behind', async () => {
  const storage = `${dell.system}/Storage/RAID.Integrated.1-1`;
  const Drives = (await dell.get(storage)).body.Drives.slice(0, 2);
  rack.fault(0, { kind: 'task-fails', remaining: 1 });
  const end = await finished(dell, await dell.post(`${storage}/Volumes`, { RAIDType: 'RAID1', Links: { Drives } }));
  expect(end.status).toBe(500);
  const tasks = (await dell.get('/redfish/v1/TaskService/Tasks')).body.Members;
  expect((await dell.get(tasks[0]['@odata.id'])).body).toMatchObject({
    TaskState: 'Exception',
    TaskStatus: 'Critical',
  });
  expect((await dell.get(`${storage}/Volumes`)).body.Members).toEqual([]);
});

test('BMC firmware changes its version by task and resets the BMC', async () => {
  const accepted = await dell.post('/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate', {
    ImageURI: 'http://127.0.0.1:9/idrac-7.0.1.exe',
    TransferProtocol: 'HTTP',
  });
  expect(accepted.status).toBe(202);
  const manager = '/redfish/v1/Managers/iDRAC.Embedded.1';
  await until(
    () =>
      dell.get(manager).then(
        ({ body }) => body.FirmwareVersion === '7.0.1',
        () => false,
      ),
    'the new version',
  );
  expect(rack.state(0).manager.lastResetAt).toEqual(expect.any(Number));
});
