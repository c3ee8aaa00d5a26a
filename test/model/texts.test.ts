/** Texts from machines: what the store refuses is replaced, and nothing else is touched. */
import { storable } from '../../src/model/texts';

test('NUL and halves of surrogate pairs are replaced wherever they stand, in keys too', () => {
  const half = '\ud83d';
  expect(storable({ 'ke\0y': ['a\0b', { deep: `x${half}` }] })).toEqual({
    'ke\ufffdy': ['a\ufffdb', { deep: 'x\ufffd' }],
  });
});

test('whole pairs, line breaks and what is no text stay as they are', () => {
  const document = { text: 'line 1\nline 2 \u{1f600}', number: 7, flag: false, nothing: null, list: [] };
  expect(storable(document)).toEqual(document);
  expect(storable(undefined)).toBeUndefined();
});

test('a document of any depth is walked to its end, and what lies too deep is left out', () => {
  const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  expect(storable(deep(50))).toEqual(deep(50));
  expect(JSON.stringify(storable(deep(100_000))).length).toBeLessThan(300);
});
