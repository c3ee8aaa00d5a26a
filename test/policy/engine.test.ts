/** How a policy answers, whatever its rules say. */

import { anonymous, type Caller, expandRoles } from '../../src/model/access/callers';
import { createPolicy, nodeTarget, personas, ruleNames, webhookTarget } from '../../src/policy';
import { createRuleSet } from '../../src/policy/engine/ruleset';
import { inProject, inSystem } from './support';

const policy = createPolicy({ set: 'temper' });
const node = nodeTarget({ owner: 'project-owner', lessee: null });

test('a refusal names the rule', () => {
  const act = () => policy.require('baremetal:node:delete', personas['owner-admin'], node);
  expect(act).toThrow(expect.objectContaining({ code: 'PolicyDenied', facts: { rule: 'baremetal:node:delete' } }));
  expect(() => policy.require('baremetal:node:delete', personas['system-admin'], node)).not.toThrow();
});

test('a rule without a definition refuses everyone', () => {
  expect(policy.allows('baremetal:node:dance', personas['system-admin'], node)).toBe(false);
  expect(policy.filter('baremetal:node:dance', personas['system-admin'], {})).toEqual({ is: 'false' });
  expect(policy.has('baremetal:node:dance')).toBe(false);
});

test('names that every object has are no rules, credentials or target keys', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    expect(policy.has(name)).toBe(false);
    expect(policy.allows(name, personas['system-admin'], node)).toBe(false);
    const compat = createPolicy({
      set: 'ironic',
      mode: 'compat',
      overrides: { 'baremetal:node:get': `${name}:x or 'x':%(${name})s or not None:None` },
    });
    expect(compat.allows('baremetal:node:get', personas['system-admin'], node)).toBe(false);
  }
});

test('the all-powerful caller passes every rule but those that show secrets', () => {
  const all = { ...anonymous, all_powerful: true, strategy: 'noauth' as const };
  expect(ruleNames.filter((rule) => !policy.allows(rule, all, node))).toEqual([
    'show_password',
    'show_instance_secrets',
  ]);
  expect(policy.filter('baremetal:node:get', all, {})).toEqual({ is: 'true' });
});

test('a rule without an older text admits no caller by one, whichever defaults are asked for', () => {
  const deprecated = { name: 'old', check: 'role:x' };
  const registered = ['a', 'b'].map((name) => ({ name, check: '@', scopes: null }));
  const { rules } = createRuleSet({
    registered: [registered[0]!, { ...registered[1]!, deprecated }],
    newDefaults: false,
  });
  expect([rules.get('a')!.admitsOld, rules.get('b')!.admitsOld]).toEqual([false, true]);
});

test('a role that nothing names is missing before the roles are looked at', () => {
  const { decide } = createRuleSet({ registered: [], overrides: { a: 'role:%(x)s' }, mode: 'compat' });
  const ask = (target: object) => decide({ rule: 'a', credentials: { roles: 'no list' }, target: { ...target } });
  expect(ask({})).toEqual({ is: 'refused', why: 'check' });
  expect(ask({ x: 'reader' })).toMatchObject({ why: 'fault' });
});

test.each([
  ['no list', 'the credentials hold no list of roles'],
  [['reader', 7], 'a role is not a text'],
])('roles that are %j are a fault in words, whichever role is asked for', (roles, fault) => {
  const { decide } = createRuleSet({ registered: [], overrides: { a: 'role:reader' } });
  expect(decide({ rule: 'a', credentials: { roles }, target: {} })).toEqual({ is: 'refused', why: 'fault', fault });
});

test('a circle, which compat mode lets in, is refused in words and not by the end of the stack', () => {
  const { decide } = createRuleSet({ registered: [], overrides: { a: 'rule:b', b: 'rule:a' }, mode: 'compat' });
  const fault = 'references deeper than 200: probably a cycle';
  expect(decide({ rule: 'a', credentials: { roles: [] }, target: {} })).toMatchObject({ why: 'fault', fault });
});

test('roles are compared without regard to case', () => {
  const who = { ...inSystem(), roles: ['Reader'] };
  expect(policy.allows('baremetal:node:list_all', who)).toBe(true);
});

test('a domain token passes no rule that knows scopes', () => {
  const who = { ...inProject('p', 'admin'), project_id: null, domain_id: 'domain' };
  expect(
    ruleNames.filter((rule) => rule.includes(':') && !rule.includes('ipa_') && policy.allows(rule, who, node)),
  ).toEqual([]);
});

test('service users of the named project count as system members, when that is switched on', () => {
  const service = { ...inProject('service', 'service'), project_name: 'service' };
  const elevated = createPolicy({ set: 'temper', elevatedServiceProject: 'service' });
  expect(policy.allows('baremetal:node:set_provision_state', service, node)).toBe(false);
  expect(elevated.allows('baremetal:node:set_provision_state', service, node)).toBe(true);
  expect(elevated.allows('baremetal:node:set_provision_state', inProject('other', 'service'), node)).toBe(false);
});

test('a remote check is false until a hand for it is given, and a failing hand admits no caller', () => {
  const overrides = { 'baremetal:node:get': 'http://pdp.example/%(node.owner)s' };
  const ask = (remote?: () => string) =>
    createPolicy({ set: 'temper', overrides, remote }).allows('baremetal:node:get', personas['owner-reader'], node);
  expect(ask()).toBe(false);
  expect(ask(() => 'True')).toBe(true);
  expect(ask(() => 'true')).toBe(false);
  expect(
    ask(() => {
      throw new Error('timed out');
    }),
  ).toBe(false);
});

test.each([
  ['True', true],
  ['"True"', true],
  ['""True""', true],
  ['x"True"', false],
  ['"True"x', false],
  ['Tr"ue', false],
  ['', false],
])('a remote answer of %s, quoted or not, is %s', (body, verdict) => {
  const asking = createPolicy({
    set: 'temper',
    overrides: { 'baremetal:node:get': 'http://pdp.example/' },
    remote: () => body,
  });
  expect(asking.allows('baremetal:node:get', personas['owner-reader'], node)).toBe(verdict);
});

test('a remote check is sent the rule, the target and the credentials', () => {
  const remote = jest.fn(() => 'True');
  const overrides = { 'baremetal:node:get': 'http://pdp.example/%(node.owner)s' };
  createPolicy({ set: 'temper', overrides, remote }).allows('baremetal:node:get', personas['owner-reader'], node);
  expect(remote.mock.calls).toEqual([
    [
      {
        url: 'http://pdp.example/project-owner',
        rule: 'baremetal:node:get',
        target: expect.objectContaining({ 'node.owner': 'project-owner' }),
        credentials: expect.objectContaining({ project_id: 'project-owner' }),
      },
    ],
  ]);
});

test.each(['strict', 'compat'] as const)('in %s mode, a manager of no project has no webhook of all nodes', (mode) => {
  const manager: Caller = { ...anonymous, roles: expandRoles(['manager']) };
  const { allows, filter } = createPolicy({ set: 'temper', mode });
  expect(allows('temper:webhook:get', manager, webhookTarget({ project: null }))).toBe(false);
  expect(JSON.stringify(filter('temper:webhook:get', manager, { 'webhook.project': 'project' }))).not.toContain('null');
});

test.each(['project_id:%(node.owner)s', 'project_id:No%(node.lessee)s'])(
  'a caller without a project matches no text made from a node: %s',
  (text) => {
    const may = (mode: 'strict' | 'compat') =>
      createPolicy({ set: 'temper', mode, overrides: { 'baremetal:node:get': text } }).allows(
        'baremetal:node:get',
        anonymous,
        nodeTarget({ owner: 'None', lessee: 'ne' }),
      );
    expect([may('strict'), may('compat')]).toEqual([false, true]);
  },
);

describe('in compat mode, as the reference builds its targets,', () => {
  const may = (text: string, owner: string | null, lessee: string | null): boolean =>
    createPolicy({ set: 'ironic', mode: 'compat', overrides: { 'baremetal:node:get': text } }).allows(
      'baremetal:node:get',
      inProject('p', 'reader'),
      nodeTarget({ owner, lessee }),
    );

  test('a lessee that is null is a key that is not there, and an owner that is null is None', () => {
    expect(may('None:%(node.lessee)s', null, null)).toBe(false);
    expect(may('None:%(node.owner)s', null, null)).toBe(true);
    expect(may('None:%(node.owner)s', null, 'p')).toBe(true);
    expect(may('project_id:%(node.lessee)s', null, 'p')).toBe(true);
    expect(may('project_id:%(node.owner)s', 'p', null)).toBe(true);
  });
});

test('texts that the reference replaced count again when new defaults are off, in set ironic', () => {
  const ironic = createPolicy({ set: 'ironic', newDefaults: false });
  expect(ironic.allows('baremetal:node:delete', personas['stranger-admin'], node)).toBe(true);
  expect(policy.allows('baremetal:node:delete', personas['stranger-admin'], node)).toBe(false);
});

describe('the hash', () => {
  const hashOf = (overrides?: Record<string, unknown>) => createPolicy({ set: 'temper', overrides }).hash;

  test('is equal for equal policies, however the file is ordered or spaced', () => {
    const one = hashOf({ a: 'role:x', 'baremetal:node:get': 'rule:a or  role:y' });
    expect(hashOf({ 'baremetal:node:get': '(rule:a) or role:y', a: 'role:x' })).toBe(one);
    expect(hashOf()).toBe(policy.hash);
    expect(hashOf({ a: 'role:x', b: 'role:y' })).toBe(hashOf({ b: 'role:y', a: 'role:x' }));
  });

  test('differs when a rule, the set, the mode or an option differs', () => {
    const hashes = [
      policy,
      createPolicy({ set: 'temper', overrides: { 'baremetal:node:get': '!' } }),
      createPolicy({ set: 'ironic' }),
      createPolicy({ set: 'closed' }),
      createPolicy({ set: 'temper', mode: 'compat' }),
      createPolicy({ set: 'temper', elevatedServiceProject: 'service' }),
    ].map(({ hash }) => hash);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test('is short, and says nothing of what the rules name', () => {
    const overrides = { 'baremetal:node:get': 'project_id:secret-project' };
    expect(createPolicy({ set: 'temper', overrides }).hash).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('what a rule may ask of the service that acts for a caller', () => {
  const acting: Caller = {
    ...inProject('p1', 'member'),
    service_user_id: 'compute',
    service_user_domain_id: 'machines',
    service_project_id: 'services',
    service_project_domain_id: 'default',
    service_roles: ['service'],
  };

  test.each([
    ['service_user_id:compute', 'service_user_id:other'],
    ['service_user_domain_id:machines', 'service_user_domain_id:default'],
    ['service_project_id:services', 'service_project_id:p1'],
    ['service_project_domain_id:default', 'service_project_domain_id:machines'],
    ['service_roles:service', 'service_roles:admin'],
  ])('%s holds, %s does not, and nothing holds where none acts', (holds, fails) => {
    const may = (text: string, who: Caller) =>
      createPolicy({ set: 'temper', overrides: { 'baremetal:node:get': text } }).allows('baremetal:node:get', who);
    expect([may(holds, acting), may(fails, acting)]).toEqual([true, false]);
    expect(may(holds, inProject('p1', 'member'))).toBe(false);
  });
});
