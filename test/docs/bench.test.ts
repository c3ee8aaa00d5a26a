/** What `npm run bench` says that it can measure, against the table of its parts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { partNames } from '../../bench/parts';
import { severalTable } from '../../bench/several';

test('the usage names every part, in the order in which they run', () => {
  const usage = readFileSync(join(__dirname, '../../scripts/bench.js'), 'utf8');
  expect(/some parts, comma-separated: (.*)$/m.exec(usage)?.[1]?.split(', ')).toEqual(partNames);
});

test('an API on several processes is shown beside the same on one', () => {
  const cores = { api: 1, client: 0.25, postgres: 0.5 };
  const row = { route: 'node show', processes: 2, perSecond: 3_000, p50: 9, p99: 30, times: 1.5, cores, failed: 0 };
  const [, shown] = severalTable({ connections: 32, rows: [row] });
  expect(shown!.split('\n').at(-1)!.split(/ {2,}/)).toEqual([
    'node show',
    '2',
    '3000',
    '1.50',
    '9.00',
    '30',
    '1.00',
    '0.25',
    '0.50',
    '0',
  ]);
});
