/** Inspection rules as they run: conditions, placeholders, loops, actions, and what they must not do. */
import { isTemperError } from '../../src/model/errors';
import {
  actionArgs,
  actionsNotOffered,
  conditionArgs,
  type RuleStep,
  stepFault,
} from '../../src/model/inspection/rule-ops';
import { type RuleSubject, runRules } from '../../src/model/inspection/rule-run';
import type { InspectionRule } from '../../src/model/resources/inspection-rules';
import { actionOps, conditionOps } from '../../src/model/resources/inspection-rules';

const subject: RuleSubject = {
  node: {
    uuid: '11111111-2222-4333-8444-555555555555',
    name: 'n1',
    driver: 'redfish',
    properties: { cpus: 2, capabilities: 'boot_mode:uefi,x:1' },
    extra: { rack: { row: 7 }, tags: ['a'] },
    description: null,
    resource_class: null,
    automated_clean: null,
    shard: null,
    traits: ['CUSTOM_OLD'],
  },
  ports: [{ uuid: 'aaaaaaaa-2222-4333-8444-555555555555', address: '52:54:00:00:00:01', extra: {}, pxe_enabled: true }],
  inventory: {
    cpu: { count: 16, architecture: 'x86_64' },
    memory: { physical_mb: 65_536 },
    bmc_address: '192.0.2.7',
    disks: [
      { name: '/dev/sda', size: 100 },
      { name: '/dev/sdb', size: 200 },
    ],
    system_vendor: { manufacturer: 'Acme', product_name: 'Server 9' },
    nothing: null,
    auth_token: 'geheim',
  },
  plugin_data: { logs: 'x', deep: { a: 1 } },
};

const rule = (
  actions: RuleStep[],
  conditions: RuleStep[] = [],
  more: Partial<InspectionRule> = {},
): InspectionRule => ({
  uuid: 'r',
  description: 'of the test',
  phase: 'main',
  priority: 0,
  sensitive: false,
  conditions,
  actions,
  ...more,
});

const matching = (regex: string, text: string) => new RegExp(regex).test(text);
const run = (...rules: InspectionRule[]) => runRules(rules, subject, matching);
const act = (op: string, args: RuleStep['args'], more: Partial<RuleStep> = {}) => run(rule([{ op, args, ...more }]));
const holds = (op: string, args: RuleStep['args'], more: Partial<RuleStep> = {}) =>
  run(rule([{ op: 'log', args: { msg: 'held' } }], [{ op, args, ...more }])).ran.length === 1;

const failure = (work: () => unknown) => {
  try {
    work();
  } catch (thrown) {
    if (isTemperError(thrown, 'InspectionRuleFailed')) return thrown.message;
    throw thrown;
  }
  throw new Error('nothing failed');
};

test('every operation that the wire takes is known here, or left out for a reason', () => {
  expect([...Object.keys(actionArgs), ...Object.keys(actionsNotOffered)].sort()).toEqual([...actionOps].sort());
  expect(
    Object.keys(conditionArgs)
      .flatMap((op) => [op, `!${op}`])
      .sort(),
  ).toEqual([...conditionOps].sort());
});

describe('a condition', () => {
  test.each([
    ['eq', { values: ['{inventory[cpu][count]}', 16] }, true],
    ['eq', ['{inventory[cpu][count]}', '16'], true],
    ['eq', [['{node.driver}', 'redfish', 'redfish']], true],
    ['eq', ['{node.driver}', 'ipmi'], false],
    ['!eq', ['{node.driver}', 'ipmi'], true],
    ['lt', ['{inventory[cpu][count]}', '100'], true],
    ['lt', [1, 2, 3], true],
    ['lt', [1, 3, 2], false],
    ['gt', ['{inventory.memory.physical_mb}', 65_535], true],
    ['is-empty', { value: '{inventory[nothing]}' }, true],
    ['is-empty', { value: '{plugin_data[deep]}' }, false],
    ['is-empty', [''], true],
    ['in-net', ['{inventory[bmc_address]}', '192.0.2.0/24'], true],
    ['in-net', ['{inventory[bmc_address]}', '198.51.100.0/24'], false],
    ['in-net', ['nowhere', '192.0.2.0/24'], false],
    ['matches', ['{inventory[system_vendor][product_name]}', 'Server \\d'], true],
    ['matches', ['{inventory[system_vendor][product_name]}', 'Server'], false],
    ['contains', ['{inventory[system_vendor][product_name]}', 'Ser'], true],
    ['one-of', { value: '{inventory[cpu][architecture]}', values: ['aarch64', 'x86_64'] }, true],
    ['one-of', { value: 'ppc', values: ['aarch64'] }, false],
    ['is-none', ['{inventory[nothing]}'], true],
    ['is-true', ['yes'], true],
    ['is-true', ['perhaps'], false],
    ['is-false', [0], true],
    ['is-false', ['{inventory[nothing]}'], true],
  ] as const)('%s %j: %s', (op, args, result) => expect(holds(op, args as never)).toBe(result));

  test.each([
    ['any', true],
    ['all', false],
    ['first', false],
    ['last', true],
  ] as const)('over a loop, %s of them: %s', (multiple, result) =>
    expect(holds('gt', ['{item[size]}', 150], { loop: subject.inventory.disks as never, multiple })).toBe(result),
  );

  test('that makes no sense fails the inspection, and says why', () => {
    expect(failure(() => holds('in-net', ['192.0.2.7', 'home']))).toBe(
      'Inspection rule of the test: home is no network',
    );
    expect(failure(() => holds('lt', [{ a: 1 }, 2]))).toContain('cannot be compared');
  });

  test('all of them must hold', () => {
    const yes = { op: 'eq', args: [1, 1] };
    const no = { op: 'eq', args: [1, 2] };
    expect(run(rule([{ op: 'log', args: ['x'] }], [yes, no])).ran).toEqual([]);
    expect(run(rule([{ op: 'log', args: ['x'] }], [yes, yes])).ran).toEqual(['r']);
  });
});

describe('a placeholder', () => {
  const said = (msg: string) => act('log', { msg }).said[0]!.msg;

  test.each([
    ['{inventory[cpu][count]} cores of {node.name}', '16 cores of n1'],
    ['{inventory[disks][1][name]}', '/dev/sdb'],
    ['{{inventory}} {node[driver]}', '{inventory} redfish'],
    ['{inventory[gpu][count]} stays', '{inventory[gpu][count]} stays'],
    ['{environment[HOME]}', '{environment[HOME]}'],
    ['{inventory.__proto__.polluted}', '{inventory.__proto__.polluted}'],
    ['{inventory.constructor}', '{inventory.constructor}'],
    ['{inventory[auth_token]}', '***'],
  ])('in %j becomes %j', (given, shown) => expect(said(given)).toBe(shown));

  test('that is the whole text keeps the type of what it names', () => {
    const { node } = act('set-attribute', ['/extra/found', '{inventory[cpu]}']);
    expect(node.extra).toMatchObject({ found: { count: 16, architecture: 'x86_64' } });
    expect(act('set-attribute', ['properties.cpus', '{inventory[cpu][count]}']).node.properties).toMatchObject({
      cpus: 16,
    });
  });
});

describe('an action', () => {
  test.each([
    ['set-attribute', ['description', 'by {inventory[system_vendor][manufacturer]}'], { description: 'by Acme' }],
    ['set-attribute', ['resource_class', 'gold'], { resource_class: 'gold' }],
    ['set-attribute', ['/extra/rack/row', 8], { extra: { rack: { row: 8 }, tags: ['a'] } }],
    ['set-attribute', ['/extra/a/b/c', 1], { extra: { rack: { row: 7 }, tags: ['a'], a: { b: { c: 1 } } } }],
    ['extend-attribute', ['/extra/tags', 'b'], { extra: { rack: { row: 7 }, tags: ['a', 'b'] } }],
    ['extend-attribute', ['/extra/tags', 'a', true], {}],
    ['extend-attribute', ['/extra/new', 1], { extra: { rack: { row: 7 }, tags: ['a'], new: [1] } }],
    ['del-attribute', ['/extra/rack/row'], { extra: { rack: {}, tags: ['a'] } }],
    ['del-attribute', ['/extra/none/such'], {}],
    ['del-attribute', ['extra'], { extra: {} }],
    ['set-capability', ['y', 2], { properties: { cpus: 2, capabilities: 'boot_mode:uefi,x:1,y:2' } }],
    ['set-capability', ['x', 3], { properties: { cpus: 2, capabilities: 'boot_mode:uefi,x:3' } }],
    ['unset-capability', ['x'], { properties: { cpus: 2, capabilities: 'boot_mode:uefi' } }],
    ['unset-capability', ['none'], {}],
  ] as const)('%s %j changes %j of the node', (op, args, changes) =>
    expect(act(op, args as never).node).toEqual(changes),
  );

  test('changes traits', () => {
    expect(act('add-trait', ['CUSTOM_NEW']).traits).toEqual(['CUSTOM_OLD', 'CUSTOM_NEW']);
    expect(act('add-trait', ['CUSTOM_OLD']).traits).toBeUndefined();
    expect(act('remove-trait', ['CUSTOM_OLD']).traits).toEqual([]);
    expect(act('remove-trait', ['CUSTOM_NONE']).traits).toBeUndefined();
  });

  test('changes what is kept beside the inventory', () => {
    expect(act('set-plugin-data', ['deep.b', 2]).plugin_data).toEqual({ logs: 'x', deep: { a: 1, b: 2 } });
    expect(act('extend-plugin-data', ['list', 1]).plugin_data).toMatchObject({ list: [1] });
    expect(act('unset-plugin-data', ['logs']).plugin_data).toEqual({ deep: { a: 1 } });
  });

  test('changes a port, named by UUID or address', () => {
    const [port] = subject.ports;
    for (const id of [port!.uuid, '52:54:00:00:00:01'])
      expect(act('set-port-attribute', [id, 'extra/switch', 'sw1']).ports).toEqual([
        { uuid: port!.uuid, values: { extra: { switch: 'sw1' } } },
      ]);
    expect(act('set-port-attribute', ['52:54:00:00:00:01', 'pxe_enabled', false]).ports[0]!.values).toEqual({
      pxe_enabled: false,
    });
    expect(failure(() => act('set-port-attribute', ['none', 'extra/a', 1]))).toContain('the node has no port none');
  });

  test('runs for each item of a loop', () => {
    const loop = [
      { path: 'extra/a', value: '{inventory[cpu][count]}' },
      { path: 'extra/b', value: 2 },
    ];
    const { node } = act('set-attribute', { path: '{item[path]}', value: '{item[value]}' }, { loop });
    expect(node.extra).toMatchObject({ a: 16, b: 2 });
  });

  test('fail ends the inspection with its text', () => {
    expect(failure(() => act('fail', { msg: 'no disk' }))).toBe('Inspection rule of the test: no disk');
    expect(failure(() => run(rule([{ op: 'fail' }])))).toContain('it gives no reason');
  });

  test.each([
    ['driver_info/redfish_address', 'https://198.51.100.1'],
    ['owner', 'me'],
    ['/driver', 'idrac'],
    ['provision_state', 'active'],
    ['instance_info/image_source', 'x'],
    ['deploy_interface', 'ramdisk'],
    ['uuid', 'x'],
    ['driver', 'redfish'],
    ['description/x', 'x'],
    ['extra/__proto__/polluted', 'x'],
    ['{inventory[system_vendor][manufacturer]}', 'x'],
  ])('cannot set %s', (path, value) => {
    expect(failure(() => act('set-attribute', { path, value }))).toMatch(
      /cannot set|has no parts|no document may have/,
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test.each([
    ['description', 7, 'description cannot be 7'],
    ['resource_class', 'x'.repeat(81), 'resource_class would be longer than 80'],
    ['extra', 'text', 'extra cannot be'],
    ['extra/a', 'x'.repeat(70_000), 'extra would be longer than 65536'],
    ['automated_clean', 'yes', 'automated_clean cannot be'],
  ])('cannot leave %s as what it must not be', (path, value, says) =>
    expect(failure(() => act('set-attribute', { path, value }))).toContain(says),
  );

  test('an invalid trait, a list that is none, and a document that is none fail the inspection', () => {
    expect(failure(() => act('add-trait', ['bad']))).toContain('is not a trait');
    expect(failure(() => act('extend-attribute', ['/extra/rack', 1]))).toContain('is no list');
    expect(failure(() => act('set-attribute', ['/extra/tags/x', 1]))).toContain('is no document');
  });
});

test('rules run by priority, highest first, each on what those before it have left, and only those of the main phase', () => {
  const set = (value: number, priority: number, more: Partial<InspectionRule> = {}) =>
    rule([{ op: 'set-attribute', args: ['extra/last', value] }], [], { uuid: `r${value}`, priority, ...more });
  const seen = rule([{ op: 'log', args: ['{node.extra[last]}'] }], [], { uuid: 'seen', priority: 5 });
  const outcome = run(set(1, 0), set(2, 10), seen, set(3, 99, { phase: 'early' }));
  expect(outcome.ran).toEqual(['r2', 'seen', 'r1']);
  expect([outcome.said[0]!.msg, (outcome.node.extra as { last: number }).last]).toEqual(['2', 1]);
});

test('the subject stays as it is, and nothing to do changes nothing', () => {
  const before = structuredClone(subject);
  act('set-attribute', ['/extra/rack/row', 8]);
  expect(subject).toEqual(before);
  expect(run()).toEqual({ ran: [], node: {}, ports: [], said: [] });
});

test('a rule with a sealed secret is not run', () => {
  const sealed = rule([{ op: 'log', args: { msg: { $secret: 'x' } } }]);
  expect(failure(() => run(sealed))).toContain('it holds a secret');
});

test.each([
  [{ op: 'set-attribute', args: { path: 'extra/a' } }, 'set-attribute lacks value'],
  [{ op: 'log', args: { msg: 'x', colour: 'red' } }, 'log does not take colour'],
  [{ op: 'api-call', args: { url: 'https://x.example.org' } }, 'api-call is not offered'],
  [{ op: '!eq', args: {} }, 'eq lacks values'],
  [
    { op: 'set-attribute', args: ['driver_info/x', 1] },
    'a rule cannot set driver_info of a node; it can set properties',
  ],
  [{ op: 'set-attribute', args: ['{item[path]}', 1] }, undefined],
  [{ op: 'set-attribute', args: ['/driver', 'idrac'] }, undefined],
  [{ op: 'set-attribute', args: ['/driver', 'redfish'] }, undefined],
  [{ op: 'fail' }, undefined],
] as const)('%j as it is written: %s', (step, says) => {
  const fault = stepFault(step as RuleStep);
  if (says === undefined) expect(fault).toBeUndefined();
  else expect(fault).toContain(says);
});
