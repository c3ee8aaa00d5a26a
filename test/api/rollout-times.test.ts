/** When rollouts begin, wait and end by time: a start at a time, windows, power by turns, plans that are too old, and budgets of mode stop. */
import type { NodeUuid } from '../../src/model/ids';
import { expirePlans, wakeOnce } from '../../src/rollouts/waking';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { stranger } from '../support/world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());
beforeEach(() => world.setPolicy({ set: 'temper' }));

const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const statesOf = async (rollout: { uuid: string }) => (await world.show(rollout)).states;
/** Which rollouts one pass of the waking wakes. */
const woken = async (): Promise<string[]> => {
  const names: string[] = [];
  await wakeOnce({ inventory: world.deps.inventory, log: quiet, wake: async (one) => void names.push(one) });
  return names;
};
const isDue = (rollout: { uuid: string }) =>
  world.api.sql`update rollouts set start_at = now() - interval '1 second' where id = ${rollout.uuid}`;

/** How often the rollout was to be woken. */
const wanted = async (rollout: { uuid: string }): Promise<number> => {
  const [row] = await world.api.sql<
    { wanted: string }[]
  >`select wanted from rollout_wakes where rollout = ${rollout.uuid}`;
  return Number(row!.wanted);
};

describe('a start at a time', () => {
  test('begins by itself then, by the rights of the caller who said so, and not before', async () => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
    const start_at = inAnHour();
    const scheduled = await world.start(rollout, { start_at });
    expect(scheduled).toMatchObject({ state: 'scheduled', started_at: null, grant: { user_name: expect.any(String) } });
    expect(Date.parse(scheduled.start_at)).toBe(Date.parse(start_at));
    const { over, nextMs } = await world.tend(rollout);
    expect([over, nextMs! > 3_000_000]).toEqual([false, true]);
    expect(await statesOf(rollout)).toEqual({ pending: 1 });
    await isDue(rollout);
    expect(await woken()).toContain(rollout.uuid);
    await world.tend(rollout);
    expect(await world.show(rollout)).toMatchObject({ state: 'running', states: { admitted: 1 } });
    const events = await world.api.sql`
      select data from events where kind = 'rollout.started' and rollout_id = ${rollout.uuid}`;
    expect(events).toMatchObject([{ data: { from: 'scheduled', to: 'running' } }]);
  });

  test('that is over already is refused, and a start without one takes its place', async () => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
    const body = { plan_hash: rollout.plan_hash, start_at: '2001-01-01T00:00:00Z' };
    expect((await world.act(rollout, 'start', body)).status).toBe(400);
    await world.start(rollout, { start_at: inAnHour() });
    expect(await world.start(rollout)).toMatchObject({ state: 'running', start_at: null });
  });

  test('ends as expired where it is not approved any more, and touches nothing', async () => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
    await world.start(rollout, { start_at: inAnHour() });
    world.setPolicy({ set: 'temper', overrides: { 'temper:rollout:start_alone': '!' } });
    await isDue(rollout);
    await world.tend(rollout);
    expect(await world.show(rollout)).toMatchObject({ state: 'expired', states: { pending: 1 } });
    expect((await world.act(rollout, 'resume')).status).toBe(409);
  });

  test('is refused where votes would not count any more by then', async () => {
    world.setPolicy({ set: 'temper', overrides: { 'temper:rollout:start_alone': '!' } });
    const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
    const { plan_hash } = rollout;
    expect((await world.act(rollout, 'approve', { plan_hash }, 'operator')).status).toBe(200);
    const late = new Date(Date.now() + 48 * 3_600_000).toISOString();
    expect((await world.act(rollout, 'start', { plan_hash, start_at: late })).status).toBe(409);
    expect((await world.act(rollout, 'start', { plan_hash, start_at: inAnHour() })).body.state).toBe('scheduled');
  });

  test('is no start any more when the plan is rejected or made anew', async () => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
    await world.start(rollout, { start_at: inAnHour() });
    const { plan_hash } = rollout;
    expect((await world.act(rollout, 'reject', { plan_hash }, 'operator')).status).toBe(200);
    expect(await world.show(rollout)).toMatchObject({ state: 'planned', start_at: null });
    await world.start(rollout, { start_at: inAnHour() });
    expect((await world.act(rollout, 'replan')).body).toMatchObject({ state: 'planned', start_at: null, grant: null });
  });
});

test('a plan that was not begun in time is expired, with its event; one that runs is not', async () => {
  const [old, fresh, running] = [
    await world.plan({ select: { nodes: await world.nodes(['r1']) } }),
    await world.plan({ select: { nodes: await world.nodes(['r1']) } }),
    await world.plan({ select: { nodes: await world.nodes(['r1']) } }),
  ];
  await world.start(running);
  await world.api.sql`
    update rollouts set updated_at = now() - interval '3 hours' where id in (${old.uuid}, ${running.uuid})`;
  await expirePlans({ inventory: world.deps.inventory, log: quiet, wake: async () => {}, planHours: 2 });
  expect(await world.show(old)).toMatchObject({ state: 'expired', reason: expect.stringContaining('2 h') });
  expect((await world.show(fresh)).state).toBe('planned');
  expect((await world.show(running)).state).toBe('running');
  const events = await world.api.sql`select from events where kind = 'rollout.expired' and rollout_id = ${old.uuid}`;
  expect(events).toHaveLength(1);
  expect((await world.act(old, 'start', { plan_hash: old.plan_hash })).status).toBe(409);
});

describe('a budget of mode stop', () => {
  const stop = (total: number) => ({ budget: { mode: 'stop', total }, waves: [{ rest: true }] });

  test('begins more at once than it has left, and the rollout is stopped for good when it is spent', async () => {
    const rollout = await world.plan({
      select: { nodes: await world.nodes(Array(4).fill('r1')) },
      ...stop(1),
      max_in_flight: 3,
    });
    expect(rollout.summary).toMatchObject({ harmed_at_most: null });
    await world.start(rollout);
    await world.tend(rollout);
    expect(await statesOf(rollout)).toEqual({ admitted: 3, pending: 1 });
    await world.endRuns(rollout, 'failed');
    await world.tend(rollout);
    expect(await world.show(rollout)).toMatchObject({
      state: 'stopped',
      code: 'budget_spent',
      states: { failed: 3, pending: 1 },
    });
    expect((await world.act(rollout, 'resume')).status).toBe(409);
  });

  test('is a bound of the whole alone', async () => {
    const body = {
      runbook: 'CUSTOM_RESTART',
      select: { nodes: await world.nodes(['r1']) },
      budget: { mode: 'stop', total: 1, wave: 1 },
    };
    const reply = await world.api.as('owner-manager', 'POST', '/temper/v1/rollouts', { body });
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining('only total is counted')]);
  });
});

describe('expected time', () => {
  /** Restarts that took so long, on nodes of a kind that only this test has. */
  const past = async (model: string, seconds: readonly number[]): Promise<NodeUuid[]> => {
    const properties = world.api.sql.json({ vendor: 'v', model });
    const nodes = await world.nodes(
      seconds.map(() => 'r'),
      { properties },
    );
    for (const [index, node] of nodes.entries()) {
      const rollout = await world.plan({ select: { nodes: [node] } });
      await world.start(rollout);
      await world.tend(rollout);
      await world.api.sql`
        update run_steps s set state = 'done', started_at = now() - ${seconds[index]!} * interval '1 second', finished_at = now()
        from runs r where r.id = s.run_id and r.batch = ${rollout.uuid}`;
      await world.endRuns(rollout);
      await world.tend(rollout);
      await world.api.sql`update nodes set provision_state = 'active' where uuid = ${node}`;
    }
    return nodes;
  };

  test('is the median and what 95 of 100 took, of each node and of all', async () => {
    const nodes = await past('slow', [100, 200, 300]);
    const rollout = await world.plan({ select: { nodes }, max_in_flight: 1 });
    const [target] = await world.targets(rollout);
    expect([target.expected_ms, target.p95_ms].map((ms: number) => Math.round(ms / 1_000))).toEqual([200, 290]);
    expect(rollout.summary).toMatchObject({ expected_ms: 3 * target.expected_ms, p95_ms: 3 * target.p95_ms });
  });

  test('of a kind without a past is not known', async () => {
    const nodes = await world.nodes(['r'], { properties: world.api.sql.json({ vendor: 'v', model: 'new' }) });
    expect((await world.plan({ select: { nodes } })).summary).toMatchObject({ expected_ms: null, p95_ms: null });
  });

  test('that does not fit into what is left of a window is put off to the next one, and the target says why', async () => {
    const [node] = await past('long', [3_600]);
    await world.api.sql`update nodes set lessee = ${stranger} where uuid = ${node!}`;
    const opened = new Date(Date.now() - 10 * 60_000);
    const from = opened.toISOString().slice(11, 16);
    const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
    const window = { project: stranger, name: `w-${node!.slice(0, 8)}`, days, from, minutes: 65, zone: 'UTC' };
    const { uuid } = await world.posted('stranger-admin', '/temper/v1/windows', window);
    const rollout = await world.plan({ select: { nodes: [node!] } }, 'operator');
    await world.start(rollout, {}, 'operator');
    await world.tend(rollout);
    const [target] = await world.targets(rollout);
    expect(target).toMatchObject({ state: 'pending', reason: expect.stringContaining('not long enough') });
    expect(Date.parse(target.not_before)).toBeGreaterThan(Date.now() + 20 * 3_600_000);
    await world.api.as('stranger-admin', 'DELETE', `/temper/v1/windows/${uuid}`);
  });
});

describe('power by turns', () => {
  const starts = (max: number) => ({ power_starts_per_minute: [{ by: 'properties.rack', max }] });

  /** The most nodes of one rack that were begun within a minute. */
  const mostInAMinute = async (rollout: { uuid: string }): Promise<number> => {
    const [row] = await world.api.sql<{ most: number }[]>`
      with begun as (
        select t.admitted_at as at, n.properties ->> 'rack' as rack from rollout_targets t join nodes n on n.uuid = t.node_uuid
        where t.rollout = ${rollout.uuid} and t.admitted_at is not null)
      select coalesce(max(many), 0)::int as most from (
        select (select count(*) from begun o where o.rack = b.rack and o.at >= b.at and o.at < b.at + interval '1 minute') as many
        from begun b) counted`;
    return row!.most;
  };

  test('so many nodes of a domain are begun in a minute, others beside them, and the next when the minute is over', async () => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(['a', 'a', 'a', 'b']) }, ...starts(2) });
    await world.start(rollout);
    const { nextMs } = await world.tend(rollout);
    expect(await mostInAMinute(rollout)).toBe(2);
    expect((await statesOf(rollout)).admitted).toBeGreaterThanOrEqual(3);
    expect(nextMs === null || (nextMs > 0 && nextMs <= 60_000)).toBe(true);
    await world.api.sql`
      update rollout_targets set admitted_at = admitted_at - interval '1 minute' where rollout = ${rollout.uuid}`;
    await world.tend(rollout);
    expect(await statesOf(rollout)).toEqual({ admitted: 4 });
  });

  test('two coordinators at once begin no more than one', async () => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(Array(6).fill('a')) }, ...starts(2) });
    await world.start(rollout);
    await Promise.all([world.tend(rollout), world.tend(rollout)]);
    expect(await mostInAMinute(rollout)).toBe(2);
  });

  test('a node that is tried again counts for each time', async () => {
    const nodes = await world.nodes(['a', 'a', 'a']);
    const work = { verb: 'power', runbook: null, power: { target: 'rebooting' } };
    const rollout = await world.plan({ select: { nodes }, ...work, ...starts(2) });
    await world.start(rollout);
    const of = world.api.sql`rollout = ${rollout.uuid}`;
    await world.api.sql`update rollout_targets set not_before = now() + interval '1 hour' where ${of} and position > 0`;
    await world.tend(rollout);
    await world.endRuns(rollout, 'failed');
    const [{ node_uuid: node }] = await world.targets(rollout, '?state=failed');
    await world.api.sql`
      update nodes set provision_state = 'active', maintenance = false, fault = null where uuid = ${node}`;
    await world.posted('owner-manager', `/temper/v1/rollouts/${rollout.uuid}/targets/${node}/retry`, {
      reason: 'again',
    });
    await world.tend(rollout);
    expect(await statesOf(rollout)).toEqual({ admitted: 1, pending: 2 });
    // However slow this machine is, no minute has passed since.
    const later = world.api.sql`interval '1 hour'`;
    await world.api.sql`
      update rollout_targets set not_before = null, admitted_at = admitted_at + ${later}, begun_before = begun_before + ${later} where ${of}`;
    await world.tend(rollout);
    expect(await statesOf(rollout)).toEqual({ admitted: 1, pending: 2 });
  });

  test('a node that is tried again is begun when the minute is over, and not by the next look that happens to come', async () => {
    const work = { verb: 'power', runbook: null, power: { target: 'rebooting' } };
    const rollout = await world.plan({ select: { nodes: await world.nodes(['a']) }, ...work, ...starts(1) });
    await world.start(rollout);
    await world.tend(rollout);
    await world.endRuns(rollout, 'failed');
    const [{ node_uuid: node }] = await world.targets(rollout, '?state=failed');
    await world.api.sql`update nodes set maintenance = false, fault = null where uuid = ${node}`;
    await world.posted('owner-manager', `/temper/v1/rollouts/${rollout.uuid}/targets/${node}/retry`, {
      reason: 'again',
    });
    // However slow this machine is, the minute is not over.
    await world.api.sql`
      update rollout_targets set admitted_at = now() + interval '1 hour' where rollout = ${rollout.uuid}`;
    await world.act(rollout, 'resume');
    const { nextMs } = await world.tend(rollout);
    expect((await world.targets(rollout)).map(({ state }: { state: string }) => state)).toEqual(['failed']);
    expect(nextMs).toBeGreaterThan(3_000_000);
  });

  test('nodes whose power is left alone are not counted', async () => {
    const nodes = await world.nodes(['a', 'a', 'a']);
    const rollout = await world.plan({
      select: { nodes },
      verb: 'power',
      runbook: null,
      power: { target: 'power on' },
      ...starts(1),
    });
    await world.start(rollout);
    await world.tend(rollout);
    expect(await statesOf(rollout)).toEqual({ admitted: 3 });
  });
});

describe('a worker that may not begin anything', () => {
  test('says so in the rollout, until it may', async () => {
    const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
    await world.start(rollout);
    await world.tend(rollout, { unready: async () => 'its policy is another one' });
    expect(await world.show(rollout)).toMatchObject({
      state: 'running',
      code: null,
      reason: expect.stringContaining('its policy is another one'),
      states: { pending: 1 },
    });
    await world.tend(rollout);
    expect(await world.show(rollout)).toMatchObject({ reason: null, states: { admitted: 1 } });
  });
});

describe('windows of projects', () => {
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const window = (more: object) =>
    world.posted('stranger-admin', '/temper/v1/windows', {
      project: stranger,
      days,
      zone: 'UTC',
      minutes: 60,
      ...more,
    });
  const removed = (uuid: string) => world.api.as('stranger-admin', 'DELETE', `/temper/v1/windows/${uuid}`);
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);

  test('that are closed for all that is left keep the rollout running, and it says until when; it goes on by itself', async () => {
    const { uuid } = await window({ name: 'closed', from: inHours(5) });
    const [hers] = await world.nodes(['r1'], { lessee: stranger });
    const [unowned] = await world.nodes(['r1'], { owner: null });
    const rollout = await world.plan({ select: { nodes: [hers, unowned] } }, 'operator');
    await world.start(rollout, {}, 'operator');
    await world.tend(rollout);
    expect(await world.show(rollout)).toMatchObject({ code: null, states: { admitted: 1, pending: 1 } });
    await world.endRuns(rollout);
    const { nextMs } = await world.tend(rollout);
    const [{ not_before: opens }] = await world.targets(rollout, '?state=pending');
    expect(await world.show(rollout)).toMatchObject({
      state: 'running',
      code: 'window_closed',
      reason: `1 node waits for a window or a time of its project, the first until ${opens}.`,
    });
    expect(nextMs).toBeGreaterThan(3_600_000);
    const before = await wanted(rollout);
    await world.tend(rollout);
    expect(await wanted(rollout)).toBe(before); // what it says already wakes it no more
    await world.api.sql`delete from project_windows where uuid = ${uuid}`;
    await window({ name: 'open', from: inHours(-0.1) });
    await world.api
      .sql`update rollout_targets set not_before = now() where rollout = ${rollout.uuid} and state = 'pending'`;
    await world.tend(rollout);
    expect(await world.show(rollout)).toMatchObject({ code: null, reason: null, states: { admitted: 1, done: 1 } });
    await world.api.sql`delete from project_windows`;
  });

  test('that are never open long enough are no answer: the project is asked, and without one its node is passed over', async () => {
    const { uuid } = await window({ name: 'short', from: inHours(-0.1) });
    const rollout = await world.plan(
      { select: { nodes: await world.nodes(['r1'], { lessee: stranger }) } },
      'operator',
    );
    await world.api.sql`update rollout_targets set p95_ms = ${61 * 60_000} where rollout = ${rollout.uuid}`;
    await world.start(rollout, {}, 'operator');
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'asked' }]);
    await world.api.sql`update rollout_targets set not_before = now() where rollout = ${rollout.uuid}`;
    await world.tend(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'skipped', code: 'no_consent' }]);
    expect((await world.show(rollout)).state).toBe('succeeded');
    await removed(uuid);
  });
});
