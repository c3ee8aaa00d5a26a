/** The whole path of a boot: a host of the rack reads its image from the boot service, and an impostor on its network gets nothing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { powerOn, rests, set, until } from '../../demo/nodes';
import type { Person } from '../../demo/system';
import { acceptedSince, bmcOf, ended, journalNow, manageable, newestOf, patient, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';

jest.setTimeout(400_000);

let system: System;
let operator: Person;
let node: string;

beforeAll(async () => {
  system = await startSystem(1);
  operator = patient(await system.person('operator'));
  [node = ''] = await manageable(system, operator, 0);
  await powerOn(operator, node, withinMs);
});
afterAll(() => system?.stop());

/** URLs of the images that the node's BMC was given since. */
const inserted = async (since: number): Promise<string[]> =>
  (await acceptedSince(system, node, since)).flatMap(({ content }) => {
    const { Image: image } = (content ?? {}) as { Image?: unknown };
    return typeof image === 'string' ? [image] : [];
  });

const ramdiskApi = (method: string, path: string, body?: object) =>
  fetch(`${system.record().addresses.api}${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.68' },
    ...(body && { body: JSON.stringify(body) }),
  });

test('a disk is erased by a ramdisk that had its token from its image, with an impostor there all along', async () => {
  const since = await journalNow(system, node);
  const mac = (await bmcOf(system, node)).macs[0]!;
  const { uuid } = await operator.must('GET', `/v1/nodes/${node}`);
  const erase = { interface: 'deploy', step: 'erase_devices_metadata' };
  await operator.must('PUT', `/v1/nodes/${node}/states/provision`, { target: 'clean', clean_steps: [erase] });
  const run = await newestOf(operator, node);

  const handedOut = new Set<string>();
  const beats = new Set<number>();
  let over = false;
  const impostor = async (): Promise<void> => {
    while (!over) {
      const found = await ramdiskApi('GET', `/v1/lookup?addresses=${mac}`);
      if (found.ok) handedOut.add(((await found.json()) as { config: { agent_token: string } }).config.agent_token);
      const body = { callback_url: 'https://127.0.0.1:9', agent_token: 'x'.repeat(43), agent_version: '13' };
      beats.add((await ramdiskApi('POST', `/v1/heartbeat/${uuid}`, body)).status);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const asking = impostor();
  const ending = await ended(operator, run);
  over = true;
  await asking;
  expect(ending).toMatchObject({ state: 'succeeded' });
  await rests(operator, node, 'manageable', withinMs);
  expect([...handedOut].filter((token) => token !== '******')).toEqual([]);
  expect(handedOut.size).toBe(1); // while the node was up, the mask was
  expect([...beats].filter((status) => status !== 400 && status !== 404)).toEqual([]);
  expect(await operator.must('GET', `/v1/nodes/${node}`)).toMatchObject({ maintenance: false, fault: null });
  expect((await system.rack.ramdiskCommands()).map(({ step }) => step)).toContain('deploy.erase_devices_metadata');

  const [image, ...others] = await inserted(since);
  expect(others).toEqual([]);
  expect(image).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/boot\/[\w-]{43}\/ramdisk\.iso$/);
  expect((await fetch(image!)).status).toBe(404); // the run is over
  const token = image!.split('/').at(-2)!;
  for (const name of ['boot', 'api', 'worker-bmc-default', 'worker-control'])
    expect(readFileSync(join(system.logs, `${name}.log`), 'utf8')).not.toContain(token);
  expect(readFileSync(join(system.logs, 'boot.log'), 'utf8')).toContain('boot image asked for');
});

test('what an inspection found is sent where its image said, with the proof of its boot', async () => {
  await set(operator, node, { inspect_interface: 'agent' });
  await operator.must('PUT', `/v1/nodes/${node}/states/provision`, { target: 'inspect' });
  expect(await ended(operator, await newestOf(operator, node))).toMatchObject({ state: 'succeeded' });
  await rests(operator, node, 'manageable', withinMs);
  expect(await operator.must('GET', `/v1/nodes/${node}/inventory`)).toMatchObject({
    inventory: { cpu: { count: 32 } },
  });
});

test('a boot service that is killed while hosts boot comes back, and they boot', async () => {
  const since = await journalNow(system, node);
  const erase = { interface: 'deploy', step: 'erase_devices_metadata' };
  await operator.must('PUT', `/v1/nodes/${node}/states/provision`, { target: 'clean', clean_steps: [erase] });
  const run = await newestOf(operator, node);
  await until('the image to be inserted', withinMs, async () =>
    (await inserted(since)).length > 0 ? true : undefined,
  );
  await system.back('boot', system.kill('boot'));
  expect(await ended(operator, run)).toMatchObject({ state: 'succeeded' });
  await rests(operator, node, 'manageable', withinMs);
});
