/** Quotas of rollouts by project, and how often one that waits is looked at: a tenant's rollouts cost the others little. */
import { defaultQuotas } from '../../src/model/access/quotas';
import { faultOf } from '../support/api';
import { type RolloutWorld, startRolloutWorld } from '../support/rollout-world';
import { owner } from '../support/world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRolloutWorld({ settings: { quotas: { ...defaultQuotas, rollouts: 1, rollout_plans: 2 } } });
  await world.runbook('CUSTOM_RESTART');
});
afterEach(() => world.api.sql`update rollouts set state = 'aborted', finished_at = now() where finished_at is null`);
afterAll(() => world?.close());

const body = (node: string, over: object = {}) => ({
  runbook: 'CUSTOM_RESTART',
  budget: { total: '100%' },
  waves: [{ rest: true }],
  select: { nodes: [node] },
  ...over,
});

test('a project with as many plans as it may have is refused another one; callers of the system are not', async () => {
  const [node] = await world.nodes(['r1']);
  const first = await world.plan(body(node!));
  await world.plan(body(node!));
  const third = await world.api.as('owner-manager', 'POST', '/temper/v1/rollouts', { body: body(node!) });
  expect([third.status, faultOf(third)]).toEqual([
    429,
    expect.stringContaining(
      `Project ${owner} has 2 plans of rollouts that were not begun, which is its quota (rollout_plans).`,
    ),
  ]);
  await world.plan(body(node!, { project: owner }), 'operator');
  await world.act(first, 'abort');
});

test.each([
  ['is running', {}],
  ['is scheduled', { start_at: new Date(Date.now() + 86_400_000).toISOString() }],
])('while a rollout of the project %s, no other one of it is started beyond its quota', async (_, how) => {
  const [node] = await world.nodes(['r1']);
  const [first, second] = [await world.plan(body(node!)), await world.plan(body(node!))];
  await world.start(first, how);
  const { plan_hash } = second;
  const refused = await world.act(second, 'start', { plan_hash });
  expect([refused.status, faultOf(refused)]).toEqual([429, expect.stringContaining('quota (rollouts)')]);
  expect((await world.act(first, 'abort')).status).toBe(200);
  expect((await world.act(second, 'start', { plan_hash })).status).toBe(200);
});

test('a rollout that waits is looked at less often while nothing happens to it, and soon after something has', async () => {
  const [node] = await world.nodes(['r1']);
  const rollout = await world.plan(body(node!));
  await world.posted('operator', `/temper/v1/nodes/${node}/freezes`, { reason: 'an audit' });
  await world.start(rollout);
  const next = async () => (await world.tend(rollout)).nextMs;
  const quietFor = async (seconds: number) => {
    await world.api.sql`
      update rollouts set started_at = now() - ${seconds} * interval '1 second', updated_at = now() - ${seconds} * interval '1 second'
      where id = ${rollout.uuid}`;
    await world.api
      .sql`update rollout_wakes set sent_at = now() - ${seconds} * interval '1 second' where rollout = ${rollout.uuid}`;
  };
  await next();
  expect(await next()).toBe(10_000);
  await quietFor(3_600);
  expect(await next()).toBe(60_000);
  await quietFor(180);
  const between = await next();
  expect(between).toBeGreaterThanOrEqual(30_000);
  expect(between).toBeLessThan(60_000);
  await quietFor(-3_600);
  expect(await next()).toBe(10_000);
  await quietFor(3_600);
  await world.api.sql`update rollout_wakes set sent_at = now() where rollout = ${rollout.uuid}`;
  expect(await next()).toBe(10_000);
});
