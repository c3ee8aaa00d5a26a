/** Which side of database and engine was restored, read from their marks. */
import { markIn, noteOf, restorable, restored, type StoreMark, suspicionOf } from '../../src/model/runs/recovery';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];
const cluster = { system_id: '7', timeline: 1 };
const store: StoreMark = { ...cluster, count: 5, mark: b, seen: a };

test.each([
  ['nothing before', { ...store, system_id: null, timeline: null, mark: null }, { count: 9, mark: c }, undefined],
  ['the same mark', store, { count: 5, mark: b }, undefined],
  ['a worker that ended between both writes', store, { count: 4, mark: a }, undefined],
  ['an engine without a mark', store, undefined, undefined],
  ['a count that is ahead in the engine', store, { count: 6, mark: c }, 'store'],
  ['a count that is behind in the engine', store, { count: 4, mark: c }, 'engine'],
  ['the same count with another mark', store, { count: 5, mark: c }, 'unknown'],
  ['another cluster', { ...store, system_id: '8' }, { count: 5, mark: b }, 'store'],
  ['another timeline', { ...store, timeline: 2 }, { count: 5, mark: b }, 'store'],
] as const)('%s', (_, given, engine, side) => {
  expect(suspicionOf(given, cluster, engine)?.side).toBe(side);
});

test('a mark is read from the note that was written, and from no other', () => {
  expect(markIn(noteOf({ count: 12, mark: a }))).toEqual({ count: 12, mark: a });
  for (const note of [undefined, '', 'paused by an operator', `temper-mark x ${a}`])
    expect(markIn(note)).toBeUndefined();
});

test('what an operator says was restored is a side of its own, and both of them are neither', () => {
  expect(restorable.map((what) => restored(what).side)).toEqual(['store', 'engine', 'unknown']);
});
