/** The table of deviations: every row names a test that is there, and every test has a row. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path: string): string => readFileSync(join(__dirname, '../..', path), 'utf8');

const rows = read('docs/decisions/0005-deviations.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---') && !line.startsWith('| The original |'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const tests = [...read('test/api/deviations.test.ts').matchAll(/^ {2}test\('(.+?)', /gm)].map(([, name]) => name);

test('every row of the table names a test of its own, and every test has a row', () => {
  expect(rows.map((cells) => cells[4]).sort()).toEqual([...tests].sort());
});

test('every row says what the original does and what Temper does', () => {
  for (const cells of rows) expect([cells[1] !== '', cells[2] !== '', cells.length]).toEqual([true, true, 6]);
});
