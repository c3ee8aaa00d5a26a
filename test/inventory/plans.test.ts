/** No list and no lookup of the API reads a large table from one end to the other, whatever it is filtered and sorted by. */
import { type Asked, allAsked, summaries } from '../../bench/plans/asked';
import { faultsOf, isSortedWhole } from '../../bench/plans/expected';
import { planForAny, planWith } from '../../bench/plans/explain';
import { allFaults, type Looked, lookAtPlans } from '../../bench/plans/look';
import { seed } from '../../bench/plans/seed';
import { statementsOf } from '../../bench/plans/statements';
import { connect, type Sql } from '../../src/inventory/database';
import { type TestDatabase, testDatabase } from '../support/servers';

// Enough for the store to prefer an index where there is one.
const nodes = 20_000;

let database: TestDatabase;
let api: Sql;
let looked: Looked[];

// Orders without an index are known to read everything, and take most of the time.
const requests = allAsked(nodes).filter((asked) => !isSortedWhole(asked));

beforeAll(async () => {
  database = await testDatabase();
  const owner = connect(database.ownerUrl, { max: 1 });
  await seed(owner, nodes);
  await owner.end();
  api = connect(database.apiUrl, { max: 1 });
  looked = await lookAtPlans(api, database.apiUrl, requests);
});
afterAll(async () => {
  await api.end({ timeout: 5 });
  await database.drop();
});

test('every list and lookup finds what it shows by an index, with its values and planned for any', () => {
  expect(allFaults(looked)).toEqual([]);
});

test('every request that was looked at has asked the store', () => {
  // One that asks what another has asked before is not counted again.
  const silent = (path: string) => looked.every(({ asked }) => asked.path !== path);
  const lists = [
    '/v1/nodes',
    '/v1/ports',
    '/v1/portgroups',
    '/v1/allocations',
    '/v1/runbooks',
    '/temper/v1/runs',
    '/temper/v1/rollouts',
  ];
  expect(lists.filter(silent)).toEqual([]);
  expect(looked.length).toBeGreaterThan(requests.length / 2);
});

test('a page at the end of the list looks at no more than the first', async () => {
  const page = (marker: boolean): Looked[] =>
    looked.filter(
      ({ asked: { path }, text }) =>
        /^\/v1\/nodes\?/.test(path) && path.includes('marker=') === marker && /limit/.test(text),
    );
  const most = (of: readonly Looked[]): number => Math.max(...of.map(({ withValues }) => withValues.rowsRead));
  const unfiltered = page(false).filter(({ asked: { path } }) => /sort_(key|dir)=/.test(path));
  expect(most(page(true))).toBeLessThan(2 * most(unfiltered));
});

test('all nodes are counted in the indexes of what they are counted by, and a tenant’s are found by theirs', async () => {
  const asked = [...summaries, '/temper/v1/incidents'].flatMap((path) =>
    (['operator', 'lessee'] as const).map((as) => ({ as, path })),
  );
  for (const { as, path } of asked)
    for (const statement of await statementsOf(database.apiUrl, [{ as, path }])) {
      const { shape, wholeTables } = await planWith(api, statement);
      expect({ as, path, shape, wholeTables }).toEqual({
        as,
        path,
        shape: expect.stringMatching(/ nodes_(by_|counted|faulty)/),
        wholeTables: [],
      });
    }
});

test('a statement without an index for it would be noticed', async () => {
  const statement = { text: `select uuid from nodes where driver_info->>'redfish_system_id' = $1`, values: ['none'] };
  const asked: Asked = { as: 'operator', path: '/v1/nodes?made_up=1' };
  const plans = { withValues: await planWith(api, statement), forAny: await planForAny(api, statement) };
  expect(faultsOf(asked, plans)).toEqual([
    expect.stringContaining('reads all of nodes with these values'),
    expect.stringContaining('reads all of nodes planned for any values'),
    expect.stringContaining(`looks at ${nodes} rows`),
  ]);
});
