/** What versions changed in how ports, allocations and runbooks behave. */
import { createInventory } from '../../../src/inventory';
import { allocateAll } from '../../../src/runs/allocating';
import { step } from '../../support/rule-world';
import { ask, type Bench, expectGood, expectRefused, fresh, freshMac, sidesOf } from './bench';
import type { Show } from './node-behaviours';

const connection = { port_id: 'eth1', switch_id: '0a:1b:2c:3d:4e:5f' };

/** A port with such a connection, on a node of its own. */
const plugged = async (bench: Bench, minor: number, more: object) => {
  const node_uuid = await bench.world()('{node}');
  const local_link_connection = { ...connection, ...more };
  return ask(bench, minor, 'POST /v1/ports', { node_uuid, address: freshMac(), local_link_connection });
};

export const kindsOfNetwork: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  for (const network_type of ['managed', 'unmanaged']) {
    expectRefused(network_type, await plugged(bench, before, { network_type }), 406, minor);
    const { body } = await plugged(bench, from, { network_type });
    expect(body.local_link_connection).toEqual({ ...connection, network_type });
  }
  expectRefused('another', await plugged(bench, from, { network_type: 'wild' }), 400);
};

const switchKeys = { 'vtep-logical-switch': 'ls', 'vtep-physical-switch': 'ps' };

/** The stored keys do not keep other fields of the port from being changed, whatever the version. */
const stillChanges = async (bench: Bench, minor: number, uuid: string): Promise<void> => {
  const change = [{ op: 'add', path: '/extra/a', value: minor }];
  expectGood('another field', await ask(bench, minor, `PATCH /v1/ports/${uuid}`, change));
};

const takesKeys = async (bench: Bench, { taking, refusing }: Record<'taking' | 'refusing', number>): Promise<void> => {
  for (const [key, value] of Object.entries(switchKeys)) {
    expectRefused(key, await plugged(bench, refusing, { [key]: value }), 400);
    const { status, body } = await plugged(bench, taking, { [key]: value });
    expect([status, body.local_link_connection]).toEqual([201, { ...connection, [key]: value }]);
    await stillChanges(bench, refusing, body.uuid);
  }
};

export const switchKeysCome: Show = (bench, minor) => takesKeys(bench, { refusing: minor - 1, taking: minor });
export const switchKeysGo: Show = (bench, minor) => takesKeys(bench, { refusing: minor, taking: minor - 1 });

export const portsByName: Show = async (bench, minor) => {
  const fill = bench.world();
  const [uuid, name] = [await fill('{port}'), `uplink-${fresh()}`];
  await bench.api.sql`update ports set name = ${name} where uuid = ${uuid}`;
  const { before, from } = sidesOf(minor);
  const change = [{ op: 'add', path: '/extra/a', value: 1 }];
  expectRefused(name, await ask(bench, before, `GET /v1/ports/${name}`), 400);
  expectRefused(name, await ask(bench, before, `PATCH /v1/ports/${name}`, change), 400);
  expect((await ask(bench, from, `GET /v1/ports/${name}`)).body.uuid).toBe(uuid);
  expectGood(name, await ask(bench, from, `PATCH /v1/ports/${name}`, change));
};

export const networkOfMembers: Show = async (bench, minor) => {
  const fill = bench.world();
  const [port, group] = [await fill('{port}'), await fill('{portgroup}')];
  await bench.api.sql`update ports set portgroup_uuid = ${group} where uuid = ${port}`;
  const set = (at: number, what: string, value: string) =>
    ask(bench, at, `PATCH /v1/${what}`, [{ op: 'add', path: '/physical_network', value }]);
  const networkOfPort = async () => (await ask(bench, minor, `GET /v1/ports/${port}`)).body.physical_network;
  const { before, from } = sidesOf(minor);
  expectGood('the port', await set(before, `ports/${port}`, 'rack-1'));
  expectRefused('the port', await set(from, `ports/${port}`, 'rack-2'), 400);
  expect(await networkOfPort()).toBe('rack-1');
  expectGood('the portgroup', await set(from, `portgroups/${group}`, 'rack-2'));
  expect(await networkOfPort()).toBe('rack-2');
};

/** Which of many nodes an allocation of a node's name is given. */
const givenTo = async (bench: Bench, minor: number, name: string): Promise<string> => {
  const resource_class = name;
  const available = { provision_state: 'available', power_state: 'power off', resource_class };
  for (let others = 0; others < 8; others++) await bench.world(available)('{node}');
  const namesake = await bench.world({ ...available, name })('{node}');
  const { body } = await ask(bench, minor, 'POST /v1/allocations', { name, resource_class });
  await allocateAll({ inventory: createInventory(bench.api.sql), log: bench.api.rooms.log });
  const { body: settled } = await ask(bench, minor, `GET /v1/allocations/${body.uuid}`);
  return settled.node_uuid === namesake ? 'its namesake' : `another: ${settled.node_uuid}, ${settled.last_error}`;
};

export const namesakeComesFirst: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  expect(await givenTo(bench, from, `wanted-${fresh()}`)).toBe('its namesake');
  // Nodes are given later, and not by the version of the caller who asked.
  expect(await givenTo(bench, before, `wanted-${fresh()}`)).toBe('its namesake');
};

const book = (bench: Bench, minor: number, name: string) =>
  ask(bench, minor, 'POST /v1/runbooks', { name, steps: [{ ...step, order: 1 }] });

export const approvalByTraits: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  const [name, trait] = [`CUSTOM_B${fresh()}`, `CUSTOM_M${fresh()}`];
  const { body: runbook } = await book(bench, from, name);
  const use = async (at: number, traits: string[]) => {
    const node = await bench.world({ traits })('{node}');
    const body = { target: 'clean', runbook: runbook.uuid };
    return (await ask(bench, at, `PUT /v1/nodes/${node}/states/provision`, body)).status;
  };
  // Without traits of its own a runbook is approved by its name, at every version.
  expect([await use(before, [name]), await use(from, [name])]).toEqual([202, 202]);
  expectGood('traits', await ask(bench, from, `PUT /v1/runbooks/${runbook.uuid}/traits`, { traits: [trait] }));
  expect([await use(before, [trait]), await use(from, [trait])]).toEqual([400, 202]);
  expect([await use(before, [name]), await use(from, [name])]).toEqual([202, 400]);
  // One made the old way goes on being approved for its nodes, whichever way is asked.
  const old = (await book(bench, before, `CUSTOM_O${fresh()}`)).body;
  expect((await ask(bench, from, `GET /v1/runbooks/${old.uuid}/traits`)).body.traits).toEqual([old.name]);
};

export const runbookNamesAreFree: Show = async (bench, minor) => {
  const { before, from } = sidesOf(minor);
  const name = `nightly-${fresh()}.wipe`;
  expectRefused(name, await book(bench, before, name), 400);
  expectGood(name, await book(bench, from, name));
  // A change takes the new form whatever the version.
  const { body } = await book(bench, before, `CUSTOM_P${fresh()}`);
  const change = [{ op: 'replace', path: '/name', value: `weekly-${fresh()}` }];
  expectGood('renamed', await ask(bench, before, `PATCH /v1/runbooks/${body.uuid}`, change));
};
