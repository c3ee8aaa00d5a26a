/** What to do about alerts and symptoms: each alert has its section, and what is to be typed is a command that there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { temper } from '../cli/support/command';

const read = (path: string): string => readFileSync(join(__dirname, '../..', path), 'utf8');
const pages = ['docs/alerts.md', 'docs/symptoms.md'] as const;

type Rule = { readonly alert?: string; readonly annotations?: { readonly description: string } };
const rules = (parse(read('deploy/prometheus/temper-rules.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const alerts = rules.flatMap(({ alert }) => (alert ? [alert] : []));

const sections = new Map(
  read('docs/alerts.md')
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.split('\n')[0]!, text] as const),
);

test('each alert has a section, and each section an alert', () => {
  expect(alerts.length).toBeGreaterThan(9);
  expect([...sections.keys()]).toEqual(alerts);
});

test.each(alerts)('%s: what it means, where to look, what to do', (alert) => {
  const heads = [...(sections.get(alert) ?? '').matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, head]) => head);
  expect(heads).toEqual(['Means', 'Look', 'Do']);
});

const commands = new Set(
  [...pages.map(read), ...rules.map((rule) => rule.annotations?.description ?? '')].flatMap((text) =>
    [...text.matchAll(/\btemper ((?:runs|rollouts|freezes|policy) [a-z]+|[a-z]+)/g)].map(([, command]) => command!),
  ),
);

test('there are commands to be typed', () => {
  expect(commands.size).toBeGreaterThan(12);
});

test.each([...commands])('temper %s is a command', async (command) => {
  const { out } = await temper(`${command} --help`);
  expect(out).toMatch(new RegExp(`^Usage: temper ${command} `));
});
