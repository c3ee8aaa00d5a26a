/** Pages of what grows are planned once for each connection, and read no more of the store than they show, however much is kept. */
import { addFleet, addMonth, firstNode } from '../../bench/growth-fill';
import { planWith } from '../../bench/plans/explain';
import type { Statement } from '../../bench/plans/statements';
import { until } from '../../demo/nodes';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { NodeUuid } from '../../src/model/ids';
import { type TestDatabase, testDatabase } from '../support/servers';

const nodes = 100;
const months = 12;
const node = firstNode as NodeUuid;

let database: TestDatabase;
let reader: Sql;
let inventory: Inventory;
const sent: Statement[] = [];
beforeAll(async () => {
  database = await testDatabase();
  const owner = connect(database.ownerUrl, { max: 1 });
  await addFleet(owner, nodes);
  for (let ago = months - 1; ago >= 0; ago--) await addMonth(owner, nodes, ago);
  // While an autovacuum analyzes, its snapshot keeps a vacuum from marking new pages as visible to all, and an index-only scan reads their rows.
  await until('all rows of runs to be visible to all', 120_000, async () => {
    await owner`vacuum analyze`;
    const [row] = await owner<{ visible: boolean }[]>`
      select bool_and(relallvisible = relpages) as visible from pg_class where oid in ('runs'::regclass, 'run_steps'::regclass)`;
    return row!.visible || undefined;
  });
  await owner.end({ timeout: 5 });
  reader = connect(database.apiUrl, { max: 1 });
  reader.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  inventory = createInventory(reader);
});
afterAll(async () => {
  await inventory?.close();
  await database?.drop();
});

const seen = { is: 'true' } as const;
const all = { ofRuns: seen, ofNodes: seen, ofRollouts: seen, ofTargets: seen };

const pages: readonly [string, () => Promise<readonly unknown[]>][] = [
  ['events of all nodes', () => inventory.allEvents.page({ ...all, limit: 100 })],
  ['events of all nodes, as many as a person asks for', () => inventory.allEvents.page({ ...all, limit: 30 })],
  ['events of a node', () => inventory.allEvents.page({ ...all, node, limit: 30 })],
  ['events after a place', () => inventory.allEvents.after({ tx: '0', seq: 0 }, 500)],
  ['history of a node', () => inventory.history.ofNode(node, { limit: 20, sort_dir: 'desc' })],
  ['history of a node, oldest first', () => inventory.history.ofNode(node, { limit: 20, sort_dir: 'asc' })],
  ['all runs', () => inventory.runList.page({ visible: seen, states: ['any'], limit: 101 })],
  ['runs that succeeded', () => inventory.runList.page({ visible: seen, states: ['succeeded'], limit: 20 })],
  ['runs of a node', () => inventory.runs.ofNode(node, { limit: 30 })],
];

/** How often the statements that this connection has prepared were planned for the values that they were sent with. */
const planned = async (): Promise<number> => {
  const [row] = await reader<{ times: number }[]>`select sum(custom_plans)::int as times from pg_prepared_statements`;
  return row!.times;
};

// Planning anew takes longer than the page. The store plans a statement for its values five times before it looks whether one plan does for all.
test.each(pages)('%s: planned once', async (_name, page) => {
  for (let count = 0; count < 6; count++) await page();
  const before = await planned();
  for (let count = 0; count < 5; count++) await page();
  expect(await planned()).toBe(before);
});

test('a page of runs that succeeded looks for no present step of them', async () => {
  sent.length = 0;
  expect(await inventory.runList.page({ visible: seen, states: ['succeeded'], limit: 100 })).toHaveLength(100);
  const { pages: read } = await planWith(reader, sent.find(({ text }) => text.includes('run_steps'))!);
  // Of each its node (an index of one page, and a row) and the number of its steps (an index of two levels).
  expect(read).toBeLessThan(100 * 5);
});
