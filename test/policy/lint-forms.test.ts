/** What a set of rules is refused or warned for as a whole: its names, its references, its size and its openness. */
import { isTemperError } from '../../src/model/errors';
import { createPolicy, type PolicyOptions } from '../../src/policy';
import { policyFilesAmong } from '../../src/policy/engine/read';

const options = (overrides: Record<string, unknown>, more: Partial<PolicyOptions> = {}): PolicyOptions => ({
  set: 'temper',
  overrides,
  ...more,
});
const reasonOf = (overrides: Record<string, unknown>, more: Partial<PolicyOptions> = {}): string => {
  try {
    createPolicy(options(overrides, more));
    return 'loaded';
  } catch (thrown) {
    if (!isTemperError(thrown, 'PolicyInvalid')) throw thrown;
    return String(thrown.facts.reason);
  }
};
const warningsOf = (overrides: Record<string, unknown>): readonly string[] => createPolicy(options(overrides)).warnings;

test.each([
  [{ 'my rule': 'role:x' }, 'rule "my rule": a name holds no white space; rename it'],
  [{ '': 'role:x' }, 'rule "": a name holds no white space; rename it'],
  [
    { 'temper:node:dance': 'role:x' },
    'rule "temper:node:dance": no operation asks for this name; correct the name, or drop it',
  ],
  [
    { helper: 'rule:missing' },
    'rule "helper": it refers to rule:missing, which nothing defines; define it, or correct the name',
  ],
  [{ one: 'rule:two', two: 'rule:one' }, 'rule "one": it refers to itself (one -> two -> one); break the circle'],
  [{ a: 'rule:one', one: 'rule:one' }, 'rule "one": it refers to itself (one -> one); break the circle'],
])('%j is refused in one sentence', (overrides, reason) => {
  expect(reasonOf(overrides)).toBe(reason);
});

test.each([
  [{ 'helper:one': 'role:x' }],
  [{ 'my_baremetal:node:x': 'role:x' }],
  [{ 'baremetal:step:execute:raid.anything': 'role:x' }],
  [{ one: 'rule:two or rule:two', two: 'role:x', three: 'rule:two' }],
])('%j is loaded without a word', (overrides) => {
  expect(warningsOf(overrides)).toEqual([]);
});

test('what a message quotes of a file is cut', () => {
  const reason = reasonOf({ [`x${'y'.repeat(600)} z`]: 'role:x' });
  expect(reason).toContain(`rule "x${'y'.repeat(399)}... (603 characters)": `);
  expect(reasonOf({ [`${'y'.repeat(399)} `]: 'role:x' })).toContain(`"${'y'.repeat(399)} ": `);
});

test.each([199, 200])('a chain of %i references', (length) => {
  const chain = Object.fromEntries(Array.from({ length }, (_, at) => [`r${at}`, `rule:r${at + 1}`]));
  const reason = reasonOf({ ...chain, [`r${length}`]: 'role:x' });
  if (length < 200) expect(reason).toBe('loaded');
  else expect(reason).toContain('its references go deeper than 200 rules (r0 -> ... -> r200); shorten the chain');
});

test.each([199, 200])('a chain of %i references that is written from its end', (length) => {
  const chain = Array.from({ length }, (_, at) => [`r${at}`, `rule:r${at + 1}`]).reverse();
  const reason = reasonOf(Object.fromEntries([[`r${length}`, 'role:x'], ...chain]));
  if (length < 200) expect(reason).toBe('loaded');
  else expect(reason).toContain('its references go deeper than 200 rules (r0 -> ... -> r1); shorten the chain');
});

test('references that double are counted as often as they are followed', () => {
  const doubling = (times: number) => ({
    ...Object.fromEntries(Array.from({ length: times }, (_, at) => [`r${at}`, `rule:r${at + 1} or rule:r${at + 1}`])),
    [`r${times}`]: 'role:x',
  });
  expect(reasonOf(doubling(10))).toBe('loaded');
  expect(reasonOf(doubling(20))).toContain('comes to more than 100000 checks by its references; refer to fewer rules');
});

test('in compat mode a circle through a rule of the product is named too', () => {
  const { warnings } = createPolicy({ set: 'ironic', mode: 'compat', overrides: { admin_api: 'rule:is_admin' } });
  expect(warnings.join('\n')).toContain('it refers to itself (admin_api -> is_admin -> admin_api)');
});

test('in compat mode a circle counts nothing, and an undefined name counts as the default rule', () => {
  const warnings = createPolicy(
    options({ one: 'rule:one', two: 'rule:missing', default: 'rule:three' }, { mode: 'compat' }),
  ).warnings.join('\n');
  expect(warnings).toContain('it refers to itself (one -> one)');
  expect(warnings).toContain('it refers to rule:three, which nothing defines');
});

describe('an operator is warned of', () => {
  test.each([
    ['baremetal:node:delete', '@', 'it admits every caller, of whatever project'],
    ['baremetal:node:get', 'role:%(node.owner)s', 'lists cannot be filtered by role:%(node.owner)s'],
    [
      'baremetal:node:get',
      "'a':%(node.owner)s%(node.lessee)s",
      "lists cannot be filtered by 'a':%(node.owner)s%(node.lessee)s",
    ],
    ['baremetal:node:delete', 'rule:is_admin', 'rule:is_admin asks for no scope'],
    ['baremetal:node:delete', 'not rule:admin_api', 'rule:admin_api asks for no scope'],
    ['show_password', '@', 'it is opened, which has no effect'],
  ])('%s: %s', (name, text, says) => {
    expect(warningsOf({ [name]: text })).toEqual([expect.stringContaining(`rule "${name}": ${says}`)]);
  });

  test('a remote check, by which no list can be filtered', () => {
    const { warnings } = createPolicy(
      options({ 'baremetal:node:get': 'http://pdp.example/a' }, { remote: () => 'True' }),
    );
    expect(warnings).toEqual([expect.stringContaining('lists cannot be filtered by http://pdp.example/a')]);
  });

  test.each([
    ['baremetal:node:list', '@'],
    ['baremetal:node:list_all', '@'],
    ['baremetal:allocation:list_all', '@'],
    ['baremetal:driver:ipa_lookup', '@'],
    ['helper', '@'],
    ['show_password', '!'],
    ['baremetal:node:get', 'project_id:%(node.owner)s'],
    ['baremetal:node:get', 'role:%(project_id)s'],
    ['baremetal:node:get', "'a-b':%(node.owner)s-%(project_id)s"],
  ])('nothing where %s is %s', (name, text) => {
    expect(warningsOf({ [name]: text }).filter((one) => !one.includes('no operation asks'))).toEqual([]);
  });
});

test('of a folder, files of policy are taken in their order and others are named; hidden ones are neither', () => {
  expect(policyFilesAmong(['b.yml', 'a.yaml', 'c.json', 'notes.txt', 'x.yaml.bak', '.a.yaml.swp', '.yaml'])).toEqual({
    taken: ['a.yaml', 'b.yml', 'c.json'],
    passed: ['notes.txt', 'x.yaml.bak'],
  });
});
