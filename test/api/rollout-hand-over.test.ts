/** A node that changes hands leaves the rollouts that work on it: the former tenant ends, watches and delays nothing of the next one. */
import type { NodeUuid } from '../../src/model/ids';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { lessee, owner, type Persona, stranger } from '../support/world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());

type Begun = { readonly rollout: { uuid: string; plan_hash: string }; readonly node: NodeUuid };

/** A rollout on one leased node, whose run is under way. */
const begun = async (who: Persona, over: object = {}): Promise<Begun> => {
  const [node] = await world.nodes(['r1'], { lessee });
  const rollout = await world.plan({ select: { nodes: [node] }, ...over }, who);
  await world.start(rollout, {}, who);
  await world.tend(rollout);
  return { rollout, node: node! };
};

const leaseTo = (node: NodeUuid, to: string | null) =>
  world.api.sql`update nodes set lessee = ${to} where uuid = ${node}`;
const abortsIn = (asked: string[]) => ({
  runs: {
    ...world.deps.runs,
    operate: async ({ act }: { readonly act: string }) => {
      asked.push(act);
      return 'taken' as const;
    },
  },
});

const leaseEnd = { state: 'skipped', code: 'changed_since_plan' };

test('a former lessee ends no run of the node by its rollout, and is not told how it ends', async () => {
  const { rollout, node } = await begun('lessee-manager');
  expect(await world.targets(rollout)).toMatchObject([{ state: 'admitted' }]);
  await leaseTo(node, stranger);
  const reply = await world.act(rollout, 'abort', { running: 'abort' }, 'lessee-manager');
  expect([reply.status, reply.body.running]).toEqual([200, []]);
  const asked: string[] = [];
  await world.tend(rollout, abortsIn(asked));
  expect(asked).toEqual([]);
  const before = await world.targets(rollout, '', 'lessee-manager');
  expect(before).toMatchObject([leaseEnd]);
  await world.endRuns(rollout, 'failed');
  expect(await world.targets(rollout, '', 'lessee-manager')).toEqual(before);
  const events = (await world.api.as('lessee-manager', 'GET', `/temper/v1/events?rollout=${rollout.uuid}`)).body.events;
  expect(events.map(({ kind }: { kind: string }) => kind)).toEqual([
    'rollout.aborted',
    'rollout.target.skipped',
    'rollout.target.admitted',
    'rollout.started',
    'rollout.planned',
  ]);
  expect((await world.show(rollout)).counters[0]).toMatchObject({ in_flight: 0, failed: 0, done: 0 });
});

test('a run that is parked after the hand-over is not told to a former lessee either', async () => {
  const { rollout, node } = await begun('lessee-manager');
  await leaseTo(node, null);
  await world.api.sql`update runs set state = 'parked' where batch = ${rollout.uuid}`;
  expect(await world.targets(rollout, '', 'lessee-manager')).toMatchObject([leaseEnd]);
  await world.endRuns(rollout);
});

test.each(['owner-manager', 'operator'] as const)(
  'a rollout of the %s, who may end the run, follows it to its end, and begins no soak on the next tenant’s node',
  async (who) => {
    const waves = [{ rest: true, soak: '1h' }];
    const { rollout, node } = await begun(who, { waves, consent: undefined });
    const [target] = await world.targets(rollout);
    if (target.state === 'asked') {
      const path = `/temper/v1/rollouts/${rollout.uuid}/targets/${node}/consent`;
      await world.posted('lessee-manager', path, { now: true });
      await world.tend(rollout);
    }
    await leaseTo(node, stranger);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'admitted' }]);
    await world.endRuns(rollout);
    expect(await world.targets(rollout)).toMatchObject([{ state: 'done' }]);
  },
);

describe('after a lease whose rollout left the node soaking or failed', () => {
  const budget = { query: {}, max_unavailable: 1 };
  const unavailableOf = async (who: Persona): Promise<number> => {
    const made = await world.posted(who, '/temper/v1/disruption-budgets', budget);
    const { unavailable } = (await world.api.as(who, 'GET', `/temper/v1/disruption-budgets/${made.uuid}`)).body;
    await world.api.as(who, 'DELETE', `/temper/v1/disruption-budgets/${made.uuid}`);
    return unavailable;
  };
  const ended = async (outcome: 'succeeded' | 'failed'): Promise<Begun> => {
    await world.api.sql`update nodes set lessee = null where lessee = ${stranger}`;
    const one = await begun('lessee-manager', { waves: [{ rest: true, soak: '1h' }] });
    await world.endRuns(one.rollout, outcome);
    await world.api
      .sql`update nodes set provision_state = 'active', maintenance = false, fault = null where uuid = ${one.node}`;
    await leaseTo(one.node, stranger);
    return one;
  };

  test('the soak is over, and is not told what becomes of the node', async () => {
    const { rollout, node } = await ended('succeeded');
    await world.api.sql`update nodes set maintenance = true where uuid = ${node}`;
    await world.tend(rollout);
    expect(await world.targets(rollout, '', 'lessee-manager')).toMatchObject([
      { state: 'done', code: 'changed_since_plan' },
    ]);
    expect(await world.show(rollout)).toMatchObject({ state: 'succeeded' });
  });

  test.each(['succeeded', 'failed'] as const)(
    'a run that has %s spends nothing of the next tenant’s disruption budget',
    async (outcome) => {
      const { rollout } = await ended(outcome);
      await world.act(rollout, 'pause', {}, 'lessee-manager');
      expect(await unavailableOf('stranger-admin')).toBe(0);
    },
  );
});

test('a project that leases the node again is shown no rollout of its former lease, and nothing that it did in between', async () => {
  const [node, other] = await world.nodes(['r1', 'r1'], { lessee });
  const rollout = await world.plan({ select: { nodes: [node, other] } });
  await world.start(rollout);
  await world.tend(rollout);
  for (const one of [node, other])
    await world.posted('lessee-manager', `/temper/v1/rollouts/${rollout.uuid}/targets/${one}/consent`, { now: true });
  await world.tend(rollout);
  await leaseTo(node!, stranger);
  await world.endRuns(rollout, 'failed');
  await leaseTo(node!, lessee);
  const seen = async (who: Persona) => {
    const { events } = (await world.api.as(who, 'GET', `/temper/v1/events?rollout=${rollout.uuid}`)).body;
    return {
      targets: (await world.targets(rollout, '', who)).map(({ node_uuid }: { node_uuid: string }) => node_uuid),
      told: events.some(({ node_uuid }: { node_uuid: string | null }) => node_uuid === node),
    };
  };
  expect(await seen('owner-manager')).toEqual({ targets: expect.arrayContaining([node, other]), told: true });
  expect(await seen('lessee-manager')).toEqual({ targets: [other], told: false });
  const consent = `/temper/v1/rollouts/${rollout.uuid}/targets/${node}/consent`;
  expect((await world.api.as('lessee-manager', 'POST', consent, { body: { now: true } })).status).toBe(404);
  await leaseTo(other!, null);
  await leaseTo(other!, lessee);
  const shown = (path: string) => world.api.as('lessee-manager', 'GET', `/temper/v1/${path}`);
  expect((await shown(`rollouts/${rollout.uuid}`)).status).toBe(404);
  const { text } = await shown('rollouts');
  expect(text).not.toContain(rollout.uuid);
  expect((await shown('events')).text).not.toContain(rollout.uuid);
});

test('what a former lessee answered is not told to the next one, for whose node the rollout was planned again', async () => {
  const [node] = await world.nodes(['r1'], { lessee });
  const rollout = await world.plan({ select: { nodes: [node] } });
  const path = `/temper/v1/rollouts/${rollout.uuid}`;
  await world.posted('lessee-manager', `${path}/targets/${node}/refuse`, { reason: 'our fair is on' });
  await leaseTo(node!, stranger);
  const replanned = await world.act(rollout, 'replan');
  expect([replanned.status, replanned.text]).toEqual([200, expect.any(String)]);
  const told = (await world.api.as('stranger-admin', 'GET', `/temper/v1/events?rollout=${rollout.uuid}`)).text;
  expect([(await world.targets(rollout, '', 'stranger-admin')).length, told]).toEqual([
    1,
    expect.not.stringContaining('fair'),
  ]);
});

test('a node that its owner sells leaves the rollouts of that owner', async () => {
  const [node] = await world.nodes(['r1']);
  const rollout = await world.plan({ select: { nodes: [node] } });
  await world.start(rollout);
  await world.tend(rollout);
  await world.api.sql`update nodes set owner = ${stranger} where uuid = ${node!}`;
  expect(await world.targets(rollout, '', 'owner-manager')).toMatchObject([leaseEnd]);
  await world.api.sql`update nodes set owner = ${owner} where uuid = ${node!}`;
  await world.endRuns(rollout, 'failed');
  expect(await world.targets(rollout, '', 'owner-manager')).toMatchObject([leaseEnd]);
});
