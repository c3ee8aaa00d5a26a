/** What a restored record takes over from a workflow that went on; without servers. */
import type { RunRow } from '../../src/inventory/runs/runs';
import { catchUp, type KnownRamdisk } from '../../src/runs/catching-up';
import type { Projected } from '../../src/workflows/contract';
import { type Answers, storeOf } from '../support/run-doubles';

const run = { id: 'r1', node_uuid: 'u1', fence: 3 } as unknown as RunRow;
const lock = { run: 'r1', node_uuid: 'u1', fence: 3 };
const held = { 'runs.held': { provision_state: 'cleaning', owner: 'p', lessee: null }, 'runs.advance': true };
const at = (more: Partial<Projected>): Projected => ({
  seq: 7,
  state: 'running',
  cursor: 2,
  waitingFor: null,
  error: null,
  provision_state: 'cleaning',
  steps: [],
  ending: null,
  awaits: null,
  contactSeq: 0,
  ...more,
});

/** The names of what was asked of the store, and the marks that were put on steps. */
const caughtUp = async (now: Partial<Projected>, ramdisk: KnownRamdisk = 'known', answers: Answers = held) => {
  const store = storeOf(answers);
  await catchUp(run, at(now), ramdisk, store.inventory as Parameters<typeof catchUp>[3]);
  return { asked: store.calls.map(([call]) => call), marks: store.of('runSteps.mark') };
};

test.each([
  ['waiting', null],
  ['parked', 'Did the erasure end?'],
] as const)('a run that is %s in its workflow has its step say so', async (state, error) => {
  expect((await caughtUp({ state, error })).marks).toEqual([[lock, 2, state, { error }]]);
});

test('a run that goes on in its workflow has no step marked', async () => {
  const { asked, marks } = await caughtUp({ state: 'running' });
  expect(asked).toContain('contacts.await');
  expect(marks).toEqual([]);
});

test('a record that has all that the workflow wrote is left as it is', async () => {
  const { asked } = await caughtUp({ state: 'waiting' }, 'known', { ...held, 'runs.advance': false });
  expect(asked.filter((call) => /mark|await|moveNode/.test(call))).toEqual([]);
});

test.each([
  ['as new as', 7, true],
  ['newer than', 8, false],
])('in a record %s the answer of its workflow the node is moved to its state: %s', async (_what, seq, moved) => {
  const deleting = { provision_state: 'deleting', owner: 'p', lessee: null };
  const answers = { 'runs.held': deleting, 'runs.seqOf': seq, 'runs.advance': false };
  const { asked, marks } = await caughtUp({ state: 'waiting' }, 'known', answers);
  expect([asked.includes('runs.moveNode'), marks]).toEqual([moved, []]);
});

test.each([
  ['known', false],
  ['lost', true],
  ['booted before', true],
] as const)('a ramdisk that is %s is forgotten: %s', async (ramdisk, forgotten) => {
  expect((await caughtUp({}, ramdisk)).asked.includes('agents.forget')).toBe(forgotten);
});

test.each([
  ['whose workflow has ended', { state: 'succeeded' }, held],
  ['that does not hold its node any more', {}, { ...held, 'runs.held': undefined }],
] as const)('a run %s is not caught up with', async (_what, now, answers) => {
  const { asked } = await caughtUp(now, 'lost', answers);
  expect(asked.filter((call) => call !== 'runs.held')).toEqual([]);
});
