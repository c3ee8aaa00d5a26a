/** A tenant's silence and a tenant's disruption budget: passed over by a rule of its own alone, for a reason that the tenant reads. */
import type { RolloutDeps } from '../../src/rollouts/contract';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { stranger } from '../support/world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());
beforeEach(() => world.setPolicy({ set: 'temper' }));

const forcing = { 'temper:rollout:without_consent': 'role:admin and system_scope:all' };
const overriding = { 'temper:rollout:override_budget': 'role:admin and system_scope:all' };
const hers = (many = 1) => world.nodes(Array(many).fill('r1'), { lessee: stranger });
const eventsOf = (kind: string, rollout: { uuid: string }) =>
  world.api.sql`select project, data, node_uuid from events where kind = ${kind} and rollout_id = ${rollout.uuid}`;
const auditOf = (action: string, rollout: { uuid: string }) =>
  world.api.sql`select rule, data, node_uuid from audit where action = ${action} and resource_id = ${rollout.uuid}`;

/** A rollout of the system on a tenant's node that was asked for and has not answered in time. */
const unanswered = async (consent: object) => {
  const rollout = await world.plan({ select: { nodes: await hers() }, consent }, 'operator');
  await world.start(rollout, {}, 'operator');
  await world.tend(rollout);
  expect(await world.targets(rollout)).toMatchObject([{ state: 'asked' }]);
  await world.api
    .sql`update rollout_targets set not_before = now() - interval '1 second' where rollout = ${rollout.uuid}`;
  return rollout;
};

test('a rule that let the plan ask no tenant is asked again when the node is begun', async () => {
  world.setPolicy({ set: 'temper', overrides: forcing });
  const started = async () => {
    const rollout = await world.plan({ select: { nodes: await hers() } }, 'operator');
    expect(rollout.summary).toMatchObject({ need_consent: 0 });
    await world.start(rollout, {}, 'operator');
    return rollout;
  };
  const [kept, withdrawn] = [await started(), await started()];
  await world.tend(kept);
  world.setPolicy({ set: 'temper' });
  await world.tend(withdrawn);
  expect(await world.targets(kept)).toMatchObject([{ state: 'admitted' }]);
  expect(await world.targets(withdrawn)).toMatchObject([{ state: 'asked' }]);
});

describe('after the time for an answer', () => {
  test('a node is passed over, also where a rule would admit', async () => {
    world.setPolicy({ set: 'temper' });
    const rollout = await unanswered({ grace: '1h' });
    world.setPolicy({ set: 'temper', overrides: forcing });
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'skipped', code: 'no_consent' }]);
  });

  test('with force: rule it is begun where the rule admits then, and the tenant reads why', async () => {
    world.setPolicy({ set: 'temper', overrides: forcing });
    const rollout = await unanswered({ grace: '1h', force: 'rule', reason: 'a fault in the BIOS' });
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'admitted' }]);
    const [event] = await eventsOf('rollout.forced', rollout);
    expect(event).toMatchObject({ project: stranger, data: { reason: 'a fault in the BIOS' } });
    expect(await auditOf('rollout.force', rollout)).toMatchObject([
      { rule: 'temper:rollout:without_consent', data: { reason: 'a fault in the BIOS' }, node_uuid: event!.node_uuid },
    ]);
  });

  test('with force: rule it is passed over where the rule does not admit', async () => {
    const rollout = await unanswered({ grace: '1h', force: 'rule', reason: 'a fault in the BIOS' });
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'skipped', code: 'no_consent' }]);
    expect(await eventsOf('rollout.forced', rollout)).toEqual([]);
  });

  const overdue = { grace: '1h', force: 'rule', reason: 'a fault in the BIOS' };
  test.each<[string, Partial<RolloutDeps>, object]>([
    ['rights that are lost', { authority: async () => 'lost' }, { state: 'paused', code: 'authority_lost' }],
    ['rights that no service confirms', { authority: async () => 'waits' }, { code: 'identity_unavailable' }],
    ['a policy that is not in force', { unready: async () => 'another policy' }, { state: 'running' }],
  ])('nothing is forced by %s', async (_, over, wanted) => {
    world.setPolicy({ set: 'temper', overrides: forcing });
    const rollout = await unanswered(overdue);
    await world.tend(rollout, over);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'asked' }]);
    expect(await eventsOf('rollout.forced', rollout)).toEqual([]);
    expect(await world.show(rollout)).toMatchObject(wanted);
  });

  test('nothing is forced while a person has paused the rollout, and is when it goes on', async () => {
    world.setPolicy({ set: 'temper', overrides: forcing });
    const rollout = await unanswered(overdue);
    await world.act(rollout, 'pause', {}, 'operator');
    expect(await world.tend(rollout)).toMatchObject({ nextMs: null });
    expect(await world.targets(rollout)).toMatchObject([{ state: 'asked' }]);
    await world.act(rollout, 'resume', {}, 'operator');
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'admitted' }]);
  });

  test('a rule that is withdrawn before the node is begun forces nothing', async () => {
    world.setPolicy({ set: 'temper', overrides: forcing });
    const rollout = await unanswered(overdue);
    const away = { refusals: [{ code: 'no_worker', reason: 'no worker is there' }] };
    await world.tend(rollout, { prepareFor: async () => async () => away });
    expect(await eventsOf('rollout.forced', rollout)).toHaveLength(1);
    world.setPolicy({ set: 'temper' });
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'skipped', code: 'no_consent' }]);
  });

  test('a refusal is never passed over', async () => {
    world.setPolicy({ set: 'temper', overrides: forcing });
    const rollout = await unanswered({ grace: '1h', force: 'rule', reason: 'a fault in the BIOS' });
    const [target] = await world.targets(rollout);
    const path = `/temper/v1/rollouts/${rollout.uuid}/targets/${target.node_uuid}/refuse`;
    await world.posted('stranger-admin', path, { reason: 'our release' });
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'skipped', code: 'tenant_refused' }]);
  });

  test('to force without a reason is no plan', async () => {
    const body = { runbook: 'CUSTOM_RESTART', select: { nodes: await hers() }, consent: { force: 'rule' } };
    const reply = await world.api.as('operator', 'POST', '/temper/v1/rollouts', { body });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('the tenants read it')]);
  });
});

describe('a disruption budget without room', () => {
  /** One of the tenant's nodes may be missing, and one is. */
  const spent = async () => {
    const [down, node] = await hers(2);
    await world.api
      .sql`update nodes set properties = ${world.api.sql.json({ rack: down! })} where uuid in (${down!}, ${node!})`;
    await world.api.sql`update nodes set maintenance = true where uuid = ${down!}`;
    const query = { 'properties.rack': [down!] };
    const body = { project: stranger, query, max_unavailable: 1 };
    const { uuid } = await world.posted('stranger-admin', '/temper/v1/disruption-budgets', body);
    return { node: node!, budget: uuid };
  };
  const override_budgets = { reason: 'a fault in the BIOS' };

  test('keeps a node from being taken', async () => {
    const { node } = await spent();
    const rollout = await world.plan({ select: { nodes: [node] } }, 'operator');
    await world.start(rollout, {}, 'operator');
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'pending' }]);
  });

  test('is passed over by a rule of its own alone, and its project reads why', async () => {
    const { node, budget } = await spent();
    const body = { runbook: 'CUSTOM_RESTART', select: { nodes: [node] }, override_budgets };
    const refused = await world.api.as('operator', 'POST', '/temper/v1/rollouts', { body });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('temper:rollout:override_budget')]);
    world.setPolicy({ set: 'temper', overrides: overriding });
    const rollout = await world.plan({ select: { nodes: [node] }, override_budgets }, 'operator');
    await world.start(rollout, {}, 'operator');
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'admitted' }]);
    expect(await eventsOf('rollout.budget_overridden', rollout)).toMatchObject([
      { project: stranger, node_uuid: node, data: { disruption_budget: budget, reason: 'a fault in the BIOS' } },
    ]);
    expect(await auditOf('rollout.override_budget', rollout)).toMatchObject([
      { rule: 'temper:rollout:override_budget', data: { reason: 'a fault in the BIOS' }, node_uuid: node },
    ]);
  });

  test('holds again when the rule is withdrawn before the node is begun', async () => {
    const { node } = await spent();
    world.setPolicy({ set: 'temper', overrides: overriding });
    const rollout = await world.plan({ select: { nodes: [node] }, override_budgets }, 'operator');
    await world.start(rollout, {}, 'operator');
    world.setPolicy({ set: 'temper' });
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'pending' }]);
    expect(await eventsOf('rollout.budget_overridden', rollout)).toEqual([]);
  });
});
