/** The committed tables of what each set permits. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicy, renderMatrix } from '../../src/policy';

test.each(['temper', 'ironic', 'closed'] as const)('the committed matrix of set %s is what it permits', (set) => {
  const committed = join(__dirname, `../../docs/policy-matrix-${set}.txt`);
  expect(readFileSync(committed, 'utf8')).toBe(renderMatrix(createPolicy({ set })));
});

test('a policy file changes the matrix only where it says so', () => {
  const before = renderMatrix(createPolicy({ set: 'temper' })).split('\n');
  const after = renderMatrix(createPolicy({ set: 'temper', overrides: { 'baremetal:node:delete': '!' } })).split('\n');
  const changed = after.filter((line, at) => line !== before[at]);
  expect(after).toHaveLength(before.length);
  expect(new Set(changed.map((line) => line.split(' ')[0]))).toEqual(new Set(['baremetal:node:delete']));
});
