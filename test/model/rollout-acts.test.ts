/** Acts on rollouts and targets: the states that the API admits, and why a target has not begun. */
import type { GateRecord } from '../../src/model/rollouts/gates';
import {
  offeredRolloutActs,
  rolloutStateSays,
  rolloutWill,
  targetActs,
  targetStateSays,
  whyNotBegun,
} from '../../src/model/rollouts/rollout-acts';
import { rolloutActs, rolloutStates, type targetStates } from '../../src/model/rollouts/states';

test('an act is off exactly in the states in which the API refuses it', () => {
  for (const act of ['submit', 'start', 'pause', 'abort', 'adopt'] as const)
    for (const state of rolloutStates)
      expect({ act, state, off: rolloutStateSays(act, { state }) !== undefined }).toEqual({
        act,
        state,
        off: !(rolloutActs[act] as readonly string[]).includes(state),
      });
  expect(Object.keys(rolloutWill).sort()).toEqual([...offeredRolloutActs].sort());
});

test('at the end of a wave a rollout is advanced, at every other pause it is resumed', () => {
  const gate = { state: 'paused', code: 'wave_gate' } as const;
  const stop = { state: 'paused', code: 'operator' } as const;
  expect(rolloutStateSays('advance', gate)).toBeUndefined();
  expect(rolloutStateSays('resume', gate)).toBe('The rollout waits at the end of a wave; advance it.');
  expect(rolloutStateSays('resume', stop)).toBeUndefined();
  expect(rolloutStateSays('advance', stop)).toBe('The rollout does not wait at the end of a wave.');
});

test('the answer of a gate at the end of a wave is passed by advance, that of a guard is not', () => {
  const gate: GateRecord = { answer: 'fail', note: '', at: 'a', since: 'a', until: null };
  const failed = { state: 'paused', code: 'gate_failed', wave: 2 } as const;
  const advance = (kept: GateRecord | null, code = 'gate_failed') =>
    rolloutStateSays('advance', { ...failed, code, waves: [{ gate: null }, { gate: kept }] });
  expect(advance(gate)).toBeUndefined();
  expect(advance({ ...gate, answer: 'inconclusive' }, 'gate_inconclusive')).toBeUndefined();
  for (const kept of [
    null,
    { ...gate, answer: 'pass' } as const,
    { ...gate, answer: 'later' } as const,
    { ...gate, answer: 'inconclusive' } as const,
  ])
    expect(advance(kept)).toBe('The rollout does not wait at the end of a wave.');
  expect(advance({ ...gate, passed: { by: 'ana', reason: 'seen', at: 'b' } })).toBeDefined();
  expect(rolloutStateSays('resume', { ...failed, waves: [{}, { gate }] })).toBeUndefined();
});

test('a node is answered for until it has begun, and tried again when it has failed', () => {
  const possible = (state: (typeof targetStates)[number], rollout: (typeof rolloutStates)[number]) =>
    targetActs.filter((act) => targetStateSays(act, { state }, { state: rollout }) === undefined);
  expect(possible('pending', 'running')).toEqual(['consent', 'refuse', 'skip']);
  expect(possible('asked', 'planned')).toEqual(['consent', 'refuse']);
  expect(possible('failed', 'paused')).toEqual(['retry']);
  for (const state of ['admitted', 'soaking', 'done', 'parked', 'aborted', 'skipped', 'refused'] as const)
    expect(possible(state, 'running')).toEqual([]);
});

const now = Date.parse('2026-11-22T12:00:00Z');
const pending = { state: 'pending', wave: 2, code: null, reason: null, not_before: null } as const;
const total = { scope: 'total', value: '', budget: 2, most: null, in_flight: 0, failed: 0, parked: 0 };
const running = { state: 'running', wave: 2, counters: [total] } as const;

test.each([
  ['a plan', { state: 'planned' }, pending, /not started/],
  ['an unapproved plan', { state: 'awaiting_approval' }, pending, /waits for its approval/],
  ['a pause', { state: 'paused', reason: 'The budget of 2 is spent.' }, pending, /is paused: The budget of 2 is spent/],
  [
    'a time of the whole',
    { state: 'scheduled', start_at: '2026-11-22T18:00:00Z' },
    pending,
    /automatically at 2026-11-22T18/,
  ],
  [
    'its worker',
    { ...running, reason: 'A control worker begins nothing.' },
    pending,
    /^A control worker begins nothing/,
  ],
  [
    'a window',
    running,
    { ...pending, not_before: '2026-11-22T13:00:00Z', reason: 'Not long enough.' },
    /^Not long enough/,
  ],
  ['an end', { state: 'aborted' }, pending, /is aborted; no more nodes are started/],
  ['an earlier wave', { ...running, wave: 1 }, pending, /Wave 2 is not open; wave 1/],
  ['a time', running, { ...pending, not_before: '2026-11-22T13:00:00Z' }, /has postponed it/],
  ['a budget', { ...running, counters: [{ ...total, failed: 1, in_flight: 1 }] }, pending, /of the rollout has no room: 1 failed, 0 parked and 1 under way, of 2/], // biome-ignore format: one row
  [
    'a bound',
    { ...running, counters: [{ ...total, budget: null, most: 3, in_flight: 3 }] },
    pending,
    /limit of the rollout is reached: 3 nodes/,
  ],
  ['its wave', { ...running, counters: [{ ...total, scope: 'wave', value: '2', in_flight: 2 }] }, pending, /wave 2 has no room/], // biome-ignore format: one row
  ['a tenant', running, { ...pending, code: 'leased' }, /asked when its turn comes/],
  ['its turn', running, pending, /Its turn comes/],
  ['an open question', running, { ...pending, state: 'asked' }, /asked first/],
  ['the plan', running, { ...pending, state: 'refused', reason: 'The node is frozen.' }, /^The node is frozen\.$/],
] as const)('a node has not begun because of %s', (_, rollout, target, why) => {
  expect(whyNotBegun(rollout, target, now)).toMatch(why);
});

test('of another wave’s counter, and of a time that has come, it says nothing', () => {
  const other = { ...running, counters: [{ ...total, scope: 'wave', value: '1', in_flight: 2 }] };
  expect(whyNotBegun(other, { ...pending, not_before: '2026-11-22T11:00:00Z' }, now)).toMatch(/Its turn comes/);
});

test('what has begun needs no reason', () => {
  for (const state of ['admitted', 'soaking', 'done', 'failed', 'parked', 'aborted'] as const)
    expect(whyNotBegun(running, { ...pending, state }, now)).toBeUndefined();
});
