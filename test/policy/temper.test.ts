/** What the default set promises about tenancy, rule by rule and caller by caller. */

import { anonymous } from '../../src/model/access/callers';
import {
  createPolicy,
  disruptionTarget,
  nodeTarget,
  type PersonaName,
  personas,
  rolloutTarget,
  ruleNames,
  runbookTarget,
  runTarget,
  windowTarget,
} from '../../src/policy';
import { personaGroups, personaRoles, projectOf } from '../../src/policy/reports/personas';
import { inProject } from './support';

const policy = createPolicy({ set: 'temper' });
const owner = projectOf('owner');
const lessee = projectOf('lessee');
const node = nodeTarget({ owner, lessee });
const everybody = personaGroups.flatMap((group) => personaRoles.map((role): PersonaName => `${group}-${role}`));
const outsiders = everybody.filter((name) => name.startsWith('stranger-'));

describe('on a node that one project owns and another leases', () => {
  test.each([
    // rule                                             persona            may
    ['temper:node:run_runbook', 'system-member', true],
    ['temper:node:run_runbook', 'system-service', true],
    ['temper:node:run_runbook', 'system-reader', false],
    ['temper:node:run_runbook', 'owner-member', true],
    ['temper:node:run_runbook', 'owner-reader', false],
    ['temper:node:run_runbook', 'lessee-member', true],
    ['temper:node:run_runbook', 'lessee-reader', false],
    ['temper:node:run_runbook', 'lessee-service', false],
    ['temper:node:run_runbook', 'stranger-admin', false],
    ['baremetal:node:set_provision_state', 'owner-member', true],
    ['baremetal:node:set_provision_state', 'lessee-manager', true],
    ['baremetal:node:set_provision_state', 'lessee-member', false],
    ['baremetal:node:set_provision_state', 'stranger-admin', false],
    ['baremetal:node:set_provision_state:clean_steps', 'system-member', true],
    ['baremetal:node:set_provision_state:clean_steps', 'system-service', true],
    ['baremetal:node:set_provision_state:clean_steps', 'system-reader', false],
    ['baremetal:node:set_provision_state:clean_steps', 'owner-admin', true],
    ['baremetal:node:set_provision_state:clean_steps', 'owner-manager', true],
    ['baremetal:node:set_provision_state:clean_steps', 'owner-member', false],
    ['baremetal:node:set_provision_state:clean_steps', 'owner-service', false],
    ['baremetal:node:set_provision_state:clean_steps', 'lessee-admin', false],
    ['baremetal:node:set_provision_state:service_steps', 'owner-manager', true],
    ['baremetal:node:set_provision_state:service_steps', 'owner-member', false],
    ['baremetal:node:set_provision_state:service_steps', 'lessee-admin', false],
    ['temper:node:deploy_steps', 'system-member', true],
    ['temper:node:deploy_steps', 'owner-manager', true],
    ['temper:node:deploy_steps', 'owner-member', false],
    ['temper:node:deploy_steps', 'lessee-admin', false],
    ['temper:node:deploy_steps', 'stranger-admin', false],
    ['baremetal:node:set_power_state', 'lessee-member', true],
    ['baremetal:node:set_power_state', 'lessee-reader', false],
    ['temper:node:steps', 'lessee-reader', true],
    ['temper:node:steps', 'stranger-reader', false],
    ['baremetal:node:get:driver_info', 'owner-reader', true],
    ['baremetal:node:get:driver_info', 'lessee-admin', false],
    ['temper:policy:explain', 'system-reader', true],
    ['temper:policy:explain', 'owner-admin', false],
    ['temper:policy:history', 'system-reader', true],
    ['temper:policy:history', 'owner-admin', false],
  ] as const)('%s as %s: %s', (rule, who, may) => {
    expect(policy.allows(rule, personas[who], node)).toBe(may);
  });

  test('an unrelated project sees and does nothing, whatever its roles', () => {
    const free = /(?:^|:)(?:list|ipa_\w+|create:self_owned_node)$/;
    const guarded = ruleNames.filter((rule) => /^(?:baremetal:(?:node|port|portgroup|volume)|temper:node):/.test(rule));
    const open = guarded.filter((rule) => outsiders.some((name) => policy.allows(rule, personas[name], node)));
    expect(open.filter((rule) => !free.test(rule))).toEqual([]);
  });
});

describe('a runbook', () => {
  const own = runbookTarget({ owner, public: false });
  const shared = runbookTarget({ owner: null, public: true });
  const hidden = runbookTarget({ owner: null, public: false });
  const may = (rule: string, target: typeof own): PersonaName[] =>
    everybody.filter((name) => policy.allows(`baremetal:runbook:${rule}`, personas[name], target));
  const operators = ['system-admin', 'system-manager', 'system-member', 'system-service'];

  test('of a project is used by its members and changed by its managers', () => {
    expect(may('use', own)).toEqual([...operators, 'owner-admin', 'owner-manager', 'owner-member', 'owner-service']);
    expect(may('update', own)).toEqual([...operators, 'owner-admin', 'owner-manager', 'owner-service']);
    expect(may('delete', own)).toEqual(may('update', own));
  });

  test('of a project is hidden from every other project, its services included', () => {
    expect(may('get', own).filter((name) => !name.startsWith('system-'))).toEqual(
      personaRoles.map((role) => `owner-${role}`),
    );
  });

  test('that is public is read by every reader and used by every member, and changed by operators only', () => {
    const projects = ['owner', 'lessee', 'stranger'];
    const roles = (...names: string[]) => projects.flatMap((project) => names.map((role) => `${project}-${role}`));
    expect(may('get', shared).slice(5)).toEqual(roles('admin', 'manager', 'member', 'reader'));
    expect(may('use', shared)).toEqual([...operators, ...roles('admin', 'manager', 'member')]);
    expect(may('update', shared)).toEqual(operators);
  });

  test('that is private and ownerless is for the system alone', () => {
    for (const rule of ['get', 'use', 'update', 'delete'])
      expect(may(rule, hidden).every((name) => name.startsWith('system-'))).toBe(true);
  });

  test('is created by managers and services that have a project', () => {
    const projects = ['owner', 'lessee', 'stranger'].flatMap((group) =>
      ['admin', 'manager', 'service'].map((role) => `${group}-${role}`),
    );
    expect(may('create', {})).toEqual([...operators, ...projects]);
    const adrift = { ...personas['owner-service'], project_id: null };
    expect(policy.allows('baremetal:runbook:create', adrift)).toBe(false);
  });
});

describe('a run', () => {
  test('is seen by the lessee while the lease lasts, and by the owner always', () => {
    const during = runTarget({ owner, tenant: lessee });
    const after = runTarget({ owner, tenant: null });
    const may = (who: PersonaName) =>
      [during, after].map((target) => policy.allows('temper:run:get', personas[who], target));
    expect(may('lessee-reader')).toEqual([true, false]);
    expect(may('owner-reader')).toEqual([true, true]);
    expect(may('system-reader')).toEqual([true, true]);
    expect(may('stranger-admin')).toEqual([false, false]);
  });
});

describe('null', () => {
  const unscoped = { ...inProject('any', 'admin'), project_id: null, project_name: null };

  test('never matches null: no caller without a project owns what no project owns', () => {
    const bare = nodeTarget({ owner: null, lessee: null });
    const compat = createPolicy({ set: 'temper', mode: 'compat' });
    expect(compat.allows('baremetal:node:get', unscoped, bare)).toBe(true);
    const open = ruleNames.filter(
      (rule) => policy.allows(rule, unscoped, bare) && !policy.allows(rule, unscoped, node),
    );
    expect(open).toEqual([]);
    expect(policy.allows('baremetal:node:get', unscoped, bare)).toBe(false);
    expect(policy.allows('temper:run:get', unscoped, runTarget({ owner: null, tenant: null }))).toBe(false);
  });

  test('opens no rule for a system reader that an owned node would refuse', () => {
    const bare = nodeTarget({ owner: null, lessee: null });
    const rules = ruleNames.filter((rule) => policy.allows(rule, personas['system-manager'], bare));
    expect(rules.filter((rule) => !policy.allows(rule, personas['system-manager'], node))).toEqual([]);
  });

  test('is what the literal None asks for', () => {
    const unowned = createPolicy({
      set: 'temper',
      overrides: { 'baremetal:node:set_power_state': 'None:%(node.owner)s' },
    });
    const may = (who: string | null) =>
      unowned.allows(
        'baremetal:node:set_power_state',
        personas['system-reader'],
        nodeTarget({ owner: who, lessee: null }),
      );
    expect([may(null), may('None'), may('project')]).toEqual([true, false, false]);
  });
});

test('chassis and drivers answer to system scope alone', () => {
  const rules = ruleNames.filter((rule) => /^baremetal:(?:chassis|driver):(?!ipa_)/.test(rule));
  expect(rules.length).toBe(8);
  for (const rule of rules) {
    expect(policy.allows(rule, personas['system-admin'])).toBe(true);
    expect(policy.allows(rule, personas['owner-admin'])).toBe(false);
  }
});

test('every rule but the helpers and those no caller may pass admits a caller and refuses one', () => {
  const targets = [
    node,
    runbookTarget({ owner, public: false }),
    runTarget({ owner, tenant: lessee }),
    { 'allocation.owner': owner },
    disruptionTarget({ project: owner }),
    windowTarget({ project: owner }),
    rolloutTarget({ project: owner, requester: 'u', projects: 'own', tenant: owner }),
  ];
  const admits = (rule: string) =>
    everybody.some((name) => targets.some((target) => policy.allows(rule, personas[name], target)));
  const refuses = (rule: string) => targets.some((target) => !policy.allows(rule, anonymous, target));
  const rules = ruleNames.filter((name) => name.includes(':'));
  expect(rules.filter((rule) => !admits(rule))).toEqual([
    'temper:node:deploy_any_image',
    'temper:runbook:cross',
    'temper:runbook:cross_without_reason',
    'temper:rollout:without_consent',
    'temper:rollout:override_budget',
  ]);
  expect(rules.filter((rule) => !refuses(rule))).toEqual([
    'baremetal:node:ipa_heartbeat',
    'baremetal:driver:ipa_lookup',
    'baremetal:driver:ipa_continue_inspection',
  ]);
});

describe('the other sets', () => {
  const ironic = createPolicy({ set: 'ironic' });
  const closed = createPolicy({ set: 'closed' });

  test('in both, a runbook needs what every provision request needs', () => {
    for (const other of [ironic, closed])
      for (const who of everybody)
        expect(other.allows('temper:node:run_runbook', personas[who], node)).toBe(
          other.allows('baremetal:node:set_provision_state', personas[who], node),
        );
    expect(ironic.allows('temper:node:run_runbook', personas['lessee-manager'], node)).toBe(true);
    expect(ironic.allows('temper:node:run_runbook', personas['lessee-member'], node)).toBe(false);
  });

  test('steps of a deployment need the right to provision in one, and an operator in the other', () => {
    for (const who of everybody) {
      const may = ironic.allows('baremetal:node:set_provision_state', personas[who], node);
      expect(ironic.allows('temper:node:deploy_steps', personas[who], node)).toBe(may);
    }
    const operators = ['system-admin', 'system-manager', 'system-member', 'system-service'];
    expect(everybody.filter((who) => closed.allows('temper:node:deploy_steps', personas[who], node))).toEqual(
      operators,
    );
  });

  test('in closed, projects may do nothing at all', () => {
    const targets = [
      node,
      runbookTarget({ owner, public: true }),
      runTarget({ owner, tenant: lessee }),
      { 'allocation.owner': owner },
    ];
    const projects = everybody.filter((name) => !name.startsWith('system-'));
    const open = ruleNames
      .filter((rule) => rule.includes(':'))
      .filter((rule) => projects.some((name) => targets.some((target) => closed.allows(rule, personas[name], target))));
    expect(open).toEqual([
      'baremetal:node:ipa_heartbeat',
      'baremetal:driver:ipa_lookup',
      'baremetal:driver:ipa_continue_inspection',
    ]);
  });

  test('in closed, a file can open single rules again', () => {
    const overrides = { 'baremetal:node:get': 'role:reader and project_id:%(node.owner)s' };
    const opened = createPolicy({ set: 'closed', overrides });
    expect(opened.allows('baremetal:node:get', personas['owner-reader'], node)).toBe(true);
    expect(opened.allows('baremetal:node:get', personas['lessee-reader'], node)).toBe(false);
  });

  test('in closed, who is given the update of a node may write its notes, unless these have a line of their own', () => {
    const update = { 'baremetal:node:update': 'role:member and rule:is_node_owner' };
    const may = (overrides: Record<string, string>, rule: string) =>
      createPolicy({ set: 'closed', overrides }).allows(`baremetal:node:${rule}`, personas['owner-member'], node);
    expect(may(update, 'update_extra')).toBe(true);
    expect(may({ ...update, 'baremetal:node:update_extra': '!' }, 'update_extra')).toBe(false);
    for (const rule of ['update_instance_info', 'update:driver_info', 'update:owner', 'disable_cleaning'])
      expect(may(update, rule)).toBe(false);
  });
});
