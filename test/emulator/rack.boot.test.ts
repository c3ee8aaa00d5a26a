/** The boot override of the emulated BMCs: ETags as each vendor wants them, and what a boot uses up. */

import type { Rack } from '../../emulator/rack';
import { type Client, clientOf, testRack, until } from './rack-client';

let rack: Rack;
let clients: Record<string, Client>;
const names = ['idrac9', 'ilo5', 'xcc', 'supermicro-x12', 'ami', 'openbmc', 'xcc-new'];

beforeAll(async () => {
  rack = await testRack({ bmcs: names.length, profiles: names });
  clients = Object.fromEntries(rack.bmcs.map((bmc) => [bmc.profile, clientOf(bmc)]));
});
afterAll(() => rack.close());

const pxe = { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } };
const etag = async (client: Client): Promise<string> => (await client.get(client.system)).headers.etag!;

test('Lenovo refuses a PATCH without If-Match with 428 and a stale one with 412, and changes nothing', async () => {
  const client = clients.xcc!;
  const before = await etag(client);
  expect((await client.patch(client.system, pxe)).status).toBe(428);
  expect((await client.patch(client.system, pxe, { 'if-match': '"000000000000"' })).status).toBe(412);
  expect(await etag(client)).toBe(before);
  expect((await client.patch(client.system, pxe, { 'if-match': before })).status).toBe(204);
  expect((await client.patch(client.system, pxe, { 'if-match': before })).status).toBe(412);
});

test('newer Lenovo refuses a PATCH with If-Match', async () => {
  const client = clients['xcc-new']!;
  expect((await client.patch(client.system, pxe, { 'if-match': await etag(client) })).status).toBe(412);
  expect((await client.patch(client.system, pxe)).status).toBe(204);
});

test('AMI announces weak ETags, accepts only their strong spelling, and wants target, enabled and mode together', async () => {
  const client = clients.ami!;
  const whole = { Boot: { ...pxe.Boot, BootSourceOverrideMode: 'UEFI' } };
  const weak = await etag(client);
  expect(weak).toMatch(/^W\//);
  expect((await client.patch(client.system, whole, { 'if-match': weak })).status).toBe(412);
  const strong = { 'if-match': weak.slice(2) };
  expect((await client.patch(client.system, pxe, strong)).status).toBe(400);
  expect((await client.patch(client.system, whole, strong)).status).toBe(204);
});

test('Supermicro forgets Enabled and Mode that are not sent along', async () => {
  const client = clients['supermicro-x12']!;
  await client.patch(client.system, {
    Boot: { BootSourceOverrideTarget: 'Hdd', BootSourceOverrideEnabled: 'Continuous', BootSourceOverrideMode: 'UEFI' },
  });
  await client.patch(client.system, { Boot: { BootSourceOverrideTarget: 'Pxe' } });
  expect((await client.get(client.system)).body.Boot).toMatchObject({
    BootSourceOverrideTarget: 'Pxe',
    BootSourceOverrideEnabled: 'Once',
    BootSourceOverrideMode: 'Legacy',
  });
});

test('a one-time override is used up by a boot and a continuous one is not', async () => {
  const client = clients.openbmc!;
  await client.patch(client.system, pxe);
  await client.reset('On');
  await client.powerReaches('On');
  expect((await client.get(client.system)).body.Boot).toMatchObject({
    BootSourceOverrideEnabled: 'Disabled',
    BootSourceOverrideTarget: 'None',
  });
  expect(rack.state(names.indexOf('openbmc')).boot.last).toMatchObject({ target: 'Pxe' });
  await client.patch(client.system, {
    Boot: { BootSourceOverrideTarget: 'Hdd', BootSourceOverrideEnabled: 'Continuous' },
  });
  await client.reset('ForceRestart');
  await until(async () => rack.state(names.indexOf('openbmc')).boot.boots === 2, 'the second boot');
  await client.powerReaches('On');
  expect((await client.get(client.system)).body.Boot).toMatchObject({
    BootSourceOverrideEnabled: 'Continuous',
    BootSourceOverrideTarget: 'Hdd',
  });
});

test('HPE refuses changes during the self-test and takes them afterwards', async () => {
  const slow = await testRack({ profiles: ['ilo6'], timing: { powerOnMs: 0, postMs: 4_000 } });
  try {
    const client = clientOf(slow.bmcs[0]!);
    await client.reset('On');
    const refused = await client.patch(client.system, pxe);
    expect([refused.status, refused.body.error.code]).toEqual([
      400,
      expect.stringContaining('UnableToModifyDuringSystemPOST'),
    ]);
    await until(async () => (await client.patch(client.system, pxe)).status === 204, 'the self-test to end');
  } finally {
    await slow.close();
  }
});

test('an unknown target or property is refused with nothing changed', async () => {
  const client = clients.idrac9!;
  const before = await etag(client);
  expect(
    (await client.patch(client.system, { AssetTag: 'x', Boot: { BootSourceOverrideTarget: 'Toaster' } })).status,
  ).toBe(400);
  expect((await client.patch(client.system, { SerialNumber: '1' })).status).toBe(400);
  expect(await etag(client)).toBe(before);
});
