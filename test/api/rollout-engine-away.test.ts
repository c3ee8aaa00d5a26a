/** Rollouts while the engine is away: all that people do is kept in the store, and goes on when it is back. */
import type { RolloutUuid } from '../../src/model/ids';
import { runWaking, wakeOnce } from '../../src/rollouts/waking';
import { createRuns } from '../../src/runs';
import { relayOnce } from '../../src/runs/relay';
import { quickTiming } from '../support/engine';
import { type RolloutWorld, startRestartWorld } from '../support/rollout-world';
import { testVault } from '../support/vault';

const quiet = { info() {}, warn() {}, error() {}, debug() {} };
const away = () => Promise.reject(new Error('the engine is away'));

let world: RolloutWorld;
beforeAll(async () => {
  world = await startRestartWorld();
});
afterAll(() => world?.close());

test('a plan, its submission, its approval and its start are taken, and its workflow is woken when the engine is back', async () => {
  world.setPolicy({ set: 'temper', overrides: { 'temper:rollout:start_alone': '!' } });
  const rollout = await world.plan({ select: { nodes: await world.nodes(['r1']) } });
  const { plan_hash } = rollout;
  expect((await world.act(rollout, 'submit', { plan_hash })).status).toBe(200);
  expect((await world.act(rollout, 'approve', { plan_hash }, 'operator')).status).toBe(200);
  await world.start(rollout);
  world.setPolicy({ set: 'temper' });
  const { inventory } = world.deps;
  await expect(wakeOnce({ inventory, log: quiet, wake: away })).rejects.toThrow('away');

  const ending = new AbortController();
  let isAway = true;
  let failed = 0;
  const woken = new Promise<RolloutUuid>((resolve) => {
    const wake = async (one: RolloutUuid): Promise<void> => {
      if (!isAway) return resolve(one);
      failed += 1;
      isAway = failed < 2;
      return away();
    };
    void runWaking({ inventory, log: quiet, wake }, ending.signal);
  });
  expect(await woken).toBe(rollout.uuid);
  expect(failed).toBe(2);
  ending.abort();
  expect((await world.show(rollout)).states).toEqual({ pending: 1 });
});

test('a node that was accepted just before the engine went stays begun, once, and its run is started when it is back', async () => {
  const { inventory, log } = world.deps;
  const started: string[] = [];
  let start: (...given: readonly unknown[]) => Promise<unknown> = away;
  const client = {
    withDeadline: (_: unknown, work: () => unknown) => work(),
    workflow: { start: (...given: readonly unknown[]) => start(...given) },
  } as never;
  const { start: startRun } = createRuns({ inventory, vault: testVault, client, timing: quickTiming, log: quiet });
  const runs = { ...world.deps.runs, start: startRun };
  const rollout = await world.plan({ select: { nodes: await world.nodes(['r1', 'r1']) }, max_in_flight: 1 });
  await world.start(rollout);
  await world.tend(rollout, { runs });
  await world.tend(rollout, { runs });
  expect((await world.show(rollout)).states).toEqual({ admitted: 1, pending: 1 });
  const [target] = await world.targets(rollout, '?state=admitted');
  expect((await inventory.runs.find(target.run))?.state).toBe('accepted');

  start = async (_type, options) => {
    started.push((options as { workflowId: string }).workflowId);
    return { firstExecutionRunId: 'e' };
  };
  await relayOnce({ inventory, client, log }, 0);
  await relayOnce({ inventory, client, log }, 0);
  // The engine takes a workflow by its id once, however often the relay asks.
  expect(new Set(started.filter((id) => id.includes(target.run))).size).toBe(1);
  expect(await world.api.sql`select id from runs where batch = ${rollout.uuid}`).toEqual([{ id: target.run }]);
});
