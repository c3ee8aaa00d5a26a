/** The judge of rollouts finds what it is there for: journals in which a bound, a wave or a target's story is broken. */

import { randomOf } from '../random';
import { type Bound, type Command, type JudgedTarget, judgeRollout, judgeTenant } from './judge';
import { shapeOf, sizes, troubleOf } from './shapes';

const target = (bmc: number, over: Partial<JudgedTarget> = {}): JudgedTarget => ({
  node: `n${bmc}`,
  bmc,
  rack: bmc % 2 === 0 ? 'even' : 'odd',
  wave: 1,
  state: 'done',
  runs: 1,
  retries: 0,
  again: [],
  ...over,
});
const bound = (scope: string, value: string, budget: number | null, most: number | null): Bound => ({
  scope,
  value,
  budget,
  most,
});
/** `+1 -1`: BMC 1 gets its first command, then its last; `!1` is one that may come once. */
const journal = (text: string): Command[] =>
  text.split(' ').map((word, seq) => ({
    seq,
    bmc: Number(word.slice(1)),
    effect: word.startsWith('!') ? 'once' : 'converge',
    content: word.startsWith('-') ? { IndicatorLED: 'Blinking' } : { ResetType: 'ForceOff' },
  }));

test.each([
  ['one after the other', '+1 -1 +2 -2', []],
  ['two at once', '+1 +2 -1 -2', ['total: 2 harmed or in danger, budget 1', 'total: 2 worked on at once, at most 1']],
  [
    'a second one after one that was left in the middle',
    '+1 +2 -2',
    ['total: 2 harmed or in danger, budget 1', 'n1: done, and its BMC was never given the last command'],
  ],
])('a budget of one: %s', (_, text, wrong) => {
  const targets = [target(1), target(2)];
  expect(judgeRollout({ targets, bounds: [bound('total', '', 1, 1)] }, journal(text))).toEqual(wrong);
});

test('a rack, a wave and a tenant are bounds of their own nodes', () => {
  const targets = [target(1), target(2), target(3), target(4, { wave: 2 })];
  const text = journal('+1 +2 -1 -2 +3 -3 +4 -4');
  const of = (bounds: Bound[]) => judgeRollout({ targets, bounds }, text);
  expect(of([bound('properties.rack', 'odd', 1, 1), bound('wave', '2', 1, null)])).toEqual([]);
  expect(of([bound('wave', '1', 1, null)])).toEqual(['wave 1: 2 harmed or in danger, budget 1']);
  expect(judgeTenant([target(1), target(3)], 1, text)).toEqual([]);
  expect(judgeTenant([target(1), target(2)], 1, text)).toEqual(['disruption budget: 2 missing at once, at most 1']);
  const left = journal('+1 +2 -2');
  expect(judgeTenant([target(1, { state: 'aborted' }), target(2)], 1, left)).toEqual([]);
  expect(judgeTenant([target(1, { state: 'failed' }), target(2)], 1, left)).toHaveLength(1);
});

test('between two attempts a node that has failed is in danger, and not worked on', () => {
  const targets = [target(1, { retries: 1, runs: 2, again: [0] }), target(2)];
  const of = (bounds: Bound[]) => judgeRollout({ targets, bounds }, journal('+1 +2 -2 +1 -1'));
  expect(of([bound('total', '', 2, 1)])).toEqual([]);
  expect(of([bound('total', '', 1, null)])).toEqual(['total: 2 harmed or in danger, budget 1']);
  const beside = judgeRollout({ targets, bounds: [bound('total', '', 2, 1)] }, journal('+1 +2 +1 -2 -1'));
  expect(beside).toEqual(['total: 2 worked on at once, at most 1']);
});

test('a wave that begins before the end of the one before it is found, a retry of an earlier one is none', () => {
  const targets = [target(1), target(2, { wave: 2 })];
  expect(judgeRollout({ targets, bounds: [] }, journal('+1 +2 -1 -2'))).toEqual([
    'wave 2 began before wave 1 was over',
  ]);
  const again = [target(1, { retries: 1, runs: 2 }), target(2, { wave: 2 })];
  expect(judgeRollout({ targets: again, bounds: [] }, journal('+1 +2 -1 -2'))).toEqual([]);
});

test.each([
  [{ runs: 2 }, '+1 -1', 'n1: begun 2 times, tried again 0 times'],
  [{}, '!1 !1 -1', 'n1: its BMC was given 2 times what may be given once'],
  [{ state: 'admitted' }, '+1', 'n1: lost: it is admitted after the end'],
  [{ state: 'pending', runs: 0 }, '+1', 'n1: pending, and its BMC was given something'],
])('a target %j with the journal %s is wrong', (over, text, wrong) => {
  expect(judgeRollout({ targets: [target(1, over)], bounds: [] }, journal(text))).toEqual([wrong]);
});

test('the same seed makes the same rollouts, of sizes that are wanted', () => {
  const made = (seed: number) => {
    const random = randomOf(seed);
    return Array.from({ length: 50 }, () => [shapeOf(random, 500), troubleOf(random, 0.1)] as const);
  };
  expect(made(3)).toEqual(made(3));
  const many = made(4).map(([{ nodes }]) => nodes);
  expect([Math.min(...many) >= sizes.least, Math.max(...many) <= sizes.most]).toEqual([true, true]);
});
