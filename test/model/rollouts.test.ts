/** Rollouts as pure functions: waves, domains, bounds, and the name of a plan. */
import fc from 'fast-check';
import { type Amount, boundOf, isAmount, rampedTo } from '../../src/model/rollouts/amounts';
import { byDomain, domainFault, domainOf, type SelectedNode } from '../../src/model/rollouts/domains';
import { type Layout, type Limits, layOut, worstWaves } from '../../src/model/rollouts/layout';
import { planHash } from '../../src/model/rollouts/plan-hash';
import { endedRollouts, rolloutActs, rolloutStates } from '../../src/model/rollouts/states';
import { inOrder, sampleOf, targetOrders, waveSizes } from '../../src/model/rollouts/waves';

const node = (index: number, rack: string | null = null, over: Partial<SelectedNode> = {}): SelectedNode => ({
  uuid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  name: `n${index}`,
  owner: null,
  lessee: null,
  lease_id: null,
  conductor_group: '',
  chassis_uuid: null,
  shard: null,
  resource_class: null,
  parent_node: null,
  properties: rack === null ? {} : { rack },
  ...over,
});

const fleet = fc
  .array(fc.constantFrom('r1', 'r2', 'r3', 'r10', null), { minLength: 1, maxLength: 60 })
  .map((racks) => racks.map((rack, index) => node(index, rack)));
const amount: fc.Arbitrary<Amount> = fc.oneof(
  fc.integer({ min: 1, max: 80 }),
  fc.integer({ min: 1, max: 100 }).map((many) => `${many}%` as const),
);
const bound = fc.record({ by: fc.constantFrom('properties.rack', 'owner'), max: amount });
const limits: fc.Arbitrary<Limits> = fc.record({
  waves: fc
    .array(fc.record({ size: amount, advance: fc.constantFrom('manual', 'auto'), soak_ms: fc.constant(0) }), {
      maxLength: 4,
    })
    .map((waves) => [...waves, { size: 'rest' as const, advance: 'auto' as const, soak_ms: 0 }] as Limits['waves']),
  order: fc.constantFrom(...targetOrders),
  spread: fc.array(bound, { maxLength: 2 }),
  budget: fc.record({ total: amount, each: fc.array(bound, { maxLength: 2 }) }),
  ramp: fc.boolean(),
});
const laidOut = (nodes: readonly SelectedNode[], of: Limits, seed = 's'): Layout<SelectedNode> | undefined => {
  const made = layOut(nodes, of, seed);
  return 'fault' in made ? undefined : made;
};

test('every node is in one wave, no wave is empty, and sizes are those of the waves', () => {
  fc.assert(
    fc.property(fleet, limits, (nodes, of) => {
      const made = laidOut(nodes, of);
      if (!made) return;
      expect(made.targets.map((target) => target.node.uuid).sort()).toEqual(nodes.map(({ uuid }) => uuid).sort());
      expect(made.sizes.every((size) => size > 0)).toBe(true);
      expect(made.sizes.map((_, wave) => made.targets.filter((one) => one.wave === wave).length)).toEqual(made.sizes);
      expect(made.targets.map(({ wave }) => wave)).toEqual(
        [...made.targets.map(({ wave }) => wave)].sort((a, b) => a - b),
      );
    }),
  );
});

test('every node is counted in the total, in its wave and in each of its domains, and every bound admits one node', () => {
  fc.assert(
    fc.property(fleet, limits, (nodes, of) => {
      const made = laidOut(nodes, of);
      if (!made) return;
      const scopes = [...new Set([...of.spread, ...of.budget.each].map(({ by }) => by))].sort();
      for (const { node: one, wave, counters } of made.targets)
        expect(counters.map((number) => made.counters[number - 1]).map((of) => [of?.scope, of?.value])).toEqual([
          ['total', ''],
          ['wave', String(wave)],
          ...scopes.map((by) => [by, domainOf(one, by)]),
        ]);
      for (const { budget, most } of made.counters)
        expect([budget ?? 1, most ?? 1].every((many) => many >= 1)).toBe(true);
    }),
  );
});

test('the order and the plan depend on the nodes and the seed, not on the order in which nodes were found', () => {
  fc.assert(
    fc.property(fleet, limits, fc.string(), (nodes, of, seed) => {
      expect(laidOut([...nodes].reverse(), of, seed)).toEqual(laidOut(nodes, of, seed));
    }),
  );
});

test.each([
  [[1, '5%', '25%', 'rest'], 412, [1, 21, 103, 287]],
  [[1, '5%', '25%', 'rest'], 10, [1, 1, 2, 6]],
  [['33%', '33%', '34%'], 10, [3, 4, 3]],
  [[3], 3, [3]],
] as const)('waves %j of %i nodes have %j', (sizes, all, wanted) => {
  expect(
    waveSizes(
      sizes.map((size) => ({ size })),
      all,
    ),
  ).toEqual({ sizes: wanted });
});

test.each([
  [[1, '1%', 'rest'], 10, /wave 2 would be empty/],
  [[5, 'rest'], 5, /wave 2 would be empty/],
  [['rest', 1], 5, /wave 2 would be empty/],
  [[2], 5, /3 of 5 nodes are in no wave/],
  [['rest'], 0, /wave 1 would be empty/],
] as const)('waves %j of %i nodes are refused', (sizes, all, says) => {
  expect(
    waveSizes(
      sizes.map((size) => ({ size })),
      all,
    ),
  ).toEqual({ fault: expect.stringMatching(says) });
});

test('spread takes one of each rack in turn, domain ends a rack first, and names count as people do', () => {
  const nodes = [node(1, 'r1'), node(2, 'r1'), node(10, 'r2'), node(3, 'r10')];
  const names = (order: 'spread' | 'domain' | 'name') =>
    inOrder(nodes, { order, by: 'properties.rack', seed: '' }).map(({ name }) => name);
  expect(names('spread')).toEqual(['n1', 'n10', 'n3', 'n2']);
  expect(names('domain')).toEqual(['n1', 'n2', 'n10', 'n3']);
  expect(names('name')).toEqual(['n1', 'n2', 'n3', 'n10']);
});

test('a sample is as large as wanted, and the same for the same seed', () => {
  const nodes = Array.from({ length: 40 }, (_, index) => node(index));
  const chosen = sampleOf(nodes, 5, 'a');
  expect(chosen).toHaveLength(5);
  expect(sampleOf([...nodes].reverse(), 5, 'a')).toEqual(chosen);
  expect(sampleOf(nodes, 5, 'b')).not.toEqual(chosen);
});

test.each(['extra.rack', 'extra', 'name', 'driver_info', 'properties.', 'properties.a b', '__proto__', 'constructor'])(
  'no domain is formed by %s',
  (by) => {
    expect(domainFault(by)).toEqual(expect.any(String));
  },
);

test.each([
  'owner',
  'lessee',
  'conductor_group',
  'chassis_uuid',
  'shard',
  'resource_class',
  'parent_node',
  'model',
  'properties.rack',
])('domains are formed by %s', (by) => {
  expect(domainFault(by)).toBeUndefined();
});

test('nodes of unknown rack are one domain, for they may stand in the same', () => {
  const domains = byDomain([node(1), node(2, 'r1'), node(3)], 'properties.rack');
  expect([...domains].map(([value, there]) => [value, there.length])).toEqual([
    ['', 2],
    ['r1', 1],
  ]);
  expect(domainOf(node(1, null, { properties: { u: 4 } }), 'properties.u')).toBe('4');
});

test('a domain has a bound, so that no node can spoil the plan of others', () => {
  const long = node(1, null, { properties: { rack: 'é'.repeat(100_000) } });
  expect(domainOf(long, 'properties.rack')).toBe('é'.repeat(255));
  expect(domainOf({ ...long, properties: { rack: { a: 'x'.repeat(9_000) } } }, 'properties.rack')).toHaveLength(255);
});

test('the worst wave of a domain is the one that has most of its nodes', () => {
  const made = laidOut([node(1, 'r1'), node(2, 'r1'), node(3, 'r2')], {
    waves: [
      { size: 1, advance: 'manual', soak_ms: 0 },
      { size: 'rest', advance: 'auto', soak_ms: 0 },
    ],
    order: 'name',
    spread: [],
    budget: { total: 1, each: [] },
    ramp: false,
  });
  expect(worstWaves(made!.targets, ['properties.rack'])).toEqual([
    { by: 'properties.rack', wave: 0, value: 'r1', nodes: 1 },
  ]);
});

test.each([
  [1, true], ['5%', true], ['0.5%', true], ['100%', true],
  [0, false], [-1, false], [1.5, false], ['0%', false], ['101%', false], ['5', false], ['%', false], [Number.NaN, false], [null, false],
  ['1e1%', false],
])('%j is an amount: %s', (value, wanted) => {
  expect(isAmount(value)).toBe(wanted);
}); // biome-ignore format: a table

test('a bound is rounded down, but one node may always begin', () => {
  expect([boundOf('1%', 10_000), boundOf('1%', 199), boundOf('1%', 10), boundOf(3, 10)]).toEqual([100, 1, 1, 3]);
});

test('what is under way doubles from one', () => {
  expect([0, 1, 2, 3, 6, 7, 1_000].map((done) => rampedTo(done, 40))).toEqual([1, 2, 2, 4, 4, 8, 40]);
});

test('a plan has the same name whatever the order of its keys, and another for other content', () => {
  const plan = { a: 1, targets: [{ x: 1, y: 2 }, 2] };
  expect(planHash({ targets: [{ y: 2, x: 1 }, 2], a: 1, b: undefined })).toBe(planHash(plan));
  expect(planHash({ ...plan, targets: [2, { x: 1, y: 2 }] })).not.toBe(planHash(plan));
  expect(planHash(plan)).toMatch(/^[0-9a-f]{64}$/);
});

test('no act is for a state that there is not, and an ended rollout takes none but a new one that reverts it', () => {
  for (const [act, from] of Object.entries(rolloutActs)) {
    for (const state of from) expect(rolloutStates).toContain(state);
    if (act !== 'rollback') expect(from.filter((state) => endedRollouts.includes(state))).toEqual([]);
  }
});
