/** The shipped profiles: each changes what its author meant for whom it was meant, and nothing else. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anonymous, type Caller, expandRoles } from '../../src/model/access/callers';
import {
  allocationTarget,
  createPolicy,
  customRoles,
  diffPolicies,
  membersWith,
  nodeTarget,
  personas,
  type RuleSetName,
  readPolicy,
  renderDifference,
  ruleNames,
  runbookTarget,
  runTarget,
  supportersFor,
} from '../../src/policy';
import { membersWith as everybodyWith, scenesOf } from '../../src/policy/reports/matrix-cells';
import { createRule, ownedWriteRules, readRule, renderServiceOperator } from '../../tools/gen/service-operator';
import { inSystem } from './support';

const root = join(__dirname, '../..');
const fileOf = (name: string): string => readFileSync(join(root, 'deploy/policies', `${name}.yaml`), 'utf8');

const load = (name: string, set: RuleSetName = 'temper', serviceProject: string | null = null) => {
  const source = readPolicy(fileOf(name), `${name}.yaml`);
  const policy = createPolicy({ set, ...source, elevatedServiceProject: serviceProject });
  return { policy, roles: customRoles(source.overrides), supporters: supportersFor(source.overrides) };
};

const node = nodeTarget({ owner: 'project-owner', lessee: 'project-lessee' });
const unowned = nodeTarget({ owner: null, lessee: null });

test.each([
  ['safe-operator', 'temper'],
  ['project-manager', 'temper'],
  ['support-admin', 'temper'],
  ['metalsmith', 'closed'],
] as const)('profile %s changes of set %s what the committed text says', (name, set) => {
  const { policy, roles, supporters } = load(name, set);
  const before = createPolicy({ set });
  const committed = readFileSync(join(__dirname, 'data', `profile-${name}.txt`), 'utf8');
  expect(renderDifference(diffPolicies(before, policy, [...membersWith(roles), ...supporters]))).toBe(committed);
  expect(policy.warnings).toEqual([]);
});

describe.each(['safe-operator', 'project-manager', 'support-admin'])('profile %s over set ironic', (name) => {
  const { policy, roles, supporters } = load(name, 'ironic');

  test('gives no rule a text by a name that it had once', () => {
    expect(policy.warnings).toEqual([]);
  });

  test('gives no caller a right over whose node it is, where it is or how it is deployed', () => {
    const { changes } = diffPolicies(createPolicy({ set: 'ironic' }), policy, [...membersWith(roles), ...supporters]);
    const gained = changes.filter(({ does }) => does === 'gains').flatMap(({ rules }) => rules);
    const grave =
      /:(?:update:(?!chassis_uuid$).*|delete|delete:.*|list_all|filter_threshold|create.*|set_provision_state.*)$/;
    expect(gained.filter((rule) => grave.test(rule))).toEqual([]);
  });
});

describe('the administrator limited to non-destructive acts', () => {
  const { policy } = load('safe-operator');
  const operator: Caller = { ...inSystem('reader'), roles: ['reader', 'bm_safe_operator'] };

  test('sees everything, and destroys nothing', () => {
    expect(policy.allows('baremetal:node:get', operator, node)).toBe(true);
    expect(policy.allows('baremetal:node:set_maintenance', operator, node)).toBe(true);
    for (const rule of ['delete', 'set_provision_state', 'set_power_state', 'update', 'update:driver_info'])
      expect(policy.allows(`baremetal:node:${rule}`, operator, node)).toBe(false);
  });

  test('has no right without system scope', () => {
    const inProject = { ...operator, system_scope: null, project_id: 'project-stranger' };
    expect(policy.allows('baremetal:node:set_maintenance', inProject, node)).toBe(false);
  });
});

describe('the project manager above the member', () => {
  const { policy } = load('project-manager');

  test.each([
    ['owner-manager', 'baremetal:node:set_provision_state', true],
    ['owner-admin', 'baremetal:node:set_provision_state', true],
    ['owner-member', 'baremetal:node:set_provision_state', false],
    ['owner-member', 'temper:node:run_runbook', true],
    ['owner-member', 'baremetal:node:set_power_state', true],
    ['owner-member', 'baremetal:node:update', false],
    ['lessee-member', 'baremetal:node:update', true],
    ['stranger-admin', 'baremetal:node:set_provision_state', false],
  ] as const)('%s asks %s: %s', (who, rule, may) => {
    expect(policy.allows(rule, personas[who], node)).toBe(may);
  });

  test('members run public runbooks and their project’s, and change none', () => {
    const may = (rule: string, target: object) =>
      policy.allows(`baremetal:runbook:${rule}`, personas['owner-member'], { ...target });
    expect(may('use', runbookTarget({ owner: 'project-owner', public: false }))).toBe(true);
    expect(may('use', runbookTarget({ owner: null, public: true }))).toBe(true);
    expect(may('use', runbookTarget({ owner: null, public: false }))).toBe(false);
    expect(may('update', runbookTarget({ owner: 'project-owner', public: false }))).toBe(false);
  });
});

describe('the system administrator who cannot touch projects’ hardware', () => {
  const { policy } = load('service-operator', 'temper', 'service');
  const compute: Caller = { ...anonymous, roles: ['service'], project_id: 'service', project_name: 'service' };
  const everything = expandRoles(['admin', 'service', 'manager']);
  const callers: Caller[] = [
    ...everybodyWith([]).flatMap(({ group, who }) => (group === 'system' ? [who] : [])),
    { ...inSystem('admin'), roles: everything },
    compute,
  ];

  /** Rules about something that belongs to a project, in every scene where it does. */
  const owned = ruleNames.flatMap((rule) =>
    scenesOf(rule)
      .filter(({ target }) => ['node.owner', 'runbook.owner', 'allocation.owner'].some((key) => target[key]))
      .map((scene) => [rule, scene] as const),
  );

  test('the committed file is what the generator makes of today’s rules', () => {
    expect(fileOf('service-operator')).toBe(renderServiceOperator());
  });

  test('no write rule is left open to any system caller on what a project owns', () => {
    const open = owned
      .filter(([rule]) => !readRule.test(rule) && !createRule.test(rule))
      .filter(([rule, { target }]) => callers.some((who) => policy.allows(rule, who, target)));
    expect(open.map(([rule, { title }]) => `${rule}: ${title}`)).toEqual([]);
    expect(owned.filter(([rule]) => ownedWriteRules.includes(rule)).length).toBeGreaterThan(100);
  });

  test('what counts as reading is this list, which a new rule has to join by hand', () => {
    const reads = ruleNames.filter(
      (rule) => rule.includes(':') && scenesOf(rule)[0]!.kind !== 'nothing' && readRule.test(rule),
    );
    const committed = readFileSync(join(__dirname, 'data', 'read-rules.txt'), 'utf8')
      .trimEnd()
      .split('\n');
    expect(reads).toEqual(committed);
  });

  test('reading, the service itself, and what no project owns stay open', () => {
    const admin = personas['system-admin'];
    expect(policy.allows('baremetal:node:get', admin, node)).toBe(true);
    expect(policy.allows('baremetal:node:create', admin)).toBe(true);
    for (const rule of ['driver:get', 'chassis:create', 'deploy_template:create', 'conductor:get'])
      expect(policy.allows(`baremetal:${rule}`, admin)).toBe(true);
    for (const rule of ['delete', 'set_power_state', 'set_provision_state', 'update:owner'])
      expect(policy.allows(`baremetal:node:${rule}`, admin, unowned)).toBe(true);
  });

  test('projects keep what they had', () => {
    const before = createPolicy({ set: 'temper' });
    const theirs = membersWith([]).filter(({ group }) => group !== 'system');
    expect(diffPolicies(before, load('service-operator').policy, theirs).changed).toBe(0);
  });
});

describe('the support administrator of several projects', () => {
  const { policy } = load('support-admin');
  const supporting = (project_id: string): Caller => ({ ...personas['owner-admin'], project_id });

  test('does in each of them what is otherwise for system administrators', () => {
    for (const project of ['project-owner', 'project-lessee'])
      expect(policy.allows('baremetal:node:vendor_passthru', supporting(project), node)).toBe(true);
    expect(policy.allows('baremetal:node:vendor_passthru', supporting('project-stranger'), node)).toBe(false);
    expect(policy.allows('baremetal:node:vendor_passthru', personas['owner-manager'], node)).toBe(false);
  });

  test('has no say in the service', () => {
    const everywhere = { ...supporting('project-stranger'), admin_projects: ['project-owner', 'project-lessee'] };
    for (const rule of [
      'deploy_template:create',
      'chassis:create',
      'chassis:get',
      'conductor:get',
      'driver:get',
      'driver:vendor_passthru',
      'node:update:owner',
      'node:update_owner_provisioned',
      'node:list_all',
      'allocation:list_all',
    ])
      for (const who of [supporting('project-owner'), everywhere])
        expect([rule, policy.allows(`baremetal:${rule}`, who, node)]).toEqual([rule, false]);
  });

  const supporter = (...admin_projects: string[]): Caller => ({ ...supporting('project-support'), admin_projects });
  const allocation = allocationTarget({ owner: 'project-owner' });
  const run = runTarget({ owner: 'project-owner', lessee: 'project-lessee', tenant: 'project-lessee' });

  test.each([
    // rule                                   target      of the owner  of the lessee  of another
    ['baremetal:node:get', node, true, true, false],
    ['baremetal:node:get:driver_info', node, true, false, false],
    ['baremetal:port:get', node, true, true, false],
    ['baremetal:node:set_power_state', node, true, true, false],
    ['baremetal:node:set_boot_device', node, true, false, false],
    ['baremetal:node:set_provision_state', node, false, false, false],
    ['baremetal:node:update', node, false, false, false],
    ['baremetal:node:delete', node, false, false, false],
    ['baremetal:node:delete:self_owned_node', node, false, false, false],
    ['baremetal:allocation:get', allocation, true, false, false],
    ['baremetal:allocation:delete', allocation, false, false, false],
    ['temper:run:get', run, true, true, false],
    ['temper:run:abort', run, true, true, false],
    ['temper:run:skip', run, false, false, false],
  ] as const)(
    'with a token of its own project, an admin of several asks %s',
    (rule, target, ofOwner, ofLessee, ofOther) => {
      const may = (...projects: string[]) => policy.allows(rule, supporter(...projects), target);
      expect([may('project-owner'), may('a', 'project-lessee'), may('a', 'b'), may()]).toEqual([
        ofOwner,
        ofLessee,
        ofOther,
        false,
      ]);
    },
  );

  test('what no project owns is no supporter’s', () => {
    for (const rule of ['baremetal:node:get', 'baremetal:node:set_power_state', 'baremetal:node:disable_cleaning'])
      expect(policy.allows(rule, supporter('None', 'project-owner'), unowned)).toBe(false);
  });

  test('a list of many projects is filtered by one condition for each column', () => {
    const projects = Array.from({ length: 1_000 }, (_, index) => `p${index}`);
    const columns = { 'node.owner': 'owner', 'node.lessee': 'lessee' };
    const text = JSON.stringify(policy.filter('baremetal:node:get', supporter(...projects), columns));
    for (const column of ['owner', 'lessee'])
      expect(text).toContain(JSON.stringify({ is: 'among', column, values: projects }));
    expect(text.match(/"is"/g)!.length).toBeLessThan(12);
  });

  test('where it is not known which projects they are, what needs them is not decided, and everything else is', () => {
    const adrift: Caller = { ...supporting('project-owner'), admin_projects: null };
    const elsewhere: Caller = { ...adrift, project_id: 'project-stranger' };
    expect(policy.allows('baremetal:node:get', adrift, node)).toBe(true);
    expect(policy.allows('baremetal:node:update', elsewhere, node)).toBe(false);
    expect(createPolicy({ set: 'temper' }).filter('baremetal:node:get', elsewhere, { 'node.owner': 'owner' }).is).toBe(
      'equals',
    );
    const unavailable = expect.objectContaining({ code: 'IdentityUnavailable' });
    expect(() => policy.allows('baremetal:node:get', elsewhere, node)).toThrow(unavailable);
    expect(() => policy.require('baremetal:node:get', elsewhere, node)).toThrow(unavailable);
    expect(() => policy.filter('baremetal:node:get', adrift, { 'node.owner': 'owner' })).toThrow(unavailable);
    expect(policy.explain('baremetal:node:get', elsewhere, node)).toMatchObject({ verdict: 'refused', why: 'fault' });
  });
});

describe('the owner who deploys with metalsmith', () => {
  const { policy } = load('metalsmith', 'closed');

  test('has what a deployment needs, and not the rest', () => {
    const may = (rule: string) => policy.allows(`baremetal:node:${rule}`, personas['owner-member'], node);
    for (const rule of ['get', 'update_extra', 'update_instance_info', 'validate', 'set_provision_state', 'vif:attach'])
      expect(may(rule)).toBe(true);
    for (const rule of ['update', 'set_power_state', 'delete', 'update:driver_info']) expect(may(rule)).toBe(false);
  });

  test('another project’s admin gets nothing', () => {
    for (const rule of ['get', 'set_provision_state', 'update_extra'])
      expect(policy.allows(`baremetal:node:${rule}`, personas['stranger-admin'], node)).toBe(false);
  });
});
