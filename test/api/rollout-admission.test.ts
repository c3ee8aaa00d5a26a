/** What one look of a coordinator asks of the store for the checks of its targets, and what it makes of a revision that is gone. */
import { defaultSettings } from '../../src/api/context';
import { createPrepareFor } from '../../src/api/orders/rollout-orders';
import { raise } from '../../src/model/errors';
import { createPolicy } from '../../src/policy';
import { faultOf } from '../support/api';
import { counting } from '../support/counting';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());

const racks = (nodes: number): string[] => Array.from({ length: nodes }, () => 'r1');

/** How many queries the checks of so many nodes ask in one look, which begins them all. */
const queriesOf = async (nodes: number): Promise<number> => {
  const rollout = await world.plan({ select: { nodes: await world.nodes(racks(nodes)) } });
  await world.start(rollout);
  const { inventory, calls } = counting(world.deps.inventory);
  const policy = createPolicy({ set: 'temper' });
  await world.tend(rollout, {
    prepareFor: createPrepareFor({ policy: () => policy, inventory, settings: defaultSettings }),
  });
  expect((await world.show(rollout)).states).toEqual({ admitted: nodes });
  return calls.length;
};

test('the checks of twenty targets ask the store no more often than those of two', async () => {
  const two = await queriesOf(2);
  expect(two).toBeGreaterThan(0);
  expect(await queriesOf(20)).toBe(two);
});

test('a revision that is gone pauses its rollout, and passes over none of its nodes', async () => {
  const { uuid } = await world.runbook('CUSTOM_GONE');
  const nodes = await world.nodes(racks(2), { traits: ['CUSTOM_GONE'] });
  const rollout = await world.plan({ select: { nodes }, runbook: 'CUSTOM_GONE' });
  await world.start(rollout);
  await world.api.sql`delete from runbook_steps where runbook_uuid = ${uuid}`;
  await world.api.sql`delete from runbook_revisions where runbook_uuid = ${uuid}`;
  await world.tend(rollout);
  expect(await world.show(rollout)).toMatchObject({
    state: 'paused',
    code: 'revision_withdrawn',
    reason: 'The revision that it runs by was withdrawn, or the runbook is gone.',
    states: { pending: 2 },
  });
});

test('a plan refuses the nodes on which the steps come to more than a run carries', async () => {
  const notes = 'x'.repeat(70_000);
  const steps = [{ interface: 'vendor', step: 'send', args: { notes }, order: 1 }];
  await world.posted('operator', '/v1/runbooks', { name: 'CUSTOM_LARGE', public: true, steps });
  const [node] = await world.nodes(racks(1), { traits: ['CUSTOM_LARGE'] });
  const body = { select: { nodes: [node] }, runbook: 'CUSTOM_LARGE', budget: { total: 1 }, waves: [{ rest: true }] };
  const reply = await world.api.as('owner-manager', 'POST', '/temper/v1/rollouts', { body });
  expect([reply.status, faultOf(reply)]).toEqual([
    409,
    expect.stringContaining('a run carries, which are at most 65536'),
  ]);
});

test('a node that the acceptance alone refuses, and will refuse again, is passed over, so that the rollout ends', async () => {
  const rollout = await world.plan({ select: { nodes: await world.nodes(racks(1)) } });
  await world.start(rollout);
  const start = async () => raise('InvalidSteps', { reason: 'The steps hold 70000 bytes.' });
  await world.tend(rollout, { runs: { ...world.deps.runs, start } });
  expect(await world.targets(rollout)).toMatchObject([
    { state: 'skipped', code: 'step_unsupported', reason: 'The steps hold 70000 bytes.' },
  ]);
  expect(await world.show(rollout)).not.toMatchObject({ state: 'running' });
});
