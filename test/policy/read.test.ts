/** Policy files as texts: what YAML makes of them, where each rule stands, and what is refused before it does harm. */

import { anonymous } from '../../src/model/access/callers';
import { isTemperError } from '../../src/model/errors';
import { createPolicy, joinSources, readPolicy } from '../../src/policy';

const rule = 'baremetal:node:get';

/** What loading a file of this text says: 'loaded', or why not. */
const load = (text: string, mode: 'strict' | 'compat' = 'strict'): string => {
  try {
    createPolicy({ set: 'temper', mode, ...readPolicy(text, 'policy.yaml') });
    return 'loaded';
  } catch (thrown) {
    if (!isTemperError(thrown, 'PolicyInvalid')) throw thrown;
    return String(thrown.facts.reason);
  }
};

test('a fault names file, line, rule and the way out', () => {
  const text = `# a comment\n"helper": "role:x"\n\n"${rule}": "not rolex"\n`;
  expect(load(text)).toBe(
    `policy.yaml:4: rule "${rule}": "rolex" has no colon and is always false; write kind:value, "@" or "!"`,
  );
});

describe('strict mode refuses what YAML makes of', () => {
  test.each([
    ['a name without a text', 'helper:', 'every caller pass'],
    ['a bare exclamation mark, meant as "never"', 'helper: !', 'every caller pass'],
    ['an exclamation mark that became a tag', 'helper: ! role:x', 'is a tag'],
    ['an empty list', 'helper: []', 'every caller pass'],
    ['no', 'helper: no', 'every caller pass'],
    ['a date', 'helper: 2026-11-21', 'is not a rule'],
    ['a set', 'helper: !!set {x}', 'is not a rule'],
    ['a name given twice', 'helper: role:x\nhelper: role:y', 'given twice, first in line 1'],
  ])('%s', (_, text, says) => {
    const answer = load(text);
    expect(answer).toMatch(/^policy\.yaml:\d+: rule "helper": /);
    expect(answer).toContain(says);
  });
});

test('an empty text in quotes is meant: the guide opens lists so', () => {
  expect(load('"baremetal:node:list": ""')).toBe('loaded');
});

test.each(['helper:', 'helper: !', 'helper: []', 'helper: no', 'helper: role:x\nhelper: role:y'])(
  'compat mode loads %j as the reference does, and warns',
  (text) => {
    expect(load(text, 'compat')).toBe('loaded');
    const { warnings } = createPolicy({ set: 'temper', mode: 'compat', ...readPolicy(text, 'policy.yaml') });
    expect(warnings.join('\n')).toContain('rule "helper"');
  },
);

describe('neither mode loads', () => {
  test.each([
    ['a tab as indentation', 'a:\n\t"x"', 'policy.yaml:2: Tabs'],
    ['a list', '- a', 'a map of rule names'],
    ['a text', 'a', 'a map of rule names'],
    ['a tag of nothing', '!', 'a map of rule names'],
    ['several documents', 'a: role:x\n---\nb: role:y', 'multiple documents'],
    ['a foreign tag', 'a: !foo bar', 'Unresolved tag'],
    ['a list as name', '? [a]\n: role:x', 'the name of a rule is a text'],
    ['an unquoted at sign', 'a: @', 'reserved character'],
    ['a bare exclamation mark in a list', 'a: [!]', 'policy.yaml:1: a "!" without quotes in a list'],
    ['one among others', 'a:\n- [role:x]\n- !\n', 'policy.yaml:3: a "!" without quotes in a list'],
    ['one in an inner list', 'a: [[role:x, ! ]]', 'a "!" without quotes in a list'],
    ['a merge key without a map', '<<: role:x', 'a merge key takes a map'],
    ['a number in the outer list', 'a: [5]', 'a list holds 5'],
    ['an alias without its anchor', 'a: *x', 'policy.yaml:1: its anchors'],
    [
      'anchors that grow without end',
      'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c]',
      'anchors and aliases',
    ],
    ['lists within lists without end', '['.repeat(60_000), 'nests deeper'],
    ['lists within lists in another spelling', '- '.repeat(30_000), 'nests deeper'],
    ['a rule of a megabyte', `a: "${'role:x or '.repeat(100_000)}role:x"`, 'longer than 70000'],
    ['a rule of a hundred kilobytes over many lines', `a: >\n${'  role:x or\n'.repeat(10_000)}  role:x`, '65536'],
    ['a file of three megabytes', '# x\n'.repeat(800_000), 'longer than 2000000'],
    [
      'references that double from rule to rule',
      Array.from({ length: 60 }, (_, at) => `r${at}: "rule:r${at + 1} or rule:r${at + 1} or role:x${at}"`)
        .concat('r60: "role:x"')
        .join('\n'),
      'more than 100000 checks',
    ],
  ])('%s', (_, text, says) => {
    for (const mode of ['strict', 'compat'] as const) expect(load(text, mode)).toContain(says);
  });
});

test('a long rule over one line nests no deeper than a short one', () => {
  expect(load(`"${rule}": "role:x${' or role:x'.repeat(300)}"`)).toBe('loaded');
  expect(load(`"${rule}": "role:x or${' '.repeat(300)}role:y"`)).toBe('loaded');
  expect(load(`"${rule}": [${'[role:x], '.repeat(150)}[role:y]]`)).toBe('loaded');
});

test.each([
  [`${'['.repeat(101)}${']'.repeat(101)}`, true],
  [`${'['.repeat(100)}${']'.repeat(100)}`, false],
  ['[x, '.repeat(101), true],
  [`${'['.repeat(60)}]${'['.repeat(60)}`, true],
  [`${']'.repeat(50)}${'['.repeat(101)}`, true],
  [`a:\n${' '.repeat(201)}role:x`, true],
  [`a:\n${' '.repeat(200)}role:x`, false],
])('levels are counted to the hundredth (%#)', (text, deep) => {
  expect(load(text).includes('nests deeper')).toBe(deep);
});

test('a chain of references that no decision would follow to its end is refused', () => {
  const chain = Array.from({ length: 300 }, (_, at) => `r${at}: "rule:r${at + 1}"`).concat('r300: "role:x"');
  expect(load(chain.join('\n'))).toContain('go deeper than 200 rules');
});

test('names that every object has are names like others', () => {
  const { overrides, origins } = readPolicy('__proto__: role:x\nconstructor: role:y', 'policy.yaml');
  expect(Object.keys(overrides)).toEqual(['__proto__', 'constructor']);
  expect(origins.constructor).toEqual({ file: 'policy.yaml', line: 2 });
});

test('of several files the later one counts, and says where it stands', () => {
  const joined = joinSources([
    readPolicy('a: role:x\nb: role:x', 'main.yaml'),
    readPolicy('{"b": "role:y"}', 'more.json'),
  ]);
  expect({ ...joined.overrides }).toEqual({ a: 'role:x', b: 'role:y' });
  expect(joined.origins.b).toEqual({ file: 'more.json', line: 1 });
});

test.each(['', '# only a comment', '---', '---\n', '--- # x\n', 'null', '~', '---\nnull\n...\n'])(
  'a file of %j is an empty one',
  (text) => {
    expect(load(text)).toBe('loaded');
    expect(load(text, 'compat')).toBe('loaded');
    expect(Object.keys(readPolicy(text, 'policy.yaml').overrides)).toEqual([]);
  },
);

describe('as the original reads them in compat mode, and refused in strict mode:', () => {
  const decides = (text: string, name: string, roles: readonly string[]): boolean =>
    createPolicy({ set: 'temper', mode: 'compat', ...readPolicy(text, 'policy.yaml') }).allows(name, {
      ...anonymous,
      strategy: 'static_tokens',
      roles,
    });

  test.each([
    ['<<: {helper: role:x}', 'x', true],
    ['<<: [{helper: role:x}, {helper: role:y}]', 'x', true],
    ['<<: [{helper: role:x}, {helper: role:y}]', 'y', false],
    ['helper: role:y\n<<: {helper: role:x}', 'x', false],
    ['helper: role:y\n<<: {helper: role:x}', 'y', true],
    ['<<: {helper: role:x}\nhelper: role:y', 'y', true],
    ['helper: [[[role:x]]]', 'x', false],
    ['helper: [[[role:x]], [role:y]]', 'y', true],
    ['helper: [[role:x, 5]]', 'x', false],
  ])('%s, asked by a %s', (text, role, may) => {
    expect(decides(text, 'helper', [role])).toBe(may);
    expect(load(text)).toMatch(/^policy\.yaml:\d+: rule "helper": /);
  });

  test.each(['5: role:x', 'yes: role:x', '~: role:x', '1.5: role:x'])('%s names no rule', (text) => {
    expect(Object.keys(readPolicy(text, 'policy.yaml').overrides)).toEqual([]);
    expect(load(text, 'compat')).toBe('loaded');
    expect(load(text)).toMatch(/^policy\.yaml:1: rule ".*": its name is no text/);
    expect(decides(`${text}\nhelper: rule:5`, 'helper', ['x'])).toBe(false);
  });
});
