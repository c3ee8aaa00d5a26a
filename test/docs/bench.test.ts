/** What `npm run bench` says that it can measure, against the table of its parts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { partNames } from '../../bench/parts';

test('the usage names every part, in the order in which they run', () => {
  const usage = readFileSync(join(__dirname, '../../scripts/bench.js'), 'utf8');
  expect(/some parts, comma-separated: (.*)$/m.exec(usage)?.[1]?.split(', ')).toEqual(partNames);
});

test('the parts can be imported: no program of a helper comes with them, which would listen to the channel of this process', () => {
  expect(process.listenerCount('disconnect')).toBe(0);
});
