/** What an explanation says of each form of a check, and what would have to be otherwise. */
import { createPolicy, nearestTo, nodeTarget, type Part, type PolicyOptions, personas } from '../../src/policy';
import { createRuleSet } from '../../src/policy/engine/ruleset';

const node = nodeTarget({ owner: 'project-owner', lessee: null });
const rule = 'baremetal:node:get';
const who = personas['owner-member'];

const asked: string[] = [];
const remote = ({ url }: { url: string }): string => {
  asked.push(url);
  return 'True';
};
beforeEach(() => void asked.splice(0));

const explain = (text: string, more: Partial<PolicyOptions> = {}, overrides: Record<string, string> = {}) =>
  createPolicy({ set: 'temper', mode: 'compat', remote, ...more, overrides: { [rule]: text, ...overrides } }).explain(
    rule,
    who,
    node,
  );
const verdicts = (part: Part): unknown => (part.parts ? [part.verdict, ...part.parts.map(verdicts)] : part.verdict);

test.each([
  ['@', 'true'],
  ['!', 'false'],
  ['not role:admin', ['true', 'false']],
  ['not role:member', ['false', 'true']],
  ['not class:x', ['fault', 'fault']],
  ['role:member and role:reader', ['true', 'true', 'true']],
  ['role:member and role:admin', ['false', 'true', 'false']],
  ['role:admin and role:member', ['false', 'false', 'true']],
  ['role:admin or role:member', ['true', 'false', 'true']],
  ['role:admin or role:service', ['false', 'false', 'false']],
  ['class:x or role:member', ['fault', 'fault', 'true']],
  ['role:member or class:x', ['true', 'true', 'fault']],
  ['role:admin and class:x', ['false', 'false', 'fault']],
  ['role:member and http://pdp.example/a', ['true', 'true', 'true']],
  ['role:admin and http://pdp.example/a', ['false', 'false', 'not asked']],
  ['role:member or not http://pdp.example/a', ['true', 'true', ['not asked', 'not asked']]],
  ['rule:missing or role:member', ['true', 'false', 'true']],
])('%s', (text, expected) => {
  const { tree, verdict } = explain(text);
  expect(verdicts(tree!)).toEqual(expected);
  expect(verdict).toBe(tree!.verdict === 'true' ? 'allowed' : 'refused');
});

test.each([
  ["'p1':%(node.owner)s", ['p1'], 'project-owner'],
  ['None:%(node.owner)s', ['None'], 'project-owner'],
  ['project_id:%(node.owner)s', ['project-owner'], 'project-owner'],
  ['project_id:%(allocation.owner)s', ['project-owner'], null],
  ['project_id:100%', ['project-owner'], null],
  ['project_id.name:x', [], 'x'],
  ['roles:member', ['member', 'reader'], 'member'],
  ['class:x', [], 'x'],
  ['role:admin', ['member', 'reader'], 'admin'],
])('%s compared %j with %j', (text, caller, wanted) => {
  expect(explain(text).tree).toMatchObject({ compared: { caller, wanted } });
});

test.each(['@', '!', 'rule:is_node_owner', 'http://pdp.example/a', 'not role:admin'])('%s compared nothing', (text) => {
  expect(explain(text).tree).not.toHaveProperty('compared');
});

test('a remote check is asked once where it decides, and never where it does not', () => {
  explain('role:member and http://pdp.example/%(node.owner)s');
  expect(asked).toEqual(['http://pdp.example/project-owner']);
  explain('role:member or http://pdp.example/a');
  expect(asked).toHaveLength(1);
});

test.each([
  [new Error('timed out'), 'timed out'],
  ['no answer', 'no answer'],
])('what a remote check failed with is shown (%s)', (thrown, fault) => {
  const failing = () => {
    throw thrown;
  };
  expect(explain('http://pdp.example/a', { remote: failing })).toMatchObject({
    verdict: 'refused',
    why: 'fault',
    tree: { verdict: 'fault', fault },
  });
});

test('a default rule that is asked by its own name asks for its scopes, and for no others', () => {
  const { decide, explain: explained } = createRuleSet({
    registered: [{ name: 'default', check: '@', scopes: ['system'] }],
  });
  const ask = (name: string) => ({ rule: name, credentials: { project_id: 'p1' }, target: {} });
  expect([decide(ask('default')), decide(ask('other'))]).toEqual([{ is: 'refused', why: 'scope' }, { is: 'allowed' }]);
  expect(explained(ask('default'))).toMatchObject({ why: 'scope', scope: { admitted: ['system'] } });
  expect(explained(ask('other'))).toMatchObject({ verdict: 'allowed', scope: { admitted: null } });
});

test('a remote check behind a reference that is not reached is not asked either', () => {
  const { tree } = explain('role:member or rule:ask', {}, { ask: 'http://pdp.example/a' });
  expect(verdicts(tree!)).toEqual(['true', 'true', ['not asked', 'not asked']]);
  expect(asked).toEqual([]);
});

describe('a remote check whose address lacks a key', () => {
  const lacking = 'http://pdp.example/%(allocation.owner)s';

  test('refuses as a fault where it stands', () => {
    expect(explain(lacking)).toMatchObject({ why: 'fault', tree: { verdict: 'fault' } });
  });

  test('is false behind a reference', () => {
    expect(explain('rule:ask', {}, { ask: lacking })).toMatchObject({
      why: 'check',
      tree: { is: 'rule', verdict: 'false', parts: [{ verdict: 'fault' }] },
    });
    expect(explain('not rule:ask', {}, { ask: lacking }).verdict).toBe('allowed');
  });
});

test('any other fault is one behind a reference too', () => {
  expect(explain('rule:bad', {}, { bad: 'class:x' })).toMatchObject({ why: 'fault', tree: { verdict: 'fault' } });
});

test('a reference says where it leads, and nowhere where nothing defines it', () => {
  expect(explain('rule:mine', {}, { mine: 'role:member' }).tree).toMatchObject({ to: { rule: 'mine', from: 'file' } });
  expect(explain('rule:missing').tree).toEqual({ is: 'rule', text: 'rule:missing', verdict: 'false', to: null });
});

test('a name that nothing defines leads to the default rule, whose scopes are not asked', () => {
  expect(explain('rule:missing', {}, { default: 'role:member' })).toMatchObject({
    verdict: 'allowed',
    tree: { to: { rule: 'default' } },
  });
});

describe('what is nearest to being admitted', () => {
  const nearest = (text: string): string[] => nearestTo(explain(text).tree!).map((part) => part.text);

  test.each([
    ['role:member', []],
    ['role:admin', ['role:admin']],
    ['role:admin and role:service and role:member', ['role:admin', 'role:service']],
    ['not role:member', ['not role:member']],
    ['role:member and not role:reader', ['not role:reader']],
    ['(role:admin and role:service) or role:manager', ['role:manager']],
    [
      '(role:admin and project_id:%(node.owner)s) or (role:manager and project_id:%(node.lessee)s and @)',
      ['role:admin'],
    ],
    ['(role:admin and project_id:%(node.owner)s) or (role:manager and @)', ['role:admin']],
    ['(role:admin and @) or (role:manager and project_id:%(node.owner)s)', ['role:manager']],
    ['role:admin or role:manager', ['role:manager']],
    ['project_id:%(node.lessee)s or role:manager', ['role:manager']],
    ['(role:admin and role:service and project_id:%(node.owner)s) or role:manager', ['role:manager']],
    ['role:manager or (role:admin and role:service and project_id:%(node.owner)s)', ['role:manager']],
    ['role:manager or (role:admin and role:service)', ['role:manager']],
  ])('to %s is %j', (text, parts) => {
    expect(nearest(text)).toEqual(parts);
  });
});
