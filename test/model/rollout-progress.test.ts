/** Progress of a rollout: parts that sum up, the time that its tightest bound leaves, and the bounds that slow it down. */
import { type Bound, type ProgressFacts, progressOf, type Waiting } from '../../src/model/rollouts/progress';

const total = (change: Partial<Bound> = {}): Bound => ({ number: 1, scope: 'total', value: '', budget: null, most: null, in_flight: 0, failed: 0, parked: 0, ...change }); // biome-ignore format: one row
const rack = (number: number, value: string, change: Partial<Bound> = {}): Bound => total({ number, scope: 'properties.rack', value, ...change }); // biome-ignore format: one row
const idle: Waiting = {
  ready: 0,
  held: 0,
  asked: 0,
  asked_until: null,
  postponed: 0,
  postponed_until: null,
  by: new Map(),
};

const facts = (change: Partial<ProgressFacts> = {}): ProgressFacts => ({
  state: 'running', reason: null, wave: 0, waves: [{ advance: 'auto', size: 10 }], counts: [], bounds: [total()], work: [], waiting: idle, ...change,
}); // biome-ignore format: one row

const pending = (targets: number, wave = 0) => ({ wave, state: 'pending', targets }) as const;
const work = (targets: number, each: number, number = 1, wave = 0) => ({ wave, number, targets, ms: targets * each, longest_ms: each, known: true }); // biome-ignore format: one row

test('parts sum up to the nodes of the waves, without those that the plan refused', () => {
  const counts = [
    { wave: 0, state: 'done', targets: 4 },
    { wave: 0, state: 'failed', targets: 1 },
    { wave: 0, state: 'skipped', targets: 2 },
    { wave: 0, state: 'asked', targets: 1 },
    pending(3),
    pending(5, 1),
    { wave: null, state: 'refused', targets: 9 },
  ] as const;
  const { nodes, ended, parts } = progressOf(facts({ counts, waiting: { ...idle, postponed: 2 } }));
  expect({ nodes, ended }).toEqual({ nodes: 16, ended: 7 });
  expect(parts).toMatchObject({ done: 4, failed: 1, skipped: 2, asked: 1, postponed: 2, pending: 6 });
  expect(Object.values(parts).reduce((sum, one) => sum + one, 0)).toBe(nodes);
});

test.each<[string, Partial<ProgressFacts>, number | null]>([
  ['without a bound, as long as one node', { work: [work(6, 60_000)] }, 60_000],
  ['two at once', { bounds: [total({ most: 2 })], work: [work(6, 60_000)] }, 180_000],
  ['a budget counts failures, which take places', { bounds: [total({ budget: 3, failed: 1 })], work: [work(6, 60_000)] }, 180_000],
  ['the tightest of several bounds', { bounds: [total({ most: 6 }), rack(2, 'r1', { most: 1 })], work: [work(6, 60_000), work(4, 60_000, 2)] }, 240_000],
  ['waves that open by themselves follow one another', { waves: [{ advance: 'auto', size: 6 }, { advance: 'auto', size: 6 }], counts: [pending(6), pending(6, 1)], work: [work(6, 60_000), work(6, 60_000, 1, 1)] }, 120_000],
  ['a bound without room', { bounds: [total({ budget: 2, failed: 2 })], work: [work(6, 60_000)] }, null],
  ['a duration that is not known', { work: [{ ...work(6, 60_000), known: false, ms: null, longest_ms: null }] }, null],
  ['nodes of which no bound is known', { work: [] }, null],
  ['while it is paused', { state: 'paused', work: [work(6, 60_000)] }, null],
])('the time left, %s', (_, change, ms) => {
  expect(progressOf(facts({ counts: [pending(6)], ...change })).time_left_ms).toBe(ms);
}); // biome-ignore format: one case a row

test('no time is left of a rollout that has ended, or whose nodes all wait for tenants', () => {
  expect(progressOf(facts({ state: 'succeeded', counts: [{ wave: 0, state: 'done', targets: 3 }] })).time_left_ms).toBe(0);
  expect(progressOf(facts({ counts: [pending(2)], waiting: { ...idle, postponed: 2 } })).time_left_ms).toBe(0);
}); // biome-ignore format: short lines

test('the time ends at the wave that a person opens', () => {
  const waves = [{ advance: 'auto', size: 1 }, { advance: 'manual', size: 2 }, { advance: 'auto', size: 3 }] as const;
  const progress = progressOf(facts({ waves, counts: [pending(1), pending(2, 1), pending(3, 2)], work: [work(1, 1_000), work(2, 1_000, 1, 1)] }));
  expect(progress).toMatchObject({ until_wave: 2, time_left_ms: 2_000 });
  expect(progress.slowed_by).toEqual([expect.objectContaining({ code: 'person', nodes: 3, says: 'A person opens wave 3.' })]);
}); // biome-ignore format: short lines

const ready = (many: number, change: Partial<Waiting> = {}): Waiting => ({ ...idle, ready: many, ...change });
const saysOf = (change: Partial<ProgressFacts>): string[] =>
  progressOf(facts({ counts: [pending(6)], ...change })).slowed_by.map(({ code, says }) => `${code}: ${says}`);

test('a limit of failures is told as the limit of nodes at once that it also is', () => {
  expect(saysOf({ bounds: [total({ budget: 2, in_flight: 1, failed: 1, most: 8 })], waiting: ready(6) })).toEqual([
    'budget: At most 2 failures also means 2 nodes at once. Failed or parked nodes take 1 place.',
  ]);
  expect(saysOf({ bounds: [total({ budget: 9, in_flight: 4, most: 4 })], waiting: ready(6) })).toEqual(['at_once: At most 4 nodes at once.']);
}); // biome-ignore format: short lines

test('full domains are named, the one with the most nodes first; one that blocks nobody is not', () => {
  const bounds = [total({ most: 9 }), rack(2, 'r1', { most: 1, in_flight: 1 }), rack(3, 'r2', { most: 1, in_flight: 1 }), rack(4, 'r3', { most: 1, in_flight: 1 })];
  expect(saysOf({ bounds, waiting: ready(6, { by: new Map([[2, 1], [3, 5]]) }) })).toEqual([
    'spread: At most 1 node at once in properties.rack r2.',
    'spread: At most 1 node at once in properties.rack r1.',
  ]);
}); // biome-ignore format: short lines

test('locks, tenants and windows are counted, with the first time', () => {
  const until = new Date('2026-11-28T02:00:00Z');
  const waiting = ready(2, { held: 2, asked: 1, asked_until: until, postponed: 3, postponed_until: until });
  const { slowed_by } = progressOf(facts({ counts: [pending(5)], waiting }));
  expect(slowed_by.map(({ code, nodes, until: at }) => [code, nodes, at])).toEqual([['held', 2, null], ['consent', 1, until], ['window', 3, until]]);
}); // biome-ignore format: short lines

test('a reason of the rollout is told if nothing else holds nodes back; nothing slows one that has not begun or has ended', () => {
  expect(saysOf({ reason: 'The identity service does not answer.', waiting: ready(6) })).toEqual(['waits: The identity service does not answer.']);
  expect(saysOf({ state: 'paused', reason: 'Wave 1 is over.' })).toEqual(['paused: Wave 1 is over.']);
  for (const state of ['planned', 'scheduled', 'succeeded', 'aborted'] as const) expect(saysOf({ state, waiting: ready(6) })).toEqual([]);
}); // biome-ignore format: short lines
