/** What a coordinator does at one look, without an engine: what stops a rollout, and what does not keep others of its targets waiting. */
import type { Inventory } from '../../src/inventory';
import type { Sql } from '../../src/inventory/database';
import type { RolloutRow } from '../../src/inventory/rollouts/rollouts';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { advanceRollout } from '../../src/rollouts/advance';
import { endOf, nodesIn, runningRollout, tendingDeps } from '../support/rollouts';
import { openStores } from '../support/stores';

let owner: Sql;
let api: Inventory;
let control: Inventory;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ owner, api, control, close } = await openStores(4));
});
afterEach(() => close());

const look = (rollout: RolloutRow) => advanceRollout(tendingDeps(control), rollout.id);
const openRuns = (rollout: RolloutRow) => owner<{ id: RunUuid; node_uuid: NodeUuid; fence: number }[]>`
  select id, node_uuid, fence from runs where batch = ${rollout.id} and finished_at is null order by created_at, id`;
const endAll = async (rollout: RolloutRow, outcome: 'succeeded' | 'failed') => {
  for (const run of await openRuns(rollout)) await endOf(control, run, outcome);
};
const stands = async (rollout: RolloutRow) => {
  const { state, code, reason } = (await control.rollouts.find(rollout.id))!;
  return { state, code, reason };
};

test.each([
  [
    'a wave',
    { budget: { total: '100%', wave: 1, each: [] } },
    ['r1', 'r2'],
    'The budget of wave 1 (1) is spent: 1 failed and 0 parked.',
  ],
  [
    'a domain',
    { budget: { total: '100%', each: [{ by: 'properties.rack', max: 1 }] } },
    ['r1', 'r1'],
    'The budget of properties.rack r1 (1) is spent: 1 failed and 0 parked.',
  ],
] as const)(
  'a rollout of which only nodes are left that the spent budget of %s forbids waits for a person, not for ever',
  async (_, limits, racks, reason) => {
    const rollout = await runningRollout(api, await nodesIn(owner, racks), limits);
    await look(rollout);
    await endAll(rollout, 'failed');
    await look(rollout);
    expect(await stands(rollout)).toEqual({ state: 'paused', code: 'budget_spent', reason });
  },
);

test('a spent domain stops nothing while nodes of another one may be begun, or are worked on', async () => {
  const rollout = await runningRollout(api, await nodesIn(owner, ['r1', 'r1', 'r2', 'r2']), {
    budget: { total: '100%', each: [{ by: 'properties.rack', max: 1 }] },
  });
  await look(rollout);
  const [first] = await openRuns(rollout);
  await endOf(control, first!, 'failed');
  await look(rollout);
  expect(await stands(rollout)).toMatchObject({ state: 'running' });
  await endAll(rollout, 'succeeded');
  await look(rollout);
  await endAll(rollout, 'succeeded');
  await look(rollout);
  expect(await stands(rollout)).toMatchObject({ state: 'paused', code: 'budget_spent' });
});

test('nodes that wait for something do not keep those behind them from being begun, however many they are', async () => {
  const nodes = await nodesIn(owner, Array(205).fill(null));
  const rollout = await runningRollout(api, nodes, { order: 'name' });
  const last = (await control.rolloutDue.targets(rollout.id, 0, 205)).at(-1)!.node_uuid;
  const freezes = nodes
    .filter(({ uuid }) => uuid !== last)
    .map(({ uuid }) => ({ node_uuid: uuid, reason: 'fans', requester: owner.json({}) }));
  await owner`insert into freezes ${owner(freezes)}`;
  await look(rollout);
  expect(await openRuns(rollout)).toMatchObject([{ node_uuid: last }]);
});
