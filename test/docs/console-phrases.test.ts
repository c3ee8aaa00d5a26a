/** The console speaks plain English to "you": phrases that read as translated, or that only engineers of Temper know, stay out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '../../src/console');

/** A phrase that must not come back, and what to say. */
const avoided: readonly (readonly [phrase: RegExp, better: string])[] = [
  [/that you may see/i, 'nothing: the list holds what the caller may see'],
  [/does not admit|The rules? do(?:es)? not show/i, 'You don’t have permission: RULE'],
  [/you may not see/i, 'It doesn’t exist or you don’t have access.'],
  [/\bis so\b/i, 'No rows match.'],
  [/such as /i, 'an example, or For example'],
  [/" came\b/i, 'what is wrong with the value'],
  [/\btak(?:e|es|en) up\b/i, 'Resume'],
  [/what you can do|what is not possible/i, 'buttons, and Unavailable'],
  [/what happened|one by one|where it ran/i, 'Activity, Node by node, Runs'],
  [/\b(?:pass over|try again|tried again)\b/i, 'Skip, Retry'],
  [/\bwaits? for (?:you|a person|a decision)\b/i, 'Needs a decision'],
  [/on its way to|held by|by the rights of/i, 'Target state, Locked by, Acts as'],
  [/\b(?:run it|plan it|write one|plan one)\b/i, 'Run, Create plan, New runbook'],
  [/without filters/i, 'Clear filters'],
  [/what would run|show its arguments/i, 'Preview, Add step'],
  [/\bworkers that are away\b|nodes in trouble/i, 'Offline workers, Failing nodes'],
  [/readers of the system only|as a caller with/i, 'System readers only, As role'],
  [/empty for no bound|on each line/i, 'Optional, One name or ID per line'],
  [/'Begun'|\bsoaks\b/, 'Started, Observed'],
  [/answers alike|not shown to you/i, 'Hidden'],
  [/There is no \w+ that/i, 'No nodes yet'],
];

/** Sources without comments; in TSX most texts stand between tags. */
const texts = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:tsx?|js)$/.test(name))
  .map((name) => ({
    name,
    text: readFileSync(join(root, name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ''),
  }));

/** Names of code are no phrases. */
const saidIn = (line: string): string => line.replaceAll(/\b(?:import|const|export)\b.*?=(?!>)|\{ \w+ as \w+ \}/g, '');

test('no phrase comes back that the console has left', () => {
  expect(texts.length).toBeGreaterThan(40);
  const found = texts.flatMap(({ name, text }) =>
    text
      .split('\n')
      .map(saidIn)
      .flatMap((line) =>
        avoided.filter(([phrase]) => phrase.test(line)).map(([, better]) => `${name}: ${line.trim()} (say: ${better})`),
      ),
  );
  expect(found).toEqual([]);
});

test.each([
  ['<p>Nothing that you may see is so.</p>', 2],
  ["hint: 'such as 30m'", 1],
  ['Each node soaks for', 1],
  ['<p>No rows match.</p>', 0],
])('%s is read as it should be', (line, many) => {
  expect(avoided.filter(([phrase]) => phrase.test(saidIn(line)))).toHaveLength(many);
});
