/** Allocations, typed into the real `baremetal` client against a whole system: asked for, waited for, used and given back. */
import { type Cli, cliOf, refusal } from '../e2e/support/cli';
import { projects } from '../e2e/support/nodes';
import { type System, startSystem } from '../e2e/support/system';

let system: System;
let cli: Cli;
const wait = ['--wait', '120'];

/** A node that does nothing, available. */
const freeNode = async (name: string, owner: string): Promise<void> => {
  const words = ['--driver', 'fake-hardware', '--resource-class', 'gold', '--owner', owner];
  await cli.does('operator', 'node', 'create', '--name', name, ...words);
  await cli.does('operator', 'node', 'manage', name, ...wait);
  await cli.does('operator', 'node', 'set', name, '--no-automated-clean');
  await cli.does('operator', 'node', 'provide', name, ...wait);
};

beforeAll(async () => {
  system = await startSystem(0);
  cli = cliOf(system);
  await Promise.all([freeNode('free-1', projects['owner-project']), freeNode('free-2', projects['lessee-project'])]);
  await cli.does('operator', 'node', 'trait', 'add', 'free-1', 'CUSTOM_FAST');
});
afterAll(() => system?.stop());

const nodeNamed = async (name: string): Promise<Record<string, unknown>> =>
  cli.json('operator', 'node', 'show', name, '--fields', 'uuid', 'allocation_uuid', 'instance_uuid', 'instance_info');

test('a member of a project asks for a node with a trait, waits, and has one of the project', async () => {
  const words = ['--resource-class', 'gold', '--trait', 'CUSTOM_FAST', '--name', 'web', '--candidate-node', 'free-1'];
  const made = await cli.json('owner', 'allocation', 'create', ...words, ...wait);
  const node = await nodeNamed('free-1');
  expect(made).toMatchObject({ name: 'web', state: 'active', node_uuid: node.uuid, owner: projects['owner-project'] });
  expect(node).toMatchObject({
    allocation_uuid: made.uuid,
    instance_uuid: made.uuid,
    instance_info: { traits: ['CUSTOM_FAST'] },
  });
});

test('a project that has none left is refused for it, and never gets another’s', async () => {
  const none = await cli('owner', 'allocation', 'create', '--resource-class', 'gold', '--name', 'more', ...wait);
  expect(none.status).not.toBe(0);
  expect(none.err).toContain('no available nodes match the resource class gold');
  expect(await nodeNamed('free-2')).toMatchObject({ allocation_uuid: null });
});

test('a project sees and lists its own only, and a reader changes nothing', async () => {
  const listed = async (who: string, ...words: string[]) =>
    (await cli.json(who, 'allocation', 'list', '--fields', 'name', ...words)).map(
      (row: Record<string, unknown>) => Object.values(row)[0],
    );
  expect(await listed('owner-reader')).toEqual(['web', 'more']);
  expect(await listed('owner-reader', '--state', 'active')).toEqual(['web']);
  expect(await listed('operator', '--owner', projects['owner-project'])).toEqual(['web', 'more']);
  expect(await listed('stranger')).toEqual([]);
  expect(await cli('stranger', 'allocation', 'show', 'web')).toEqual(refusal(404, 'Allocation web could not be found'));
  expect(await cli('owner-reader', 'allocation', 'delete', 'web')).toMatchObject({ status: 1 });
  const asked = ['--resource-class', 'gold', '--owner', projects['lessee-project']];
  expect(await cli('owner', 'allocation', 'create', ...asked)).toEqual(
    refusal(403, 'baremetal:allocation:create. Leave out owner'),
  );
});

test('name and extra are set and unset', async () => {
  await cli.does('owner', 'allocation', 'set', 'web', '--name', 'db', '--extra', 'a=1');
  expect(await cli.json('owner', 'allocation', 'show', 'db')).toMatchObject({ name: 'db', extra: { a: 1 } });
  await cli.does('owner', 'allocation', 'unset', 'db', '--extra', 'a');
  expect(await cli.json('owner', 'allocation', 'show', 'db')).toMatchObject({ extra: {} });
});

test('the node is deployed, is not taken away while it runs, and is free after it is undeployed', async () => {
  await cli.does('operator', 'node', 'deploy', 'free-1', ...wait);
  const refused = await cli('owner', 'allocation', 'delete', 'db');
  expect([refused.status, refused.err]).toEqual([1, expect.stringContaining('while node')]);
  await cli.does('operator', 'node', 'undeploy', 'free-1', ...wait);
  expect(await cli('operator', 'allocation', 'show', 'db')).toEqual(refusal(404, 'Allocation db could not be found'));
  expect(await nodeNamed('free-1')).toMatchObject({ allocation_uuid: null, instance_uuid: null });
});

test('a node that is in use already is recorded as allocated, and given back', async () => {
  await cli.does('operator', 'node', 'deploy', 'free-2', ...wait);
  const made = await cli.json('operator', 'allocation', 'create', '--node', 'free-2', '--name', 'old');
  expect(made).toMatchObject({ state: 'active', resource_class: 'gold' });
  await cli.does('operator', 'node', 'maintenance', 'set', 'free-2');
  await cli.does('operator', 'allocation', 'delete', 'old');
  expect(await nodeNamed('free-2')).toMatchObject({ allocation_uuid: null, instance_uuid: null });
});
