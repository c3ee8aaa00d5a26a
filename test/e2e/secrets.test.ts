/** What a BMC's password and a secret of a runbook leave behind: nothing in replies, logs, histories or tables. */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { set, until } from '../../demo/nodes';
import type { Json, Person } from '../../demo/system';
import { type Cli, cliOf, type Said } from './support/cli';
import { bmcOf, ended, newestOf, withinMs } from './support/nodes';
import { type System, startSystem } from './support/system';
import { filesOf, found, historiesOf, repliesOf, type Trace, tablesOf } from './support/traces';

let system: System;
let operator: Person;
let cli: Cli;

/** What may not be found; the first is the rack's own, and right. */
const secrets: Record<string, string> = {
  'image password': `image-${randomBytes(9).toString('hex')}`,
  'BIOS password': `bios-${randomBytes(9).toString('hex')}`,
  'wrong password': `wrong-${randomBytes(9).toString('hex')}`,
};
const said: Trace[] = [];
const heard = (words: readonly string[], { out, err }: Said) =>
  said.push({ where: `the answer to: baremetal ${words.slice(0, 2).join(' ')}`, text: out + err });

const types = async (...words: readonly string[]): Promise<Said> => {
  const answer = await cli('operator', ...words, ...(words.includes('create') ? ['-f', 'json'] : []));
  heard(words, answer);
  return answer;
};

const enrols = async (name: string, bmc: string, other: Readonly<Record<string, string>> = {}): Promise<void> => {
  const { address, systemId, username, password } = await bmcOf(system, bmc);
  const info = { address, system_id: systemId, username, password, ...other };
  const words = Object.entries(info).flatMap(([key, value]) => ['--driver-info', `redfish_${key}=${value}`]);
  expect(await types('node', 'create', '--name', name, '--driver', 'redfish', ...words)).toMatchObject({ status: 0 });
};

const writes = async (name: string, node: string, steps: readonly object[]): Promise<void> => {
  await types('runbook', 'create', '--name', name, '--steps', JSON.stringify(steps));
  await types('runbook', 'trait', 'add', name, name);
  await types('node', 'trait', 'add', node, name);
};

const cleans = async (node: string, runbook: string): Promise<Json> => {
  expect(await types('node', 'clean', node, '--runbook', runbook)).toMatchObject({ status: 0 });
  return ended(operator, await newestOf(operator, node));
};

beforeAll(async () => {
  system = await startSystem(2, { TEMPER_RETRY_MS: '200', TEMPER_LOG_LEVEL: 'debug' });
  operator = await system.person('operator');
  cli = cliOf(system);
  secrets['BMC password'] = (await bmcOf(system, 'bmc-0')).password;
});
afterAll(() => system?.stop());

test('the histories of runs can be read by the owner of the data folder only', () => {
  const modeOf = (...path: string[]) => statSync(join(system.data, ...path)).mode & 0o777;
  expect([modeOf('temporal'), modeOf('temporal', 'temporal.db')]).toEqual([0o700, 0o600]);
});

test('a run with secrets in node and runbook ends well', async () => {
  await enrols('kept', 'bmc-0');
  expect(await types('node', 'manage', 'kept', '--wait', '120')).toMatchObject({ status: 0 });
  const image_url = `http://reader:${secrets['image password']}@images.example.com/rescue.iso`;
  await writes('CUSTOM_IMAGE', 'kept', [
    { interface: 'management', step: 'attach_virtual_media', args: { image_url }, order: 1 },
    { interface: 'management', step: 'detach_virtual_media', args: {}, order: 2 },
  ]);
  expect(await cleans('kept', 'CUSTOM_IMAGE')).toMatchObject({ state: 'succeeded' });
});

test('a run that fails on a setting with a secret value names the setting', async () => {
  const settings = [{ name: 'SetupPassword', value: secrets['BIOS password'] }];
  await writes('CUSTOM_BIOS', 'kept', [
    { interface: 'bios', step: 'apply_configuration', args: { settings }, order: 1 },
  ]);
  expect(await cleans('kept', 'CUSTOM_BIOS')).toMatchObject({
    state: 'failed',
    last_error: expect.stringMatching(/SetupPassword/),
  });
});

test('a wrong BMC password fails the run at once, with node and BMC in the message', async () => {
  await enrols('refused', 'bmc-1', { password: secrets['wrong password']! });
  const { address } = await bmcOf(system, 'bmc-1');
  expect(await types('node', 'manage', 'refused', '--wait', '120')).toMatchObject({ status: 1 });
  const run = await ended(operator, await newestOf(operator, 'refused'));
  expect(run).toMatchObject({ state: 'failed', steps: [expect.objectContaining({ attempts: 1, state: 'failed' })] });
  expect(run.last_error).toMatch(/refused.* credentials on record/);
  const { host } = new URL(address);
  for (const part of ['refused', host]) expect(run.last_error).toContain(part);
  const node = await operator.must('GET', '/v1/nodes/refused');
  expect(node).toMatchObject({ provision_state: 'enroll', last_error: run.last_error });
});

test('a BMC that does not answer is tried again, which the run shows; set right, the node can be verified', async () => {
  const { freePort } = jest.requireActual('../../scripts/lib/ports');
  const nobody = `http://127.0.0.1:${await freePort()}`;
  await enrols('silent', 'bmc-1', { address: nobody });
  await types('node', 'manage', 'silent');
  const uuid = await newestOf(operator, 'silent');
  const shown = await until('a second attempt', withinMs, async () => {
    const run = await operator.must('GET', `/temper/v1/runs/${uuid}`);
    return run.steps[0].attempt > 1 && run.steps[0].last_error ? run : undefined;
  });
  expect(shown).toMatchObject({ state: 'running', steps: [{ state: 'running' }] });
  expect(shown.steps[0].last_error).toMatch(/silent.*did not answer/);
  expect(shown.steps[0].last_error).toContain(new URL(nobody).host);

  await operator.must('POST', `/temper/v1/runs/${uuid}/abort`, { reason: 'its address was wrong' });
  expect(await ended(operator, uuid)).toMatchObject({ state: 'aborted' });
  const { address, password } = await bmcOf(system, 'bmc-1');
  await set(operator, 'silent', { 'driver_info/redfish_address': address });
  await types('node', 'manage', 'silent');
  const elsewhere = await ended(operator, await newestOf(operator, 'silent'));
  expect(elsewhere.last_error).toMatch(
    /credentials of node silent were given for another BMC \(redfish_address has changed/,
  );
  await set(operator, 'silent', { 'driver_info/redfish_password': password });
  expect(await types('node', 'manage', 'silent', '--wait', '120')).toMatchObject({ status: 0 });
});

test('none of the secrets can be read in any reply, log, file, table or history', async () => {
  const places = { said, replies: await repliesOf(operator), files: filesOf(system) };
  const traces = { ...places, tables: await tablesOf(system), histories: await historiesOf(system) };
  for (const [place, all] of Object.entries(traces))
    expect({ place, found: found(all, secrets) }).toEqual({ place, found: [] });
});

test('the search finds what is there: the account of the BMC, which is no secret', async () => {
  const { username } = await bmcOf(system, 'bmc-0');
  const open = { 'name of the account': username, 'name of the runbook': 'CUSTOM_IMAGE' };
  expect(found(await tablesOf(system), open)).toEqual(
    expect.arrayContaining(['name of the account in table nodes', 'name of the runbook in table runs']),
  );
  expect(found(await historiesOf(system), open).join('\n')).toMatch(/name of the runbook in workflow node-/);
  expect(found(filesOf(system), open).join('\n')).toMatch(/name of the runbook in temporal\/temporal\.db/);
  expect(found(await repliesOf(operator), open).join('\n')).toMatch(/name of the account in GET/);
});
