/** Power on the emulated rack: states on the way, vendors' refusals, and the front button. */

import type { Rack } from '../../emulator/rack';
import { type Client, clientOf, quick, testRack } from './rack-client';

let rack: Rack;
let dell: Client;
let hpe: Client;
let amenable: Client;

beforeAll(async () => {
  rack = await testRack({
    bmcs: 3,
    profiles: ['idrac9', 'ilo5', 'openbmc'],
    timing: { ...quick, powerOnMs: 3_000, powerOffMs: 3_000 },
  });
  [dell, hpe, amenable] = rack.bmcs.map((bmc) => clientOf(bmc)) as [Client, Client, Client];
});
afterAll(() => rack.close());

const shown = async (client: Client): Promise<string> => (await client.get(client.system)).body.PowerState;

test('a host that is switched on shows PoweringOn before On, and PoweringOff before Off', async () => {
  expect(await shown(amenable)).toBe('Off');
  expect((await amenable.reset('On')).status).toBe(204);
  expect(await shown(amenable)).toBe('PoweringOn');
  await amenable.powerReaches('On');
  expect((await amenable.reset('ForceOff')).status).toBe(204);
  expect(await shown(amenable)).toBe('PoweringOff');
  await amenable.powerReaches('Off');
});

test('a restart passes through PoweringOff and boots the host once', async () => {
  const before = rack.state(2).boot.boots;
  await amenable.reset('On');
  await amenable.powerReaches('On');
  await amenable.reset('ForceRestart');
  expect(await shown(amenable)).toBe('PoweringOff');
  await amenable.powerReaches('On');
  expect(rack.state(2).boot.boots).toBe(before + 2);
});

test('vendors differ in what they say to a command that changes nothing', async () => {
  for (const client of [dell, hpe]) {
    await client.reset('On');
    await client.powerReaches('On');
  }
  const [fromDell, fromHpe] = [await dell.reset('On'), await hpe.reset('On')];
  expect([fromDell.status, fromHpe.status]).toEqual([409, 400]);
  expect(fromDell.body.error['@Message.ExtendedInfo'][0].MessageId).toMatch(/\.ActionParameterValueConflict$/);
  expect(fromHpe.body.error['@Message.ExtendedInfo'][0].MessageId).toMatch(/\.InvalidOperationForSystemState$/);
});

test('a ResetType outside the allowable values is refused, and so is a missing one', async () => {
  const allowed = (await dell.get(dell.system)).body.Actions['#ComputerSystem.Reset'][
    'ResetType@Redfish.AllowableValues'
  ];
  expect(allowed).toContain('ForceOff');
  expect((await dell.reset('Explode')).status).toBe(400);
  expect((await dell.post(`${dell.system}/Actions/ComputerSystem.Reset`, {})).status).toBe(400);
});

test('OpenBMC keeps its allowable values in an ActionInfo resource', async () => {
  const action = (await amenable.get(amenable.system)).body.Actions['#ComputerSystem.Reset'];
  expect(action['ResetType@Redfish.AllowableValues']).toBeUndefined();
  const info = await amenable.get(action['@Redfish.ActionInfo']);
  expect(info.body.Parameters[0].AllowableValues).toContain('ForceRestart');
});

test('the button on the front changes power without a client, and the journal says so', async () => {
  await amenable.powerReaches('On');
  const control = await fetch(`${rack.controlUrl}/control/bmcs/2/press-power-button`, { method: 'POST' });
  expect(control.status).toBe(204);
  await amenable.powerReaches('Off');
  expect(rack.journal({ bmc: 2 }).at(-1)).toMatchObject({ source: 'control', subject: 'power', accepted: true });
});

test('repeating a command does not postpone what it asked for', async () => {
  const slow = await testRack({ profiles: ['openbmc'], timing: { powerOnMs: 600_000 } });
  try {
    const client = clientOf(slow.bmcs[0]!);
    await client.reset('On');
    const { at } = slow.state(0).power.coming.at(-1)!;
    expect((await client.reset('On')).status).toBe(204);
    expect(slow.state(0).power.coming.at(-1)!.at).toBe(at);
  } finally {
    await slow.close();
  }
});
