/** Ramdisks on the rack's hosts: they boot with the machine from the right source, and die with its power. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Rack, type RackOptions, startRack } from '../../emulator/rack';
import { type RamdiskApi, startRamdiskApi } from '../support/ramdisk-api';
import { accepted } from './rack-client';

const disc = 'http://images.example.org/ramdisk.iso';
const timing = { powerOnMs: 10, powerOffMs: 10, gracefulOffMs: 10, postMs: 5 };
let api: RamdiskApi;
let rack: Rack;
let stateDir: string;

const start = async (options: Partial<RackOptions['ramdisks']> = {}) => {
  api = await startRamdiskApi();
  stateDir = await mkdtemp(join(tmpdir(), 'rack-'));
  const ramdisks = { apiUrl: api.url, timing: { lookupRetryMs: 5, powerOffMs: 5 }, ...options };
  rack = await startRack({ stateDir, bmcs: 2, profiles: ['openbmc'], timing, ramdisks });
};
afterEach(async () => {
  await rack.close();
  await api.close();
  await rm(stateDir, { recursive: true, force: true });
});

const redfish = (method: string, path: string, body: unknown) => accepted(rack.bmcs[0]!, method, path, body);
const system = '/redfish/v1/Systems/system';
const bootFrom = (target: string) =>
  redfish('PATCH', system, { Boot: { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: 'Once' } });
const reset = (ResetType: string) => redfish('POST', `${system}/Actions/ComputerSystem.Reset`, { ResetType });
const insert = (Image: string) =>
  redfish('POST', `${system}/VirtualMedia/CD1/Actions/VirtualMedia.InsertMedia`, { Image });
const until = async (done: () => boolean): Promise<void> => {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 5));
};
const mac = () => rack.bmcs[0]!.macs[0]!;
const states = () => rack.agents!.list().map(({ state }) => state);
const off = () => rack.state(0).power.shows === 'Off';

test('a host that boots from the ramdisk’s disc calls back, and is silent once its power is off', async () => {
  await start({ images: [disc] });
  const uuid = api.know(mac());
  await insert(disc);
  await bootFrom('Cd');
  await reset('On');
  await api.beat(({ node }) => node === uuid);
  expect(states()).toEqual(['serving']);
  await reset('ForceOff');
  await until(off);
  expect(states()).toEqual([]);
});

test('a host that boots from the network calls back', async () => {
  await start();
  const uuid = api.know(mac());
  await bootFrom('Pxe');
  await reset('On');
  await api.beat(({ node }) => node === uuid);
  expect(states()).toEqual(['serving']);
});

test('a host that boots from its own disk, or from another disc, does not', async () => {
  await start({ images: [disc] });
  await insert('http://images.example.org/other.iso');
  await reset('On');
  await until(() => rack.state(0).boot.boots === 1);
  expect(states()).toEqual([]);
  await bootFrom('Cd');
  await reset('ForceRestart');
  await until(() => rack.state(0).boot.boots === 2);
  expect(states()).toEqual([]);
});

test('a restart from disk ends the ramdisk that ran', async () => {
  await start();
  const uuid = api.know(mac());
  await bootFrom('Pxe');
  await reset('On');
  await api.beat(({ node }) => node === uuid);
  await reset('ForceRestart');
  await until(() => rack.state(0).boot.boots === 2);
  await until(() => states().length === 0);
});

test('a ramdisk that is asked to shut down takes the power of its host away', async () => {
  await start({ tls: false });
  const uuid = api.know(mac());
  await bootFrom('Pxe');
  await reset('On');
  const { body } = await api.beat(({ node }) => node === uuid);
  const url = `${body.callback_url}/v1/commands/?wait=false&agent_token=${body.agent_token}`;
  await fetch(url, { method: 'POST', body: JSON.stringify({ name: 'standby.power_off', params: {} }) });
  await until(off);
  expect(rack.journal().at(-1)).toMatchObject({ source: 'control', path: 'host-off', effect: 'converge' });
});

test('faults and the journal of ramdisks are reached through the control door', async () => {
  await start();
  const uuid = api.know(mac());
  const control = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${rack.controlUrl}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: answer.status === 204 ? null : await answer.json() };
  };
  expect(await control('POST', '/control/bmcs/0/agent-faults', { kind: 'wrong-beat-token' })).toMatchObject({
    status: 201,
  });
  expect(await control('POST', '/control/bmcs/0/agent-faults', { kind: 'none such' })).toMatchObject({ status: 400 });
  await bootFrom('Pxe');
  await reset('On');
  const { body } = await api.beat(({ node }) => node === uuid);
  expect(body.agent_token).not.toBe(api.tokenOf(mac()));
  expect(await control('GET', '/control/agents')).toMatchObject({
    body: { agents: [{ mac: mac(), node_uuid: uuid }] },
  });
  expect(await control('GET', '/control/agents/journal')).toMatchObject({ body: { entries: [] } });
  expect(await control('DELETE', '/control/bmcs/0/agent-faults')).toMatchObject({ status: 204 });
});

test('a rack that boots no ramdisks says so at the control door', async () => {
  await start();
  const dir = await mkdtemp(join(tmpdir(), 'rack-'));
  const plain = await startRack({ stateDir: dir, bmcs: 1 });
  const answer = await fetch(`${plain.controlUrl}/control/agents`);
  expect(answer.status).toBe(400);
  await plain.close();
  await rm(dir, { recursive: true, force: true });
});
