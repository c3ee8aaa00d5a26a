/** How many nodes and open runs there are, by what people ask for. */
import { randomUUID } from 'node:crypto';
import { connect, type Sql } from '../../src/inventory/database';
import { levels } from '../../src/inventory/levels';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let owner: Sql;
let control: Sql;
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 1 });
  control = connect(database.controlUrl, { max: 1 });
});
afterAll(async () => {
  await Promise.all([owner.end({ timeout: 5 }), control.end({ timeout: 5 })]);
  await database.drop();
});

test('nodes are counted by state, fault and maintenance', async () => {
  const node = { driver: 'fake-hardware', provision_state: 'active', fault: null, maintenance: false };
  const faulty = { ...node, provision_state: 'clean failed', fault: 'clean failure', maintenance: true };
  await owner`insert into nodes ${owner([node, node, faulty])}`;
  expect((await levels(control).nodes()).sort((a, b) => a.count - b.count)).toEqual([
    { state: 'clean failed', fault: 'clean failure', maintenance: true, count: 1 },
    { state: 'active', fault: 'none', maintenance: false, count: 2 },
  ]);
});

test('open runs are counted by verb and state, and those that are tried again as such', async () => {
  const run = async (state: string, error: string | null, ended = false) => {
    const id = randomUUID();
    await owner`
      insert into runs (id, node_uuid, fence, kind, verb, state, input, requester, rule_set, workflow_id, finished_at)
      values (${id}, ${randomUUID()}, 1, 'clean', 'clean', ${state}, '{}', '{}', 'x', 'w', ${ended ? new Date() : null})`;
    await owner`
      insert into run_steps (run_id, index, interface, step, state, last_error) values (${id}, 0, 'power', 'reboot', 'running', ${error})`;
  };
  await run('running', null);
  await run('running', 'The BMC did not answer.');
  await run('parked', 'unknown');
  await run('failed', 'x', true);
  expect((await levels(control).runs()).map(({ verb, state, count }) => [verb, state, count]).sort()).toEqual([
    ['clean', 'parked', 1],
    ['clean', 'retrying', 1],
    ['clean', 'running', 1],
  ]);
});

test('the time that a run has been retrying is that since the first failure of its act, not of others', async () => {
  const id = randomUUID();
  const node = randomUUID();
  await owner`
    insert into runs (id, node_uuid, fence, kind, verb, state, input, requester, rule_set, workflow_id)
    values (${id}, ${node}, 1, 'clean', 'inspect', 'running', '{}', '{}', 'x', 'w')`;
  await owner`
    insert into run_steps (run_id, index, interface, step, state, act, last_error)
    values (${id}, 0, 'power', 'reboot', 'running', 'power_on', 'The BMC did not answer.')`;
  const tried = (act: string, seconds: number, kind = 'run.retrying') => owner`
    insert into events (kind, node_uuid, run_id, data, at)
    values (${kind}, ${node}, ${id}, ${owner.json({ index: 0, act })}, now() - make_interval(secs => ${seconds}))`;
  await tried('power_off', 4_000);
  await tried('power_on', 1_000);
  await tried('power_on', 10, 'step.tried');
  const inspections = async () => (await levels(control).runs()).filter(({ verb }) => verb === 'inspect');
  const [retrying] = await inspections();
  expect(retrying).toMatchObject({ state: 'retrying', count: 1 });
  expect(retrying!.retrying_s).toBeGreaterThanOrEqual(1_000);
  expect(retrying!.retrying_s).toBeLessThan(2_000);
  await owner`update run_steps set last_error = null where run_id = ${id}`;
  expect(await inspections()).toEqual([{ verb: 'inspect', state: 'running', count: 1, retrying_s: 0 }]);
});
