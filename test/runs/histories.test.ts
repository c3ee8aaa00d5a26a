/**
 * Every scenario ends on a real engine as it should, and its fresh history replays on the same code. With
 * TEMPER_RECORD_HISTORIES=N the N-th histories that are missing from test/replay/histories are written there.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { keptHistory } from '../../scripts/lib/history';
import { startEngineWorld, type World } from '../support/engine';
import type { Scenario } from '../support/life-scenarios';
import { recordingDriver } from '../support/recording-driver';
import { begin, scenarios } from '../support/scenarios';
import { workflowBundle } from '../support/servers';

const folder = join(__dirname, '../replay/histories');
const recording = process.env.TEMPER_RECORD_HISTORIES;

let world: World;
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

const play = async (scenario: Scenario) => {
  const { driver } = recordingDriver(scenario.acts);
  const stop = await world.bmc({ 'fake-hardware': driver });
  try {
    const on = await begin(world, scenario);
    await scenario.meanwhile?.(world, on);
    const { last_error } = await world.ended(on.run);
    const colour = await on.handle.result().then(
      () => 'green',
      () => 'red',
    );
    return { ...on, colour, last_error };
  } finally {
    await stop();
  }
};

test.each(scenarios().map((scenario) => [scenario.story, scenario.ends, scenario] as const))(
  '%s that ends %s replays',
  async (story, ends, scenario) => {
    const { handle, colour, node, last_error } = await play(scenario);
    // Its last error says why, should it end otherwise.
    expect([colour, last_error]).toEqual(
      scenario.red ? ['red', expect.anything()] : ['green', colour === 'green' ? last_error : null],
    );
    if (scenario.rests)
      expect((await world.sql`select provision_state, reservation from nodes where uuid = ${node}`)[0]).toEqual({
        provision_state: scenario.rests,
        reservation: null,
      });
    const history = await handle.fetchHistory();
    await Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, history, handle.workflowId);
    const file = join(folder, `${story}.${ends}.${recording}.json`);
    if (recording && !existsSync(file)) writeFileSync(file, keptHistory(handle.workflowId, historyToJSON(history)));
  },
);

test('a pass of the reconciler replays', async () => {
  const handle = await world.client.workflow.start('reconcile', {
    workflowId: `reconcile-${world.prefix}`,
    taskQueue: `${world.prefix}-control`,
  });
  expect(await handle.result()).toEqual({ started: 0, ended: expect.any(Number) });
  const history = await handle.fetchHistory();
  await Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, history, handle.workflowId);
  const file = join(folder, 'reconcile.succeeded.1.json');
  if (recording && !existsSync(file)) writeFileSync(file, keptHistory(handle.workflowId, historyToJSON(history)));
});
