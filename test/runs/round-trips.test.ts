/** How often a run waits for an answer of the store: what it costs a run where the store is not on the same machine. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { ProvisionState } from '../../src/model/lifecycle/states';
import { accept } from '../../src/runs/accept';
import type { RunOrder } from '../../src/runs/contract';
import { endRun } from '../../src/runs/ending';
import { quickTiming } from '../support/engine';
import { heldAct, runActOf } from '../support/held-act';
import { recordingDriver } from '../support/recording-driver';
import { type TestDatabase, testDatabase } from '../support/servers';
import { type CountedWay, countedWay } from '../support/turns-taken';
import { testVault } from '../support/vault';

let database: TestDatabase;
let owner: Sql;
let api: Inventory;
let way: CountedWay;
let counted: Inventory;

beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 2 });
  api = createInventory(connect(database.apiUrl, { max: 2 }));
});
afterAll(async () => {
  await Promise.all([owner.end({ timeout: 1 }), api.close()]);
  await database.drop();
});

/** The store of a role, on one connection whose turns are counted. */
const countedAs = async (url: string): Promise<void> => {
  way = await countedWay(url);
  counted = createInventory(connect(way.url, { max: 1 }));
};
afterEach(async () => {
  await counted.close();
  await way.close();
});

/**
 * The turns of the last of some times, when the connection knows every statement; `before` makes what each is done on, which is
 * not counted.
 */
const turnsOf = async <Given>(before: () => Promise<Given>, work: (given: Given) => Promise<unknown>) => {
  let turns = 0;
  for (let time = 0; time < 3; time++) {
    const given = await before();
    way.taken();
    await work(given);
    turns = way.taken();
  }
  return turns;
};

/** The order of a run on a node that nothing holds. */
const freeOrder = async (): Promise<RunOrder> => {
  const { lock, step } = await heldAct({ api, owner, vault: testVault });
  await owner`update runs set finished_at = now(), state = 'succeeded' where id = ${lock.run}`;
  await owner`update nodes set reservation = null, provision_state = 'manageable' where uuid = ${lock.node_uuid}`;
  return {
    node: {
      uuid: lock.node_uuid,
      name: null,
      driver: 'fake-hardware',
      conductor_group: '',
      provision_state: 'manageable' as ProvisionState,
    },
    verb: 'clean',
    kind: 'clean',
    event: 'clean',
    ends: 'done',
    fault: null,
    steps: [step],
    ramdisk: {},
    asked: {
      requester: { user_name: 't', user_id: null, request_id: 'r' },
      origin: {},
      rule: 'r',
      rule_set: 's',
    },
  } as unknown as RunOrder;
};

test('an acceptance waits four times: to begin, to take the node, to write what belongs to it, to commit', async () => {
  await countedAs(database.apiUrl);
  const deps = { inventory: counted, vault: testVault, timing: quickTiming };
  expect(await turnsOf(freeOrder, (order) => accept(order, deps))).toBe(4);
});

test('an acceptance that ends its run waits twice more: for the node, and to write the end', async () => {
  await countedAs(database.apiUrl);
  const deps = { inventory: counted, vault: testVault, timing: quickTiming };
  const withoutSteps = async () => ({ ...(await freeOrder()), steps: [] });
  expect(await turnsOf(withoutSteps, (order) => accept(order, deps))).toBe(6);
});

test('an act waits twice: to begin, with what stands before it, and to end', async () => {
  await countedAs(database.bmcUrl);
  const { driver } = recordingDriver({});
  const runAct = runActOf(counted, driver);
  const environment = () => new MockActivityEnvironment({ workflowExecution: { workflowId: 'w', runId: 'e1' } });
  const held = () => heldAct({ api, owner, vault: testVault });
  expect(await turnsOf(held, (input) => environment().run(runAct, input))).toBe(2);
});

test('an act that switches the node off waits four times more: what its ramdisk left is forgotten in one transaction', async () => {
  await countedAs(database.bmcUrl);
  const { driver } = recordingDriver({});
  const runAct = runActOf(counted, driver);
  const environment = () => new MockActivityEnvironment({ workflowExecution: { workflowId: 'w', runId: 'e1' } });
  const held = async () => ({ ...(await heldAct({ api, owner, vault: testVault })), act: 'power_off' as const });
  expect(await turnsOf(held, (input) => environment().run(runAct, input))).toBe(6);
});

test('the end of a run waits four times: to begin, for its node, to write all, to commit', async () => {
  await countedAs(database.controlUrl);
  const ended = ({ lock }: Awaited<ReturnType<typeof heldAct>>) =>
    counted.transaction((store) =>
      endRun(store, {
        lock,
        outcome: 'succeeded',
        ends: 'manage',
        fault: null,
        error: null,
        cursor: 1,
        power: null,
      }),
    );
  expect(await turnsOf(() => heldAct({ api, owner, vault: testVault }), ended)).toBe(4);
});
