/** What strict mode, the default, refuses to load, and what it says to the operator. */

import { isTemperError } from '../../src/model/errors';
import { createPolicy, type PolicyOptions } from '../../src/policy';
import { mergeRules } from '../../src/policy/engine/merge';
import { strictFaults } from '../../src/policy/reports/lint';
import { ruleSets } from '../../src/policy/rules/sets';
import { vocabulary } from '../../src/policy/rules/vocabulary';

const load = (overrides: Record<string, unknown>, more: Partial<PolicyOptions> = {}): string => {
  try {
    createPolicy({ set: 'temper', overrides, ...more });
    return 'loaded';
  } catch (thrown) {
    if (!isTemperError(thrown, 'PolicyInvalid')) throw thrown;
    return thrown.message;
  }
};

const rule = 'baremetal:node:get';

describe('a file is refused, with the rule and the way out, when it holds', () => {
  test.each([
    ['nothing, as an unquoted "!" in YAML reads', null, 'every caller pass'],
    ['false, as "no" in YAML reads', false, 'every caller pass'],
    ['an empty object', {}, 'every caller pass'],
    ['a date, which is an object without keys', new Date(0), 'is not a rule'],
    ['a word without a colon', 'admin', 'has no colon'],
    ['a negated word, which would open the rule', 'not admin', 'has no colon'],
    ['an operator at the end', 'role:admin or', 'cannot be read'],
    ['an open parenthesis', '(role:admin', 'is not closed'],
    ['two checks without an operator', 'role:admin role:member', 'cannot be read'],
    ['a quoted check', '"role:admin"', 'cannot be read'],
    ['operators of other languages', 'role:a && role:b', 'cannot be read'],
    ['a comma between checks', 'role:a,role:b', 'as letters'],
    ['a negation without a space', 'not(role:a)', 'cannot be read'],
    ['parentheses glued to an operator', '(role:a)and(role:b)', 'as letters'],
    ['quotes on the right', "project_id:'p1'", 'quotes'],
    ['an unknown credential', 'projct_id:%(node.owner)s', 'projct_id'],
    ['a check kind in capitals', 'Role:admin', 'Role'],
    ['an unknown target key', 'not project_id:%(node.ownr)s', 'node.ownr'],
    ['a lone percent sign', 'role:100%', 'lone %'],
    ['a number format', 'project_id:%(node.owner)d', 'not supported'],
    ['a keyword on the left', 'class:x', 'left of a colon'],
    ['a lower-case truth', 'is_admin_project:true', 'is_admin_project:True'],
    ['two constants', 'None:None', 'two constants'],
    ['an undefined reference', 'rule:nobody_defined_this', 'nobody_defined_this'],
    ['a reference to itself', `rule:${rule}`, '->'],
    ['a reference to itself under "not"', `not rule:${rule}`, '->'],
    ['a list of operators', ['role:a or role:b'], 'as letters'],
    ['an empty inner list', [[], ['role:a']], 'empty entry'],
    ['a number', 5, 'is not a rule'],
    ['a negated remote check while those are off', 'not http://pdp.example/ask', 'remote checks'],
  ])('%s', (_, value, says) => {
    const answer = load({ [rule]: value });
    expect(answer).toContain(`rule "${rule}"`);
    expect(answer).toContain(says);
  });
});

test('a remote check behind a negated reference is found, in both modes', () => {
  const overrides = { [rule]: 'not rule:blocked', blocked: 'rule:ask', ask: 'http://pdp.example/ask' };
  expect(load(overrides)).toContain('remote checks');
  expect(load({ ...overrides, ask: 'role:a or http://pdp.example/ask' })).toContain('remote checks');
  expect(load(overrides, { mode: 'compat' })).toContain('remote checks');
  expect(load(overrides, { remote: () => 'True' })).toBe('loaded');
});

test('a text nested beyond reason is refused instead of exhausting the stack', () => {
  const deep = `${'('.repeat(10_000)}role:a${')'.repeat(10_000)}`;
  expect(load({ [rule]: deep })).toContain('nests deeper');
  expect(load({ [rule]: `${'not '.repeat(10_000)}role:a` }, { mode: 'compat' })).toContain('nests deeper');
});

test('all faults of a file are reported together', () => {
  const answer = load({ 'baremetal:node:get': 'admin', 'baremetal:node:update': 'role:admin or' });
  expect(answer).toContain('"baremetal:node:get"');
  expect(answer).toContain('"baremetal:node:update"');
});

test('a long circle over several rules is found', () => {
  expect(load({ one: 'rule:two', two: 'not rule:three', three: 'role:a or rule:one' })).toContain(
    'one -> two -> three -> one',
  );
});

test('a misspelled name of ours is refused, because it would restrict nothing', () => {
  expect(load({ 'baremetal:node:set_provsion_state': '!' })).toContain('no operation asks for this name');
});

test('helpers of any name and rules for single steps are welcome', () => {
  const overrides = {
    storage_team: 'role:storage_admin and system_scope:all',
    'baremetal:step:execute:raid.delete_configuration': 'rule:storage_team',
    'baremetal:node:set_raid_state': [['rule:storage_team'], ['role:member', 'project_id:%(node.owner)s']],
  };
  expect(load(overrides)).toBe('loaded');
  const policy = createPolicy({ set: 'temper', overrides });
  expect(policy.has('baremetal:step:execute:raid.delete_configuration')).toBe(true);
  expect(policy.has('baremetal:step:execute:raid.create_configuration')).toBe(false);
});

test('compat mode loads what the reference loads, and says what is odd', () => {
  const overrides = { [rule]: 'rule:missing', 'baremetal:node:updat': '!' };
  expect(load(overrides, { mode: 'compat' })).toBe('loaded');
  const { warnings } = createPolicy({ set: 'ironic', mode: 'compat', overrides });
  expect(warnings.join('\n')).toContain('rule:missing');
  expect(warnings.join('\n')).toContain('"baremetal:node:updat"');
});

test.each(['show_password', 'show_instance_secrets'])('who opens %s reads that it has no effect', (name) => {
  const { warnings } = createPolicy({ set: 'temper', overrides: { [name]: 'role:admin' } });
  expect(warnings).toEqual([
    expect.stringMatching(`"${name}": it is opened, which has no effect: secrets are never shown`),
  ]);
  expect(createPolicy({ set: 'temper', overrides: { [name]: '!' } }).warnings).toEqual([]);
});

test('a rule by which lists cannot be filtered is warned of', () => {
  const { warnings } = createPolicy({ set: 'temper', overrides: { [rule]: 'role:%(node.owner)s' } });
  expect(warnings).toEqual([expect.stringContaining('lists')]);
});

test('in set ironic, a rule that takes its text from an old name in the file is named', () => {
  const { warnings } = createPolicy({ set: 'ironic', overrides: { 'baremetal:node:update': 'role:member' } });
  expect(warnings.join('\n')).toContain('"baremetal:node:update:owner"');
  const temper = createPolicy({ set: 'temper', overrides: { 'baremetal:node:update': 'role:member' } });
  expect(temper.warnings).toEqual([]);
});

test.each(['temper', 'ironic', 'closed'] as const)(
  'the texts of set %s hold nothing that a file would be refused for',
  (set) => {
    const rules = mergeRules(ruleSets[set], {}, true);
    expect([...rules.values()].flatMap((one) => strictFaults(one, vocabulary))).toEqual([]);
  },
);
