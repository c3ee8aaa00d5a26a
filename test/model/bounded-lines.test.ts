/** Log lines of one sender: a few, and their number. */
import { boundedLines, linesAMinute } from '../../src/model/bounded-lines';

const started = () => {
  const written: [string, object][] = [];
  const later: (() => void)[] = [];
  const say = boundedLines(
    (message, facts) => written.push([message, facts]),
    (call, ms) => {
      expect(ms).toBe(60_000);
      later.push(call);
    },
  );
  const endMinute = () => {
    for (const call of later.splice(0)) call();
  };
  return { written, say, endMinute };
};

test('a sender has so many lines of a kind in a minute, and one that says how many more there were', () => {
  const { written, say, endMinute } = started();
  for (let at = 0; at < linesAMinute + 5; at += 1) say({ sender: '192.0.2.7' }, 'request failed', { at });
  expect(written.map(([, facts]) => facts)).toEqual(Array.from({ length: linesAMinute }, (_, at) => ({ at })));
  say({ sender: '192.0.2.8' }, 'request failed', { at: 'other' });
  say({ sender: '192.0.2.7' }, 'another kind', { at: 'kind' });
  expect(written.slice(linesAMinute).map(([, facts]) => facts)).toEqual([{ at: 'other' }, { at: 'kind' }]);
  endMinute();
  expect(written.slice(linesAMinute + 2)).toEqual([
    ['more of the same in a minute', { says: 'request failed', sender: '192.0.2.7', lines: 5 }],
  ]);
  say({ sender: '192.0.2.7' }, 'request failed', { at: 'next minute' });
  expect(written.at(-1)?.[1]).toEqual({ at: 'next minute' });
});

test('a great many senders count as one', () => {
  const { written, say } = started();
  for (let at = 0; at < 5_000; at += 1) say({ sender: `2001:db8:0:${at.toString(16)}::/56` }, 'request failed', {});
  expect(written.length).toBeLessThanOrEqual(1_000 + linesAMinute);
});
