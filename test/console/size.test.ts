/** The console stays as small as it is meant to be: one person can read all of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const mostLines = 4_700;

test('the console has at most 4,700 lines, its style and its script among them', () => {
  const root = join(__dirname, '../../src/console');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(
    ({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8').split('\n').length - 1,
  );
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(['console.css', 'console.js', 'now.tsx']));
  expect(lines.reduce((all, one) => all + one, 0)).toBeLessThanOrEqual(mostLines);
});
