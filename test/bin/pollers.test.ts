/** Which workers ask for work now, among those that Temporal lists. */
import { askingNow } from '../../src/process/temporal/pollers';

const nowMs = Date.parse('2026-11-23T15:22:31Z');
/** One that asked so many seconds ago; the engine's numbers have 64 bits, and are no numbers. */
const ago = (seconds: number) => ({ lastAccessTime: { seconds: { toString: () => String(nowMs / 1_000 - seconds) } } });

test('a worker that asked within a minute and a half counts, one that has ended since does not', () => {
  expect(askingNow([ago(0), ago(55), ago(109), ago(296)], nowMs)).toEqual({ asking: 2, lastMs: 0 });
  expect(askingNow([ago(296), ago(109)], nowMs)).toEqual({ asking: 0, lastMs: 109_000 });
});

test('an engine whose clock is ahead has workers that ask', () =>
  expect(askingNow([ago(-5)], nowMs)).toEqual({ asking: 1, lastMs: -5_000 }));

test('none was ever there', () => expect(askingNow([], nowMs)).toEqual({ asking: 0, lastMs: null }));
