/** Turns: where only so many runs may work at once, the older go first, and those that wait for a person let others by. */
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { RunUuid } from '../../src/model/ids';
import { heldAct } from '../support/held-act';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';

const vault = testVault;
let database: TestDatabase;
let owner: Sql;
let api: Inventory;
let control: Inventory;
beforeEach(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 2 });
  api = createInventory(connect(database.apiUrl, { max: 2 }));
  control = createInventory(connect(database.controlUrl, { max: 2 }));
});
afterEach(async () => {
  await Promise.all([owner.end(), api.close(), control.close()]);
  await database.drop();
});

/** Two runs of a class in which one may work; `come` asks for the younger. */
const two = async () => {
  const [older, younger] = [await heldAct({ api, owner, vault }), await heldAct({ api, owner, vault })];
  await owner`update runs set limit_class = 'clean', state = 'running'`;
  await owner`update runs set created_at = created_at - interval '1 minute' where id = ${older.lock.run}`;
  const come = (run: RunUuid = younger.lock.run) => control.turns.come(run, { class: 'clean', max: 1 });
  return { older: older.lock, come };
};

test('a younger run waits for one that works, and the older does not wait for it', async () => {
  const { older, come } = await two();
  expect(await come()).toBe(false);
  expect(await come(older.run)).toBe(true);
});

test('a frozen run lets others by, whatever its text says, and takes its turn when it goes on', async () => {
  const { older, come } = await two();
  await control.runs.advance(older, 1, 'waiting', 'Knoten n-1 ist eingefroren', 'freeze');
  expect(await come()).toBe(true);
  await control.runs.advance(older, 2, 'running', null);
  expect(await come()).toBe(false);
});

test('a text that reads like a freeze is none', async () => {
  const { older, come } = await two();
  await control.runs.advance(older, 1, 'waiting', 'Node n-1 is frozen by ice');
  expect(await come()).toBe(false);
});

test.each([['parked'], ['paused']] as const)('a run that is %s lets others by', async (state) => {
  const { older, come } = await two();
  await control.runs.advance(older, 1, state, 'a person');
  expect(await come()).toBe(true);
});

test('a held run lets others by', async () => {
  const { older, come } = await two();
  await control.runs.advance(older, 1, 'waiting', 'unhold');
  expect(await come()).toBe(true);
});
