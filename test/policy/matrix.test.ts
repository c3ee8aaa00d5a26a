/** The committed table of what the default policy permits. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicy, renderMatrix } from '../../src/policy';

const committed = join(__dirname, '../../docs/policy-matrix-temper.txt');

test('the committed policy matrix is what the default policy permits', () => {
  expect(readFileSync(committed, 'utf8')).toBe(renderMatrix(createPolicy({ set: 'temper' })));
});

test('a policy file changes the matrix only where it says so', () => {
  const before = renderMatrix(createPolicy({ set: 'temper' })).split('\n');
  const after = renderMatrix(createPolicy({ set: 'temper', overrides: { 'baremetal:node:delete': '!' } })).split('\n');
  const changed = after.filter((line, at) => line !== before[at]);
  expect(after).toHaveLength(before.length);
  expect(new Set(changed.map((line) => line.split(' ')[0]))).toEqual(new Set(['baremetal:node:delete']));
});
