/** The whole life of a node, typed into the real `baremetal` client by operator, owner, lessee and those who may not. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Json, Person } from '../../demo/system';
import { type Cli, cliOf, refusal } from './support/cli';
import { acceptedSince, bmcOf, commandOf, journalNow, projects, ramdiskCommandsSince } from './support/nodes';
import { type System, startSystem } from './support/system';
import { filesOf, found, historiesOf, repliesOf, type Trace, tablesOf } from './support/traces';

const node = 'life-1';
const bmcName = 'bmc-3';
const wait = ['--wait', '240'];
const secret = (of: string): string => `${of}-${randomBytes(9).toString('hex')}`;

/** What may not be found afterwards. */
const secrets: Record<string, string> = {
  'user data': secret('user'),
  'rescue password': secret('rescue'),
  'text within a config drive': secret('within'),
};

let system: System;
let operator: Person;
let cli: Cli;
let uuid: string;
const said: Trace[] = [];

beforeAll(async () => {
  // Hosts that start five times as fast, so that the command's own pauses are what takes time.
  system = await startSystem(4, { TEMPER_RACK_SPEED: '5', TEMPER_LOG_LEVEL: 'debug' }, { seed: true });
  operator = await system.person('operator');
  cli = cliOf(system, (words, { out, err }) =>
    said.push({ where: `the answer to: baremetal ${words.slice(0, 2).join(' ')}`, text: out + err }),
  );
});
afterAll(() => system?.stop());

const shown = (...fields: readonly string[]) => cli.json('operator', 'node', 'show', node, '--fields', ...fields);
const isState = async (provision_state: string) =>
  expect(await shown('provision_state', 'target_provision_state', 'last_error')).toEqual({
    provision_state,
    target_provision_state: null,
    last_error: null,
  });

/** Does the work and answers with what the node's ramdisks were sent meanwhile; the questions which steps they have aside. */
const told = async (work: () => Promise<unknown>): Promise<string[]> => {
  const since = (await system.rack.ramdiskCommands()).at(-1)?.seq ?? 0;
  await work();
  return (await ramdiskCommandsSince(system, uuid, since)).filter((command) => !/get_\w+_steps$/.test(command));
};

const erased = ['deploy.erase_devices_metadata', 'deploy.erase_devices'];
const written = ['standby.prepare_image', 'image.install_bootloader', 'standby.sync', 'standby.power_off'];

test('an operator enrols a BMC with an image for its ramdisk, and verifies it', async () => {
  await cli.does('operator', 'node', 'delete', bmcName);
  const bmc = await bmcOf(system, bmcName);
  const info = {
    redfish_address: bmc.address,
    redfish_system_id: bmc.systemId,
    redfish_username: bmc.username,
    redfish_password: bmc.password,
    deploy_iso: 'http://images.example.org/ramdisk.iso',
  };
  const words = Object.entries(info).flatMap(([key, value]) => ['--driver-info', `${key}=${value}`]);
  ({ uuid } = await cli.json('operator', 'node', 'create', '--name', node, '--driver', 'redfish', ...words));
  await cli.does('operator', 'port', 'create', bmc.macs[0]!, '--node', uuid);
  await cli.does('operator', 'node', 'manage', node, ...wait);
  await isState('manageable');
});

const inventory = async () => JSON.parse(await cli.does('operator', 'node', 'inventory', 'save', node)).inventory;

test('it is inspected through its BMC, and then by a ramdisk that starts on it', async () => {
  expect(await told(() => cli.does('operator', 'node', 'inspect', node, ...wait))).toEqual([]);
  expect(await inventory()).toMatchObject({ system_vendor: { manufacturer: expect.any(String) } });
  await cli.does('operator', 'node', 'set', node, '--inspect-interface', 'agent');
  await cli.does('operator', 'node', 'inspect', node, ...wait);
  expect(await inventory()).toMatchObject({ hostname: 'emulated' });
  await isState('manageable');
});

test('a retired node is not provided; in service again, its disks are erased before it becomes available', async () => {
  await cli.does('operator', 'node', 'set', node, '--retired', '--retired-reason', 'too old');
  expect(await cli('operator', 'node', 'provide', node)).toEqual(refusal(400, 'is retired'));
  await cli.does('operator', 'node', 'unset', node, '--retired', '--retired-reason');
  expect(await told(() => cli.does('operator', 'node', 'provide', node, ...wait))).toEqual(erased);
  await isState('available');
  await cli.does('operator', 'node', 'set', node, '--owner', projects['owner-project']);
  await cli.does('operator', 'node', 'trait', 'add', node, 'CUSTOM_RESTART');
});

const image = {
  image_source: 'http://images.example.org/debian-13.raw',
  image_os_hash_algo: 'sha256',
  image_os_hash_value: 'b'.repeat(64),
  project_id: projects['lessee-project'],
};

test('nothing is deployed by a stranger or a reader, nor without an image and its checksum', async () => {
  expect(await cli('stranger', 'node', 'deploy', node)).toEqual(refusal(404, `Node ${node} could not be found`));
  expect(await cli('owner-reader', 'node', 'deploy', node)).toEqual(refusal(403, 'node:set_provision_state'));
  expect(await cli('owner', 'node', 'deploy', node)).toEqual(refusal(400, 'image_source is missing'));
  const { image_source } = image;
  await cli.does('owner', 'node', 'set', node, '--instance-info', `image_source=${image_source}`);
  expect(await cli('owner', 'node', 'deploy', node)).toEqual(refusal(400, 'image_checksum is missing'));
  await isState('available');
});

/** Whether the ramdisk that wrote the newest image was given a config drive with it. */
const gotConfigDrive = async (): Promise<boolean> =>
  (await system.rack.ramdiskCommands())
    .filter((entry) => entry.node_uuid === uuid && entry.command === 'standby.prepare_image')
    .at(-1)!
    .given.includes('configdrive');

test('its owner deploys an image with a config drive of its own for a lessee, who sees the node from then on', async () => {
  const names = async () =>
    (await cli.json('lessee', 'node', 'list', '--fields', 'name')).map(({ name }: Json) => name);
  expect(await names()).not.toContain(node);
  const words = Object.entries(image).flatMap(([key, value]) => ['--instance-info', `${key}=${value}`]);
  await cli.does('owner', 'node', 'set', node, ...words);
  const drive = gzipSync(`an ISO with ${secrets['text within a config drive']}`).toString('base64');
  secrets['config drive'] = drive;
  const file = join(dirname(system.data), 'config-drive');
  writeFileSync(file, drive);
  expect(await told(() => cli.does('owner', 'node', 'deploy', node, '--config-drive', file, ...wait))).toEqual(written);
  expect(await gotConfigDrive()).toBe(true);
  await isState('active');
  const lessee = projects['lessee-project'];
  expect(await shown('power_state', 'lessee')).toEqual({ power_state: 'power on', lessee });
  expect(await names()).toContain(node);
});

test('the lessee restarts it by the public runbook; its reader may not, and no other caller sees it', async () => {
  const service = ['node', 'service', node, '--runbook', 'CUSTOM_RESTART'];
  expect(await cli('stranger', ...service)).toEqual(refusal(404, `Node ${node} could not be found`));
  expect(await cli('lessee-reader', ...service)).toEqual(refusal(403, 'node:run_runbook'));
  const since = await journalNow(system, bmcName);
  expect(await told(() => cli.does('lessee', ...service, ...wait))).toEqual([]);
  expect((await acceptedSince(system, bmcName, since)).map(commandOf)).toEqual([
    expect.stringMatching(/Hdd/),
    expect.stringMatching(/ForceOff/),
    expect.stringMatching(/"ResetType":"On"/),
    expect.stringMatching(/Indicator/),
  ]);
  await isState('active');
});

test('the lessee’s manager rescues it with a password and brings it back; a reader cannot do either', async () => {
  const rescue = ['node', 'rescue', node, '--rescue-password', secrets['rescue password']!];
  expect(await cli('lessee-reader', ...rescue)).toEqual(refusal(403, 'node:set_provision_state'));
  expect(await told(() => cli.does('lessee-manager', ...rescue, ...wait))).toEqual(['rescue.finalize_rescue']);
  await isState('rescue');
  secrets['agent token'] = (await system.rack.ramdisks()).find(({ node_uuid }) => node_uuid === uuid)!.token!;
  expect(secrets['agent token'].length).toBeGreaterThanOrEqual(32);
  expect(await cli('lessee-reader', 'node', 'unrescue', node)).toEqual(refusal(403, 'node:set_provision_state'));
  await cli.does('lessee-manager', 'node', 'unrescue', node, ...wait);
  await isState('active');
  expect(await shown('power_state')).toEqual({ power_state: 'power on' });
});

test('a protected node is neither rebuilt nor torn down', async () => {
  await cli.does('operator', 'node', 'set', node, '--protected', '--protected-reason', 'the database');
  for (const verb of ['rebuild', 'undeploy'])
    expect(await cli('owner', 'node', verb, node)).toEqual(refusal(403, 'is protected'));
  await cli.does('operator', 'node', 'unset', node, '--protected', '--protected-reason');
  await isState('active');
});

const withIsoMaker = process.env.TEMPER_TEST_ISO_MISSING ? test.skip : test;

withIsoMaker('it is rebuilt with a config drive made of documents', async () => {
  const drive = JSON.stringify({
    meta_data: { name: 'web-1' },
    user_data: `#cloud-config\npassword: ${secrets['user data']}`,
  });
  expect(await told(() => cli.does('owner', 'node', 'rebuild', node, '--config-drive', drive, ...wait))).toEqual(
    written,
  );
  expect(await gotConfigDrive()).toBe(true);
  await isState('active');
});

test('torn down, its disks are erased, and lease and instance are over', async () => {
  expect(await told(() => cli.does('owner', 'node', 'undeploy', node, ...wait))).toEqual(erased);
  await isState('available');
  expect(await shown('power_state', 'lessee', 'instance_info')).toEqual({
    power_state: 'power off',
    lessee: null,
    instance_info: {},
  });
  expect(await cli('lessee', 'node', 'show', node)).toEqual(refusal(404, `Node ${node} could not be found`));
});

test('config drives, rescue password and the token of a ramdisk can be read nowhere', async () => {
  const places = { said, replies: await repliesOf(operator), files: filesOf(system) };
  const traces = { ...places, tables: await tablesOf(system), histories: await historiesOf(system) };
  for (const [place, all] of Object.entries(traces))
    expect({ place, found: found(all, secrets) }).toEqual({ place, found: [] });
});

test('the search finds what is there: the runbook, which is no secret', async () => {
  const open = { 'the runbook': 'CUSTOM_RESTART' };
  expect(found(await tablesOf(system), open)).toContain('the runbook in table runs');
  expect(found(await historiesOf(system), open).join('\n')).toMatch(/in workflow node-/);
  expect(found(said, { 'a refusal': 'protected' })).not.toEqual([]);
});
