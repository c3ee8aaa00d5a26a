/** The whole life of a node, typed into the real `baremetal` client by operator, owner, lessee and those who may not. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Person } from '../../src/dev/demo/system';
import { clientCommand } from '../support/clients';
import { type Cli, cliOf, refusal } from './support/cli';
import { acceptedSince, bmcOf, commandOf, journalNow, projects, ramdiskCommandsSince } from './support/nodes';
import { type System, startSystem } from './support/system';
import { filesOf, found, historiesOf, repliesOf, type Trace, tablesOf } from './support/traces';

jest.setTimeout(300_000);

const node = 'life-1';
const wait = ['--wait', '240'];
const secret = (of: string): string => `${of}-${randomBytes(9).toString('hex')}`;

/** What nobody may find afterwards. */
const secrets: Record<string, string> = {
  'user data': secret('user'),
  'rescue password': secret('rescue'),
  'second user data': secret('second'),
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
  const typed = cliOf(system, (words, { out, err }) =>
    said.push({ where: `the answer to: baremetal ${words.slice(0, 2).join(' ')}`, text: out + err }),
  );
  cli = typed;
});
afterAll(() => system?.stop());

const shown = (...fields: readonly string[]) => cli.json('operator', 'node', 'show', node, '--fields', ...fields);
const isState = async (provision_state: string) =>
  expect(await shown('provision_state', 'target_provision_state', 'last_error')).toEqual({
    provision_state,
    target_provision_state: null,
    last_error: null,
  });

/** Does the work and answers with what the node's ramdisks were told meanwhile. */
const told = async (work: () => Promise<unknown>): Promise<string[]> => {
  const since = (await system.rack.ramdiskCommands()).at(-1)?.seq ?? 0;
  await work();
  return ramdiskCommandsSince(system, uuid, since);
};

const erased = [
  'clean.get_clean_steps',
  'deploy.erase_devices_metadata',
  'clean.get_clean_steps',
  'deploy.erase_devices',
];
const written = [
  'deploy.get_deploy_steps',
  'standby.prepare_image',
  'image.install_bootloader',
  'standby.sync',
  'standby.power_off',
];

test('an operator enrols a BMC with an image for its ramdisk, and verifies it', async () => {
  await cli.does('operator', 'node', 'delete', 'bmc-3');
  const bmc = await bmcOf(system, 'bmc-3');
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
  expect(await cli('operator', 'node', 'provide', node)).toEqual(refusal(403, 'is retired'));
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
  expect(await cli('owner', 'node', 'deploy', node)).toEqual(refusal(400, 'image_os_hash_value'));
  await isState('available');
});

const isoMaker = ['genisoimage', 'mkisofs', 'xorrisofs'].some((name) => isoProgramIsThere(name));
const drive = isoMaker
  ? { user_data: `#cloud-config\npassword: ${secrets['user data']}` }
  : { name: 'as base64, because this machine has no genisoimage' };

test('its owner deploys an image with a config drive for a lessee, who can see the node then and not before', async () => {
  expect(await cli.json('lessee', 'node', 'list', '--fields', 'name')).not.toContainEqual({ name: node });
  const words = Object.entries(image).flatMap(([key, value]) => ['--instance-info', `${key}=${value}`]);
  await cli.does('owner', 'node', 'set', node, ...words);
  expect(
    await told(() => cli.does('owner', 'node', 'deploy', node, '--config-drive', JSON.stringify(drive), ...wait)),
  ).toEqual(written);
  expect(await configDriveWasGiven()).toBe(true);
  await isState('active');
  expect(await shown('power_state', 'lessee')).toEqual({
    power_state: 'power on',
    lessee: projects['lessee-project'],
  });
  expect(await cli.json('lessee', 'node', 'list', '--fields', 'name')).toContainEqual({ name: node });
});
