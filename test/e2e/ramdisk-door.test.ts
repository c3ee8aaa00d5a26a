/** Ramdisks that have an address of their own work through it, and no other caller is served there. */
import { powerOn, rests } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { ended, manageable, newestOf, patient, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

let system: System;
let operator: Person;
let theirs: string;

beforeAll(async () => {
  const [port] = await jest.requireActual('../../scripts/lib/ports').freePorts(1);
  theirs = `127.0.0.1:${port}`;
  system = await startSystem(1, { TEMPER_RAMDISK_LISTEN: theirs });
  operator = patient(await system.person('operator'));
});
afterAll(() => system?.stop());

const lookup = async (base: string): Promise<number> =>
  (
    await fetch(`${base}/v1/lookup?addresses=52:54:00:00:00:99`, {
      headers: { 'x-openstack-ironic-api-version': '1.115' },
    })
  ).status;

test('a disk is erased by a ramdisk that looked up and called back there', async () => {
  const [node] = await manageable(system, operator, 0);
  await powerOn(operator, node!, withinMs);
  const erase = { interface: 'deploy', step: 'erase_devices_metadata' };
  await operator.must('PUT', `/v1/nodes/${node}/states/provision`, { target: 'clean', clean_steps: [erase] });
  expect(await ended(operator, await newestOf(operator, node!))).toMatchObject({ state: 'succeeded' });
  await rests(operator, node!, 'manageable', withinMs);
  expect((await system.rack.ramdiskCommands()).map(({ step }) => step)).toContain('deploy.erase_devices_metadata');
});

test('the other address refuses them, and theirs has nothing else', async () => {
  expect([await lookup(system.record().addresses.api), await lookup(`http://${theirs}`)]).toEqual([403, 404]);
  expect((await fetch(`http://${theirs}/`)).status).toBe(200);
  expect([401, 404]).toContain((await fetch(`http://${theirs}/v1/nodes`)).status);
});
