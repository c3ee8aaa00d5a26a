/** Grouping of faults: each node is in one incident, with those that broke down with it and share what may be the cause. */
import fc from 'fast-check';
import { type Faulty, incidentsOf, type Population, sharingNames } from '../../src/model/incidents';

const minute = 60_000;
const gap = 10 * minute;

const at = (uuid: string, minutes: number, more: Partial<Faulty> = {}): Faulty => ({
  uuid,
  since: minutes * minute,
  rack: null,
  power_feed: null,
  conductor_group: '',
  driver: 'redfish',
  ...more,
});
const many = (nodes: number, more: Partial<Population>): Population => ({
  rack: null,
  power_feed: null,
  conductor_group: '',
  driver: 'redfish',
  ...more,
  nodes,
});
const named = (faults: readonly Faulty[], populations: readonly Population[]) =>
  incidentsOf(faults, populations, gap).map(({ shares, nodes }) => ({
    shares,
    nodes: nodes.map(({ uuid }) => uuid).join(' '),
  }));

const fleet = [
  many(10, { rack: 'r3', power_feed: 'A' }),
  many(10, { rack: 'r3', power_feed: 'B' }),
  many(980, { rack: 'r9' }),
];

test('five nodes of one feed are one incident, and one elsewhere that broke down at the same time is another', () => {
  const feed = { rack: 'r3', power_feed: 'A' };
  const faults = ['a', 'b', 'c', 'd', 'e'].map((uuid, index) => at(uuid, index, feed));
  expect(named([...faults, at('x', 2, { rack: 'r9' })], fleet)).toEqual([
    { shares: { rack: 'r3', power_feed: 'A', conductor_group: '', driver: 'redfish' }, nodes: 'a b c d e' },
    { shares: {}, nodes: 'x' },
  ]);
});

test('most nodes of a group of workers are one incident, however many racks they are in', () => {
  const group = { conductor_group: 'east' };
  const racks = Array.from({ length: 20 }, (_, rack) =>
    [0, 1, 2, 3].map((unit) => at(`${rack}-${unit}`, rack / 4, { ...group, rack: `e${rack}` })),
  );
  const populations = [...racks.map((_, rack) => many(4, { ...group, rack: `e${rack}` })), ...fleet];
  const [only, ...others] = incidentsOf(racks.flat(), populations, gap);
  expect(only).toMatchObject({ shares: { conductor_group: 'east' }, nodes: { length: 80 } });
  expect(only!.shares).not.toHaveProperty('rack');
  expect(others).toEqual([]);
});

test('a few nodes of a common driver share nothing that explains them', () => {
  expect(named([at('a', 0, { rack: 'r1' }), at('b', 1, { rack: 'r2' }), at('c', 2)], fleet)).toEqual([
    { shares: {}, nodes: 'c' },
    { shares: {}, nodes: 'b' },
    { shares: {}, nodes: 'a' },
  ]);
});

test('four nodes of a driver with no others are four incidents, and five are one', () => {
  const faults = ['a', 'b', 'c', 'd', 'e'].map((uuid) => at(uuid, 0));
  expect(incidentsOf(faults.slice(1), [many(4, {})], gap)).toHaveLength(4);
  expect(incidentsOf(faults, [many(5, {})], gap)).toHaveLength(1);
  expect(incidentsOf(faults, [many(7, {})], gap)).toHaveLength(5);
});

test('what began long before is another incident of the same rack', () => {
  const rack = { rack: 'r3' };
  const faults = [at('a', 0, rack), at('b', 5, rack), at('c', 16, rack), at('d', 17, rack)];
  expect(named(faults, fleet).map(({ nodes }) => nodes)).toEqual(['c d', 'a b']);
});

test('nodes without a rack or a feed do not share the lack of one', () => {
  expect(named([at('a', 0), at('b', 0)], [many(100, {})]).map(({ nodes }) => nodes)).toEqual(['b', 'a']);
});

const value = (letters: string) => fc.option(fc.constantFrom(...letters), { nil: null });
const shared = {
  rack: value('abc'),
  power_feed: value('AB'),
  conductor_group: fc.constantFrom('', 'east'),
  driver: fc.constantFrom('redfish', 'ipmi'),
};
const since = fc.integer({ min: 0, max: 120 }).map((minutes) => minutes * minute);
const faulty = fc.record({ ...shared, uuid: fc.uuid(), since });
const faultySet = fc.uniqueArray(faulty, { selector: ({ uuid }) => uuid, maxLength: 40 });
const populations = fc.array(fc.record({ ...shared, nodes: fc.integer({ min: 1, max: 60 }) }), { maxLength: 20 });

test('each node is in exactly one incident', () => {
  fc.assert(
    fc.property(faultySet, populations, (faults, all) => {
      const uuids = incidentsOf(faults, all, gap).flatMap(({ nodes }) => nodes.map(({ uuid }) => uuid));
      expect(uuids.toSorted()).toEqual(faults.map(({ uuid }) => uuid).toSorted());
    }),
  );
});

test('nodes of one incident share what it says and nothing else, and none began long after the one before', () => {
  fc.assert(
    fc.property(faultySet, populations, (faults, all) => {
      for (const { shares, nodes } of incidentsOf(faults, all, gap)) {
        if (nodes.length === 1) expect(shares).toEqual({});
        else expect(Object.keys(shares)).not.toEqual([]);
        for (const by of nodes.length === 1 ? [] : sharingNames) {
          const values = new Set(nodes.map((node) => node[by]));
          const [only] = values;
          expect(shares[by]).toBe(values.size === 1 && only !== null ? only : undefined);
        }
        for (const [index, node] of nodes.entries())
          if (index > 0) expect(node.since - nodes[index - 1]!.since).toBeLessThanOrEqual(gap);
      }
    }),
  );
});

test('the order in which faults are read does not matter', () => {
  fc.assert(
    fc.property(faultySet, populations, fc.infiniteStream(fc.nat()), (faults, all, random) => {
      const shuffled = faults
        .map((fault) => ({ fault, place: random.next().value as number }))
        .toSorted((one, other) => one.place - other.place);
      expect(
        incidentsOf(
          shuffled.map(({ fault }) => fault),
          all,
          gap,
        ),
      ).toEqual(incidentsOf(faults, all, gap));
    }),
  );
});

test('two nodes of one rack that began together are never alone', () => {
  fc.assert(
    fc.property(faultySet, populations, (faults, all) => {
      const alone = incidentsOf(faults, all, gap)
        .filter(({ nodes }) => nodes.length === 1)
        .map(({ nodes }) => nodes[0]!);
      for (const one of alone)
        for (const other of alone)
          if (one !== other && one.rack !== null && one.rack === other.rack && Math.abs(one.since - other.since) <= gap)
            throw new Error(`${one.uuid} and ${other.uuid} are alone`);
    }),
  );
});
