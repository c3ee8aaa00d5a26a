/** A run that fails keeps the code of the last failed attempt of its step, by which its cause is counted. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { heldAct } from '../support/held-act';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';

let database: TestDatabase;
let owner: Sql;
let store: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 4 });
  store = createInventory(owner);
});
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

type Held = Awaited<ReturnType<typeof heldAct>>;
type RunEnd = Parameters<Inventory['runs']['finish']>[1];

const attempted = async ({ lock, step }: Held) => {
  const attempt = { ...lock, token: randomUUID() };
  const key = { index: 0, act: 'power_on', attempt: 1, execution: 'e', activity: 'a', nth: 1, asked_at: 1_000_000 };
  await store.runSteps.begin(attempt, key, step);
  const fails = (code: string) => store.runSteps.tried(attempt, key, { error: `it is ${code}`, code, again: true });
  return { fails, succeeds: () => store.runSteps.end(attempt, key, { is: 'done' }, true) };
};

const end = async ({ lock }: Held, state: RunEnd['state']) => {
  const rest = {
    to: null,
    target: null,
    error: 'x',
    fault: null,
    cursor: 0,
    forgetPower: false,
    forgetInstance: false,
  };
  await store.runs.finish(lock, { state, ...rest });
  const [run] = await owner`select error_code from runs where id = ${lock.run}`;
  return run!.error_code;
};
const held = () => heldAct({ api: store, owner, vault: testVault });

test('the last failed attempt counts, and none that was followed by a success', async () => {
  const failed = await held();
  const { fails } = await attempted(failed);
  await fails('BmcBusy');
  await fails('BmcUnreachable');
  expect(await end(failed, 'failed')).toBe('BmcUnreachable');
  const other = await held();
  const recovered = await attempted(other);
  await recovered.fails('BmcBusy');
  await recovered.succeeds();
  expect(await end(other, 'failed')).toBeNull();
});

test('a run that succeeded has none, and one that waited for its ramdisk has that of its silence', async () => {
  const good = await held();
  await (await attempted(good)).fails('BmcBusy');
  expect(await end(good, 'succeeded')).toBeNull();
  const silent = await held();
  await owner`update runs set awaits = 'heartbeat' where id = ${silent.lock.run}`;
  expect(await end(silent, 'failed')).toBe('AgentTimeout');
});
