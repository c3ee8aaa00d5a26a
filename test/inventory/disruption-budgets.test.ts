/** Disruption budgets under concurrent admissions, over the real SQL: what is missing of a budget's nodes never passes its limit. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { disruptionBudgets } from '../../src/inventory/disruption-budgets';
import type { NodeUuid } from '../../src/model/ids';
import { always } from '../../src/model/predicates';
import { type DisruptionQuery, mayBeMissing } from '../../src/model/rollouts/disruption';
import { openStores, type Stores } from '../support/stores';

let stores: Stores;
beforeAll(async () => {
  stores = await openStores(8);
});
afterAll(() => stores?.close());

const nodeOf = async (columns: Record<string, unknown> = {}): Promise<NodeUuid> => {
  const { properties = {}, ...rest } = columns;
  const values = { driver: 'fake-hardware', provision_state: 'active', ...rest };
  const [row] = await stores.owner<{ uuid: NodeUuid }[]>`
    insert into nodes ${stores.owner({ ...values, properties: stores.owner.json(properties as never) } as never)} returning uuid`;
  return row!.uuid;
};

const budgetOf = (project: string, max_unavailable: number | string, query: DisruptionQuery = {}) =>
  stores.api.disruptionBudgets.create({ project, query, max_unavailable, min_available: null, description: null });

/** As an admission does: asks the budgets, then takes the node, in one transaction. */
const admit = (node: NodeUuid): Promise<boolean> =>
  stores.owner.begin(async (sql) => {
    if ((await disruptionBudgets(sql).spentFor(node)).length > 0) return false;
    return (
      (
        await sql`
      update nodes set reservation = gen_random_uuid() where uuid = ${node} and reservation is null returning 1`
      ).length === 1
    );
  });

const release = (node: NodeUuid, well: boolean) => stores.owner`
  update nodes set reservation = null, provision_state = ${well ? 'active' : 'service failed'} where uuid = ${node}`;

type Planned = { rack: number; leased: boolean; away: boolean };
const racks = ['r1', 'r2', 'r3'];
const world = fc.record({
  nodes: fc.array(fc.record({ rack: fc.nat({ max: 2 }), leased: fc.boolean(), away: fc.boolean() }), {
    minLength: 2,
    maxLength: 10,
  }),
  budgets: fc.array(
    fc.record({
      of: fc.constantFrom('owner', 'lessee'),
      most: fc.constantFrom(0, 1, 2, 3, '10%', '50%'),
      rack: fc.option(fc.nat({ max: 2 })),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  ends: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
});

const made = async ({ nodes, budgets }: { nodes: readonly Planned[]; budgets: readonly Wished[] }) => {
  const project = { owner: randomUUID() as string, lessee: randomUUID() as string };
  const uuids = await Promise.all(
    nodes.map(({ rack, leased, away }) =>
      nodeOf({
        owner: project.owner,
        lessee: leased ? project.lessee : null,
        properties: { rack: racks[rack] },
        maintenance: away,
      }),
    ),
  );
  const rows = await Promise.all(
    budgets.map(({ of, most, rack }) =>
      budgetOf(project[of], most, rack === null ? {} : { 'properties.rack': [racks[rack]!] }),
    ),
  );
  return { uuids, rows };
};
type Wished = { of: 'owner' | 'lessee'; most: number | string; rack: number | null };

test('two admissions of the same budget never take more than it gives', async () => {
  await fc.assert(
    fc.asyncProperty(world, async ({ nodes, budgets, ends }) => {
      const { uuids, rows } = await made({ nodes, budgets: budgets as Wished[] });
      const before = await Promise.all(rows.map((row) => stores.api.disruptionBudgets.disruption(row, always)));
      for (const _round of [1, 2]) {
        const taken = await Promise.all(uuids.map(admit));
        for (const [at, row] of rows.entries()) {
          const now = await stores.api.disruptionBudgets.disruption(row, always);
          expect(now.unavailable).toBeLessThanOrEqual(Math.max(mayBeMissing(row, now.nodes), before[at]!.unavailable));
        }
        await Promise.all(uuids.flatMap((node, at) => (taken[at] ? [release(node, ends[at]!)] : [])));
      }
    }),
    { numRuns: 25 },
  );
});

test('what is free is taken up to the limit, and the next waits until one is back', async () => {
  const project = randomUUID();
  const [first, second, third] = [
    await nodeOf({ owner: project }),
    await nodeOf({ owner: project }),
    await nodeOf({ owner: project }),
  ];
  const { uuid } = await budgetOf(project, 2);
  expect([await admit(first!), await admit(second!), await admit(third!)]).toEqual([true, true, false]);
  expect(await stores.control.disruptionBudgets.spentFor(third!)).toEqual([{ uuid, project, missing: 2, limit: 2 }]);
  await release(first!, true);
  expect(await admit(third!)).toBe(true);
});

test.each([
  ['in maintenance', { maintenance: true }],
  ['at fault', { fault: 'power failure' }],
  ['held', { reservation: randomUUID() }],
  ['in a state of failure', { provision_state: 'clean failed' }],
])('a node that is %s counts, and may itself be taken', async (_, columns) => {
  const project = randomUUID();
  const away = await nodeOf({ owner: project, ...columns });
  const other = await nodeOf({ lessee: project });
  await budgetOf(project, 1);
  expect(await stores.control.disruptionBudgets.spentFor(other)).toHaveLength(1);
  expect(await stores.control.disruptionBudgets.spentFor(away)).toEqual([]);
});

test.each([
  ['its class', { resource_class: ['gold', 'silver'] }],
  ['a property', { 'properties.rack': ['r1'] }],
  ['its traits', { traits: ['CUSTOM_A', 'CUSTOM_B'] }],
])('a budget chooses nodes by %s and leaves the others alone', async (_, query) => {
  const project = randomUUID();
  const traits = ['CUSTOM_A', 'CUSTOM_B', 'CUSTOM_C'];
  const chosen = await nodeOf({ owner: project, resource_class: 'gold', properties: { rack: 'r1' }, traits });
  const other = await nodeOf({
    owner: project,
    resource_class: 'tin',
    properties: { rack: 'r2' },
    traits: ['CUSTOM_A'],
  });
  const foreign = await nodeOf({ owner: randomUUID(), resource_class: 'gold', properties: { rack: 'r1' }, traits });
  await budgetOf(project, 0, query);
  const spent = await Promise.all(
    [chosen, other, foreign].map((node) => stores.control.disruptionBudgets.spentFor(node)),
  );
  expect(spent.map((found) => found.length)).toEqual([1, 0, 0]);
});
