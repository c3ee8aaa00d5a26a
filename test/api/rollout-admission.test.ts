/** What one look of a coordinator asks of the store for the checks of its targets, and what it makes of a revision that is gone. */

import { raise } from '../../src/model/errors';
import { createPolicy } from '../../src/policy';
import { createPrepareFor } from '../../src/rollouts/prepare';
import { faultOf } from '../support/api';
import { counting } from '../support/counting';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { defaultSettings } from '../support/settings';
import { stranger } from '../support/world';

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
  expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringContaining('a run carries, at most 65536')]);
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

/** Which queries a plan of these nodes asks, by room and name. */
const queriesOfPlan = async (ask: () => Promise<unknown>): Promise<string[]> => {
  const { inventory, calls } = counting(world.api.rooms.inventory);
  const rooms = world.api.rooms as { inventory: typeof inventory };
  const before = rooms.inventory;
  rooms.inventory = inventory;
  try {
    await ask();
  } finally {
    rooms.inventory = before;
  }
  return calls;
};

test('nodes that a plan or a rollback names are looked up by one query, however many they are', async () => {
  const nodes = await world.nodes(racks(20));
  for (const [at, node] of nodes.entries()) await set(node, { name: `named-${at}` });
  const spelled = nodes.flatMap((node, at) => [node, node.toUpperCase(), `named-${at}`]);
  let rollout = { uuid: '', plan_hash: '' };
  const planning = async () => {
    rollout = await world.plan({ select: { nodes: spelled } });
    expect(rollout).toMatchObject({ summary: { selected: 20 } });
  };
  const lookedUp = (calls: string[]) => calls.filter((call) => ['nodes.find', 'rolloutSelection.named'].includes(call));
  expect(lookedUp(await queriesOfPlan(planning))).toEqual(['rolloutSelection.named']);
  await world.start(rollout);
  await world.tend(rollout);
  await world.endRuns(rollout);
  await world.tend(rollout);
  const back = async () => {
    const body = { runbook: 'CUSTOM_RESTART', budget: { total: 1 }, targets: 'done' };
    const reply = await world.act(rollout, 'rollback', body);
    expect([reply.status, reply.body.summary?.selected]).toEqual([201, 20]);
  };
  expect(lookedUp(await queriesOfPlan(back))).toEqual(['rolloutSelection.named']);
});

test.each([
  ['missing', async () => 'no-such-node', 404],
  ['hidden', async () => (await world.nodes(['r1'], { owner: stranger, name: 'hidden-one' })) && 'hidden-one', 404],
  ['neither name nor UUID', async () => 'a b', 400],
])('a named node that is %s refuses the plan', async (_, ident, status) => {
  const wanted = await ident();
  const nodes = [...(await world.nodes(racks(1))), wanted];
  const body = { select: { nodes }, runbook: 'CUSTOM_RESTART', budget: { total: 1 }, waves: [{ rest: true }] };
  const reply = await world.api.as('owner-manager', 'POST', '/temper/v1/rollouts', { body });
  expect(reply.status).toBe(status);
  if (status === 404) expect(faultOf(reply)).toBe(`Node ${wanted} could not be found.`);
});

type Grown = {
  readonly what: string;
  readonly values: object;
  readonly plan: object;
  /** Before the plan is made. */
  prepare?(node: string): Promise<unknown>;
  change(node: string): Promise<unknown>;
  readonly reason: string;
};

const set = (node: string, values: object) =>
  world.api.sql`update nodes set ${world.api.sql(values as never)} where uuid = ${node}`;
const childOf = (parent_node: string) => world.nodes(['r1'], { parent_node });
const manageable = { provision_state: 'manageable', deploy_interface: 'custom-agent' };

const grown: readonly Grown[] = [
  {
    what: 'automated_clean of the node, which makes provide a cleaning',
    values: { ...manageable, automated_clean: false },
    plan: { verb: 'provide', runbook: null },
    change: (node) => set(node, { automated_clean: true }),
    reason: "would erase data on the node's disks",
  },
  {
    what: 'its own automated_clean, so that TEMPER_AUTOMATED_CLEAN of the control worker counts',
    values: { ...manageable, automated_clean: false },
    plan: { verb: 'provide', runbook: null },
    change: (node) => set(node, { automated_clean: null }),
    reason: "would erase data on the node's disks",
  },
  {
    what: 'the inspect interface, which restarts the node into a ramdisk',
    values: { ...manageable, inspect_interface: 'fake' },
    plan: { verb: 'inspect', runbook: null },
    change: (node) => set(node, { inspect_interface: 'agent' }),
    reason: "would interrupt the node's power",
  },
  {
    what: 'the node’s children, which are powered off with it',
    values: {},
    plan: { verb: 'power', runbook: null, power: { target: 'power off' } },
    prepare: childOf,
    change: childOf,
    reason: 'would run steps on further nodes',
  },
];

test('targets whose runs have no steps are done when they are begun, and need no engine', async () => {
  const nodes = await world.nodes(racks(3), { ...manageable, automated_clean: false });
  const rollout = await world.plan({ select: { nodes }, max_in_flight: 1, verb: 'provide', runbook: null });
  await world.start(rollout);
  await world.tend(rollout);
  await world.tend(rollout);
  expect(await world.show(rollout)).toMatchObject({ states: { done: 3 }, state: 'succeeded' });
  expect(
    await world.api.sql`select distinct provision_state, reservation from nodes where uuid in ${world.api.sql(nodes)}`,
  ).toEqual([{ provision_state: 'available', reservation: null }]);
  expect(
    await world.api
      .sql`select in_flight, failed, done from rollout_counters where rollout = ${rollout.uuid} and scope = 'total'`,
  ).toEqual([{ in_flight: 0, failed: 0, done: 3 }]);
});

test.each(grown)('a node is passed over where the run would do more than planned: $what', async (row) => {
  const { values, plan, prepare, change, reason } = row;
  const [first, second] = await world.nodes(racks(2), values);
  const nodes = [first!, second!];
  for (const node of nodes) await prepare?.(node);
  const rollout = await world.plan({ select: { nodes }, max_in_flight: 1, ...plan });
  expect(rollout.summary).toMatchObject({ will_run: 2, erased: 0 });
  await change(second!); // only then, for a run without steps is over at once
  await world.start(rollout);
  await world.tend(rollout);
  await world.endRuns(rollout);
  await world.tend(rollout);
  expect((await world.show(rollout)).states).toEqual({ done: 1, skipped: 1 });
  const passedOver = { code: 'changed_since_plan', reason: expect.stringContaining(reason) };
  expect(await world.targets(rollout, '?state=skipped')).toMatchObject([passedOver]);
});
