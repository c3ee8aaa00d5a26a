/** How much of a change is recorded: digests in place of long values, and a bound of the row. */
import { sha256Of } from '../../src/model/digests';
import { longestRecord, longestRecorded, recorded } from '../../src/model/resources/recorded';

const textOf = (bytes: number): string => 'x'.repeat(bytes - 2);

test('a value of 4 KiB is kept, and of one byte more its size and its SHA-256', () => {
  expect(recorded({ a: textOf(longestRecorded) })).toEqual({ a: textOf(longestRecorded) });
  const long = textOf(longestRecorded + 1);
  expect(recorded({ a: long, b: 1 })).toEqual({
    a: { $bytes: longestRecorded + 1, $sha256: sha256Of(`"${long}"`) },
    b: 1,
  });
});

test('sizes are bytes, not characters', () => {
  expect(recorded({ a: 'ü'.repeat(3_000) })).toMatchObject({ a: { $bytes: 6_002 } });
});

test('the order in which keys were written does not change a digest', () => {
  const [one, other] = [{ x: { a: 1, b: textOf(5_000) } }, { x: { b: textOf(5_000), a: 1 } }];
  expect(recorded({ changed: one })).toEqual(recorded({ changed: other }));
});

test.each([
  ['few long documents', { a: Array(200).fill(textOf(1_000)), b: 'kept' }, ['a', 'b']],
  [
    'many documents',
    Object.fromEntries(Array.from({ length: 40 }, (_, n) => [n, textOf(4_000)])),
    ['$bytes', '$sha256'],
  ],
])('a row of %s passes no 64 KiB', (_of, data, left) => {
  const kept = recorded(data);
  expect(JSON.stringify(kept).length).toBeLessThanOrEqual(longestRecord);
  expect(Object.keys(kept)).toEqual(left);
});

test('no plan of a run whose steps are short loses one of them', () => {
  const steps = Array.from({ length: 60 }, () => ({ interface: 'bios', step: 'apply', args: { to: textOf(900) } }));
  expect(recorded({ verb: 'clean', steps })).toEqual({ verb: 'clean', steps });
});
