/** The guide for operators: what it shows is what the product does. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPolicy, readPolicy } from '../../src/policy';
import { temper } from '../cli/support/command';

const root = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const guide = read('docs/policy.md');

const blocks = (kind: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1]!);

test.each(blocks('yaml').map((text) => [text]))('its file loads without a warning:\n%s', (text) => {
  expect(createPolicy({ set: 'temper', ...readPolicy(text, 'guide.yaml') }).warnings).toEqual([]);
});

/** What stands before `...`, which the guide writes for what differs or is left out. */
const before = (line: string): string => line.replace(/\.\.\.$/, '').trimEnd();

test.each(blocks('console').map((text) => text.split('\n').filter((line) => line !== '')))(
  '%s says what the guide shows',
  async (command, ...shown) => {
    const words = command!.replace('$ temper ', '').split(' ');
    const files = Object.fromEntries(words.filter((word) => word.includes('/')).map((path) => [path, read(path)]));
    const { out } = await temper(words, { files });
    const said = out.split('\n');
    for (const line of shown) expect(said).toContainEqual(expect.stringContaining(before(line)));
  },
);

test('every profile that it names is there', () => {
  const named = [...guide.matchAll(/`(deploy\/policies\/[\w-]+\.yaml)`/g)].map((match) => match[1]!);
  expect(new Set(named).size).toBe(5);
  for (const path of named) expect(read(path)).toMatch(/^#/);
});
