/** Which of Ironic's notifications an event becomes: their order, levels and values. */
import type { NoticedEvent } from '../../src/model/notifications/notice';
import { noticesOf } from '../../src/model/notifications/notices';

const node = '0d5a6f5e-7e14-4f4b-8a52-0000000000a1';
const event = (kind: NoticedEvent['kind'], data: object = {}, rest: Partial<NoticedEvent> = {}): NoticedEvent => ({
  at: new Date('2026-11-27T18:00:00.123Z'),
  kind,
  node_uuid: node,
  project: 'owner',
  lessee: null,
  data: { ...data },
  verb: null,
  power: null,
  ...rest,
});
const told = (one: NoticedEvent) => noticesOf(one)?.notices ?? [];
const types = (one: NoticedEvent) => told(one).map(({ type, level }) => `${type} ${level}`);

describe('records', () => {
  test.each([
    ['node.created', 'nodes', 'node.create', {}],
    ['node.updated', 'nodes', 'node.update', {}],
    ['node.deleted', 'nodes', 'node.delete', {}],
    ['node.traits.set', 'nodes', 'node.update', {}],
    ['port.created', 'ports', 'port.create', { port_uuid: 'p' }],
    ['portgroup.updated', 'portgroups', 'portgroup.update', { portgroup_uuid: 'p' }],
    ['chassis.deleted', 'chassis', 'chassis.delete', { chassis_uuid: 'p' }],
    ['allocation.created', 'allocations', 'allocation.create', { allocation_uuid: 'p' }],
    ['volume_connector.created', 'volume_connectors', 'volumeconnector.create', { volume_connector_uuid: 'p' }],
    ['volume_target.deleted', 'volume_targets', 'volumetarget.delete', { volume_target_uuid: 'p' }],
    ['deploy_template.updated', 'deploy_templates', 'deploytemplate.update', { deploy_template_uuid: 'p' }],
  ] as const)('%s has a start and an end', (kind, table, type, data) => {
    const noticed = noticesOf(event(kind, data))!;
    expect([noticed.table, noticed.uuid]).toEqual([table, table === 'nodes' ? node : 'p']);
    expect(types(event(kind, data))).toEqual([`${type}.start info`, `${type}.end info`]);
    expect(told(event(kind, data)).map(({ service }) => service)).toEqual(['ironic-api', 'ironic-api']);
  });

  test('the start of a creation has what the caller gave, and no times', () => {
    const [start, end] = told(event('node.created', { name: 'a', driver: 'b', given: { name: 'a', driver: 'b' } }));
    expect(start!.only).toEqual(['uuid', 'node_uuid', 'provision_state', 'conductor_group', 'name', 'driver']);
    expect(start!.values).toMatchObject({ created_at: null });
    expect(end!.only).toBeUndefined();
    expect(told(event('port.created', { port_uuid: 'p', changed: ['address'] }))[0]!.only).toContain('address');
  });

  test('a created allocation waits for its node, unless the request names it', () => {
    const values = (data: object) => told(event('allocation.created', { allocation_uuid: 'p', ...data }))[1]!.values;
    expect(values({})).toMatchObject({ state: 'allocating', node_uuid: null });
    expect(values({ node_uuid: 'n' })).toMatchObject({ state: 'active', node_uuid: 'n' });
  });

  test('what Ironic does not tell of is left out, and so is what has no subject', () => {
    for (const kind of ['runbook.created', 'webhook.created', 'node.frozen', 'step.begun', 'rollout.started'] as const)
      expect(noticesOf(event(kind))).toBeUndefined();
    expect(noticesOf(event('port.created'))).toBeUndefined();
    expect(noticesOf(event('node.power', {}, { node_uuid: null }))).toBeUndefined();
  });
});

describe('provision states', () => {
  const moved = (kind: NoticedEvent['kind'], from: unknown, to: unknown, more: object = {}, verb = 'active') =>
    event(kind, { from, to, ...more }, { verb });

  test.each([
    [moved('run.accepted', 'available', 'deploying'), 'start info', 'deploy', null, 'active'],
    [moved('node.moved', 'deploying', 'wait call-back', { event: 'wait' }), 'success info', 'wait', 'active', 'active'],
    [moved('run.succeeded', 'deploying', 'active'), 'end info', 'done', 'active', null],
    [moved('run.failed', 'deploying', 'deploy failed'), 'error error', 'fail', 'active', 'active'],
    [moved('run.aborted', 'clean wait', 'clean failed', {}, 'provide'), 'end info', 'abort', 'available', 'available'],
    [moved('run.accepted', 'manageable', 'cleaning', {}, 'clean'), 'start info', 'clean', null, 'manageable'],
    [moved('run.succeeded', 'cleaning', 'manageable', {}, 'clean'), 'end info', 'manage', 'manageable', null],
    [moved('node.moved', 'clean wait', 'clean hold', { event: 'hold' }), 'end info', 'hold', 'available', 'available'],
  ])('%j', (one, status, fsm, before, target) => {
    expect(types(one)).toEqual([`node.provision_set.${status}`]);
    expect(told(one)[0]).toMatchObject({
      service: 'ironic-conductor',
      payload: 'nodeProvision',
      values: {
        event: fsm,
        previous_provision_state: one.data.from,
        provision_state: one.data.to,
        previous_target_provision_state: before,
        target_provision_state: target,
        owner: 'owner',
        lessee: null,
      },
    });
  });

  test('a tear-down without cleaning passes through it, as in Ironic', () => {
    const told_ = told(moved('run.succeeded', 'deleting', 'available', {}, 'deleted'));
    expect(
      told_.map(({ type, values }) => [type, values.event, values.previous_provision_state, values.provision_state]),
    ).toEqual([
      ['node.provision_set.success', 'clean', 'deleting', 'cleaning'],
      ['node.provision_set.end', 'done', 'cleaning', 'available'],
    ]);
  });

  test('a run that moved no node, and one that another took over from, are not told of', () => {
    expect(types(moved('run.succeeded', 'active', null))).toEqual([]);
    expect(types(moved('run.aborted', 'deploying', null))).toEqual([]);
    expect(types(moved('run.accepted', 'nowhere', 'active'))).toEqual([]);
  });
});

describe('power', () => {
  test('a request for power starts with its acceptance, and ends with its run', () => {
    expect(types(event('run.accepted', { from: 'active', to: null, target: 'rebooting' }))).toEqual([
      'node.power_set.start info',
    ]);
    const ended = event('run.succeeded', { from: 'active', to: null }, { power: 'rebooting' });
    expect(types(ended)).toEqual(['node.power_set.end info']);
    expect(told(ended)[0]!.values).toMatchObject({
      to_power: 'rebooting',
      power_state: 'power on',
      target_power_state: null,
    });
    const failed = event('run.failed', { from: 'active', to: null, error: 'silent' }, { power: 'power off' });
    expect(types(failed)).toEqual(['node.power_set.error error']);
    expect(told(failed)[0]!.values).toMatchObject({ to_power: 'power off', last_error: 'silent' });
  });

  test('an act that switched a node has both, one that found it switched corrects the record', () => {
    const done = (act: string, power: string | null = null) =>
      types(event('step.done', { act, power_state: 'power on' }, { power }));
    expect(done('power_on')).toEqual(['node.power_set.start info', 'node.power_set.end info']);
    expect(done('verify')).toEqual(['node.power_state_corrected.success info']);
    expect(done('power_on', 'power on')).toEqual([]); // its run says it
    expect(types(event('step.done', { act: 'power_on' }))).toEqual([]);
  });

  test('power sync corrects the record', () => {
    const [corrected] = told(event('node.power', { from: 'power on', to: 'power off' }));
    expect(corrected).toMatchObject({
      type: 'node.power_state_corrected.success',
      values: { from_power: 'power on', power_state: 'power off' },
    });
  });
});

test('maintenance and consoles have a start and an end; a console starts in its other state', () => {
  expect(types(event('node.maintenance.set', { maintenance_reason: 'fan' }))).toEqual([
    'node.maintenance_set.start info',
    'node.maintenance_set.end info',
  ]);
  expect(told(event('node.maintenance.cleared')).map(({ values }) => values.maintenance)).toEqual([false, false]);
  const consoles = told(event('node.console.set', { console_enabled: true }));
  expect(consoles.map(({ type, values }) => [type, values.console_enabled])).toEqual([
    ['node.console_set.start', false],
    ['node.console_set.end', true],
  ]);
});
