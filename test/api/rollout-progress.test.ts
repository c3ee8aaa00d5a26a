/** Progress, previews, requests and sheets of rollouts on the wire: to their people whole, to tenants their own part. */
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { lessee, type Persona } from '../support/world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());

const get = (who: Persona, path: string, headers: Record<string, string> = {}) =>
  world.api.as(who, 'GET', `/temper/v1/rollouts${path}`, { headers });
const progressOf = async ({ uuid }: { uuid: string }, who: Persona = 'owner-reader') =>
  (await get(who, `/${uuid}/progress`)).body;

const sumOf = (parts: Readonly<Record<string, number>>): number =>
  Object.values(parts).reduce((sum, one) => sum + one, 0);

test('parts sum up at every moment, and a strict budget is named as what holds the rest back', async () => {
  const nodes = await world.nodes(Array(5).fill('r1'));
  const rollout = await world.plan({ select: { nodes }, budget: { total: 2 } });
  await world.api.sql`update rollout_targets set expected_ms = 60000 where rollout = ${rollout.uuid}`;
  expect(await progressOf(rollout)).toMatchObject({ state: 'planned', nodes: 5, ended: 0, time_left_ms: null, slowed_by: [], at_once: 2 });
  await world.start(rollout);
  await world.tend(rollout);
  const running = await progressOf(rollout);
  expect(running).toMatchObject({ parts: { admitted: 2, pending: 3 }, slowed_by: [{ code: 'budget', limit: 2, nodes: 3 }] });
  expect(running.time_left_ms).toBeGreaterThan(60_000);
  expect(running.time_left_ms).toBeLessThanOrEqual(150_000);
  await world.endRuns(rollout, 'failed');
  await world.tend(rollout);
  const failed = await progressOf(rollout);
  expect(failed).toMatchObject({ state: 'paused', ended: 2, parts: { failed: 2, pending: 3 }, at_once: 0, slowed_by: [{ code: 'paused' }] });
  for (const one of [running, failed]) expect(sumOf(one.parts)).toBe(one.nodes);
}); // biome-ignore format: short lines

test('a retry that was requested is seen at once, and counts as pending', async () => {
  const nodes = await world.nodes(['r1', 'r1']);
  const rollout = await world.plan({ select: { nodes }, budget: { total: 1 } });
  await world.start(rollout);
  await world.tend(rollout);
  await world.endRuns(rollout, 'failed');
  await world.tend(rollout);
  const [target] = await world.targets(rollout);
  expect(target).toMatchObject({ state: 'failed', retry_requested_at: null });
  const path = `/temper/v1/rollouts/${rollout.uuid}/targets/${target.node_uuid}/retry`;
  expect((await world.posted('owner-manager', path, { reason: 'a cable' })).retry_requested_at).not.toBeNull();
  expect((await world.targets(rollout))[0].retry_requested_at).not.toBeNull();
  expect(await progressOf(rollout)).toMatchObject({ parts: { failed: 0, pending: 2 } });
});

test('progress is for those who see the whole rollout', async () => {
  const nodes = await world.nodes(['r1'], { lessee });
  const rollout = await world.plan({ select: { nodes } });
  expect((await get('lessee-manager', `/${rollout.uuid}/progress`)).status).toBe(403);
  expect((await get('stranger-admin', `/${rollout.uuid}/progress`)).status).toBe(404);
  expect((await get('stranger-admin', '/00000000-0000-4000-8000-000000000000/progress')).status).toBe(404);
});

test('a tenant reads who asks and why, and its answer stands beside the request', async () => {
  const nodes = await world.nodes(['r1'], { lessee });
  const rollout = await world.plan({ select: { nodes } });
  const [planned] = await world.targets(rollout, '', 'lessee-reader');
  expect(planned).toMatchObject({ request: { by: { user_name: 'user-of-project-owner' }, reason: null }, answer: null });
  await world.start(rollout, { reason: 'a fault in the firmware' });
  await world.tend(rollout);
  const [asked] = await world.targets(rollout, '', 'lessee-reader');
  expect(asked).toMatchObject({ state: 'asked', request: { by: { user_id: 'user-of-project-owner' }, reason: 'a fault in the firmware' } });
  expect(Object.keys(asked.request.by).sort()).toEqual(['user_id', 'user_name']);
  const path = `/temper/v1/rollouts/${rollout.uuid}/targets/${nodes[0]}/consent`;
  const at = new Date(Date.now() + 3_600_000).toISOString();
  expect(await world.posted('lessee-manager', path, { at, reason: 'after lunch' })).toMatchObject({ answer: { answer: 'at', at, reason: 'after lunch', by: { user_name: 'user-of-project-lessee' } } });
  await world.posted('lessee-manager', path, { now: true });
  const [answered] = await world.targets(rollout, '', 'lessee-reader');
  expect(answered).toMatchObject({ state: 'pending', answer: { answer: 'now', at: null, window: null } });
}); // biome-ignore format: short lines

test('the reason of a start is not told of a plan that was made again', async () => {
  const nodes = await world.nodes(['r1'], { lessee });
  const rollout = await world.plan({ select: { nodes } });
  await world.start(rollout, { reason: 'of the first plan', start_at: new Date(Date.now() + 3_600_000).toISOString() });
  expect(await world.targets(rollout, '', 'lessee-reader')).toMatchObject([{ request: { reason: 'of the first plan' } }]);
  await world.posted('owner-admin', `/temper/v1/rollouts/${rollout.uuid}/replan`, { reason: 'a new lease' });
  expect(await world.targets(rollout, '', 'lessee-reader')).toMatchObject([{ request: { reason: null } }]);
}); // biome-ignore format: short lines

test('each wave says who opened it and why', async () => {
  const nodes = await world.nodes(['r1', 'r1']);
  const rollout = await world.plan({ select: { nodes }, waves: [{ size: 1, advance: 'manual' }, { rest: true }] });
  expect((await world.show(rollout)).waves).toMatchObject([{ opened_by: null, opened_reason: null }, { opened_by: null }]);
  await world.start(rollout, { reason: 'begin' });
  await world.tend(rollout);
  await world.endRuns(rollout);
  await world.tend(rollout);
  expect((await world.act(rollout, 'advance', { reason: 'go on' }, 'operator')).status).toBe(200);
  expect((await world.show(rollout)).waves).toMatchObject([
    { opened_by: { user_name: 'user-of-project-owner' }, opened_reason: 'begin' },
    { opened_by: { user_name: 'user-of-system' }, opened_reason: 'go on' },
  ]);
}); // biome-ignore format: short lines

test('a preview says what a plan would say, and stores nothing', async () => {
  const nodes = await world.nodes(['r1', 'r1', 'r2']);
  const body = { runbook: 'CUSTOM_RESTART', select: { nodes }, budget: { total: 2 }, max_in_flight: 8, waves: [{ size: 1 }, { rest: true }] };
  const count = async () => (await world.api.sql`select count(*)::int as many from rollouts`)[0]!.many;
  const before = await count();
  const preview = await world.posted('owner-member', '/temper/v1/rollouts/preview', body);
  expect(preview).toMatchObject({ at_once: 2, summary: { selected: 3, will_run: 3, restarts: 3 }, waves: [{ wave: 1, size: 1, advance: 'manual' }, { wave: 2, size: 2 }] });
  expect(await count()).toBe(before);
  const { summary } = await world.plan(body);
  expect(preview.summary).toEqual(summary);
  const refused = await world.api.as('owner-reader', 'POST', '/temper/v1/rollouts/preview', { body });
  expect(refused.status).toBe(403);
  expect((await world.api.as('owner-member', 'POST', '/temper/v1/rollouts/preview', { body: { ...body, budget: { total: 'many' } } })).text).toContain('budget.total');
}); // biome-ignore format: short lines

test('targets come as a sheet, page by page, and a tenant’s has its own rows alone', async () => {
  const nodes = await world.nodes(['r1', 'r1', 'r1']);
  const own = await world.nodes(['r2'], { lessee, name: 'leased-of-sheet' });
  const rollout = await world.plan({ select: { nodes: [...nodes, ...own] } });
  const first = await get('owner-reader', `/${rollout.uuid}/targets?limit=2`, { accept: 'text/csv' });
  expect(first.headers.get('content-type')).toContain('text/csv');
  expect(first.text.split('\r\n')[0]).toContain('position,node_uuid,node_name,wave,state');
  expect(first.text.trim().split('\r\n')).toHaveLength(3);
  expect(first.headers.get('link')).toMatch(/marker=1.*rel="next"/);
  const tenants = await get('lessee-reader', `/${rollout.uuid}/targets`, { accept: 'text/csv' });
  expect(tenants.text.trim().split('\r\n')).toHaveLength(2);
  expect(tenants.text).toContain('leased-of-sheet,,pending');
  const ofWave = await get('lessee-reader', `/${rollout.uuid}/targets?wave=1`, { accept: 'text/csv' });
  expect(ofWave.headers.get('content-type')).toContain('text/csv');
  expect(ofWave.text.trim().split('\r\n')).toHaveLength(1);
});

test('a question about no object is about records of the caller’s own project', async () => {
  const asks = ['temper:window:create', 'temper:window:delete', 'temper:disruption_budget:create', 'temper:rollout:plan'].map((rule) => ({ rule }));
  const allowed = async (who: Persona) => (await world.api.as(who, 'POST', '/temper/v1/policy/can', { body: { asks } })).body.answers.map((one: { allowed: boolean }) => one.allowed);
  expect(await allowed('lessee-manager')).toEqual([true, true, true, true]);
  expect(await allowed('lessee-member')).toEqual([false, false, false, true]);
  expect(await allowed('lessee-reader')).toEqual([false, false, false, false]);
  expect(await allowed('operator')).toEqual([false, true, false, true]);
}); // biome-ignore format: short lines
