/** Ramdisks whose listener has an address of its own work through the boot service alone, and no other caller is served there. */
import { ask, powerOn, recordOf, rests } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { ended, manageable, newestOf, patient, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

let system: System;
let operator: Person;
let theirs: string;
let boots: string;

beforeAll(async () => {
  const [port, bootPort] = await jest.requireActual('../../scripts/lib/ports').freePorts(2);
  theirs = `127.0.0.1:${port}`;
  boots = `http://127.0.0.1:${bootPort}`;
  system = await startSystem(2, {
    TEMPER_RAMDISK_LISTEN: theirs,
    TEMPER_TRUSTED_PROXIES: '127.0.0.0/8',
    TEMPER_BOOT_RAMDISK_API_URL: `http://${theirs}`,
    TEMPER_BOOT_PORT: String(bootPort),
    TEMPER_DISCOVERY: 'true',
  });
  operator = patient(await system.person('operator'));
});
afterAll(() => system?.stop());

const lookup = async (base: string): Promise<number> =>
  (
    await fetch(`${base}/v1/lookup?addresses=52:54:00:00:00:99`, {
      headers: { 'x-openstack-ironic-api-version': '1.115' },
    })
  ).status;

const erasesItsDisk = async (node: string): Promise<void> => {
  await powerOn(operator, node, withinMs);
  const erase = { interface: 'deploy', step: 'erase_devices_metadata' };
  await operator.must('PUT', `/v1/nodes/${node}/states/provision`, { target: 'clean', clean_steps: [erase] });
  expect(await ended(operator, await newestOf(operator, node))).toMatchObject({ state: 'succeeded' });
  await rests(operator, node, 'manageable', withinMs);
};

test('a disk is erased by a ramdisk that looked up and called back through the boot service', async () => {
  const [node] = await manageable(system, operator, 0);
  await erasesItsDisk(node!);
  expect((await system.rack.ramdiskCommands()).map(({ step }) => step)).toContain('deploy.erase_devices_metadata');
});

test('the other address refuses them, and theirs and the boot service have nothing else', async () => {
  expect([await lookup(boots), (await fetch(`${boots}/v1/nodes`)).status]).toEqual([404, 404]);
  // Without its word of versions nothing would be behind it: an empty 404 is the boot service's own.
  expect((await fetch(`${boots}/v1`)).status).toBe(200);
  expect([await lookup(system.record().addresses.api), await lookup(`http://${theirs}`)]).toEqual([403, 404]);
  expect((await fetch(`http://${theirs}/`)).status).toBe(200);
  expect([401, 404]).toContain((await fetch(`http://${theirs}/v1/nodes`)).status);
});

test('a machine that no node stands for reports itself, is enrolled in one step, and its ramdisk is known by the ports from there', async () => {
  const [bmc] = (await system.rack.bmcs()).filter(({ index }) => index === 1);
  const { name, driver, driver_info, resource_class } = recordOf(bmc!, false);
  const interfaces = bmc!.macs.map((mac_address, at) => ({ name: `eth${at}`, mac_address }));
  const report = await fetch(`${boots}/v1/continue_inspection`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ inventory: { interfaces, cpu: { architecture: 'x86_64', count: 8 } } }),
  });
  expect([report.status, await report.json()]).toEqual([202, {}]);
  const listed = await operator.must('GET', '/temper/v1/discovered-machines');
  const [machine, ...others] = listed.discovered_machines as { uuid: string; revision: string }[];
  expect([machine, others]).toEqual([expect.objectContaining({ state: 'waiting', arch: 'x86_64' }), []]);
  const given = { revision: machine!.revision, name, driver, driver_info, resource_class };
  await operator.must('POST', `/temper/v1/discovered-machines/${machine!.uuid}/enroll`, given);
  const node = String(name);
  await ask(operator, node, 'manage');
  await rests(operator, node, 'manageable', withinMs);
  const { inventory } = await operator.must('GET', `/v1/nodes/${node}/inventory`);
  expect(inventory).toMatchObject({ cpu: { count: 8 } });
  await erasesItsDisk(node);
});
