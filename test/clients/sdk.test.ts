/** openstacksdk against a whole system: what automation in Python sees and does, by Keystone's tokens. */
import { join } from 'node:path';
import type { Person } from '../../demo/system';
import { runClient } from '../e2e/support/cli';
import { lease, manageable, projects } from '../e2e/support/nodes';
import { type System, startSystem } from '../e2e/support/system';
import { clientCommand } from '../support/clients';

let system: System;
let operator: Person;

beforeAll(async () => {
  system = await startSystem(2);
  operator = await system.person('operator');
});
afterAll(() => system?.stop());

const walk = join(__dirname, '..', 'clients', 'sdk_walk.py');

const sdk = async (...words: readonly string[]) => {
  const { status, out, err } = await runClient(system, clientCommand('python'), [walk, ...words]);
  if (status !== 0) throw new Error(`sdk_walk.py ${words.join(' ')} ended with ${status}: ${err}`);
  return JSON.parse(out);
};

test('an operator reads all nodes and takes one through its states, waiting as the SDK waits', async () => {
  const names = await manageable(system, operator, 0, 1);
  expect(await sdk('operator', 'nodes')).toEqual({ is: expect.arrayContaining(names) });
  const [node] = names as [string, string];
  expect(await sdk('operator', 'node', node)).toEqual({
    is: expect.objectContaining({ name: node, provision_state: 'manageable', owner: null, is_maintenance: false }),
  });
  expect(await sdk('operator', 'provision', node, 'provide')).toMatchObject({ is: { provision_state: 'available' } });
  expect(await sdk('operator', 'provision', node, 'manage')).toMatchObject({ is: { provision_state: 'manageable' } });
});

test('a lessee runs a runbook on its node, and a stranger finds nothing there', async () => {
  const [name, node] = ['CUSTOM_LIGHT', 'bmc-1'];
  await lease(operator, node, { owner: projects['owner-project'], lessee: projects['lessee-project'] });
  expect(await sdk('operator', 'provision', node, 'adopt')).toMatchObject({ is: { provision_state: 'active' } });
  const steps = [{ interface: 'management', step: 'set_indicator', args: { state: 'blinking' }, order: 1 }];
  await operator.must('POST', '/v1/runbooks', { name, public: true, steps });
  await operator.must('PUT', `/v1/runbooks/${name}/traits/${name}`);
  await operator.must('PUT', `/v1/nodes/${node}/traits/${name}`);

  expect(await sdk('lessee', 'nodes')).toEqual({ is: [node] });
  expect(await sdk('lessee', 'provision', node, 'service', name)).toMatchObject({
    is: { provision_state: 'active', lessee: projects['lessee-project'] },
  });
  expect(await sdk('stranger', 'nodes')).toEqual({ is: [] });
  expect(await sdk('stranger', 'node', node)).toEqual({ refused: 404, says: expect.stringContaining(node) });
});
