/** A run whose node another one takes over: it ends in the store at once, and in the engine before the other one acts. */
import type { Driver } from '../../src/bmc/contract';
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { workflowId } from '../../src/workflows/contract';
import { startEngineWorld, type World } from '../support/engine';
import { recordingDriver } from '../support/recording-driver';

let world: World;
let stopControl: () => Promise<void>;
beforeAll(async () => {
  world = await startEngineWorld();
  stopControl = await world.control();
});
afterAll(() => world?.close());

let stopBmc = async (): Promise<void> => {};
afterEach(() => stopBmc());
const works = async (driver: Driver): Promise<void> => {
  stopBmc = await world.bmc({ 'fake-hardware': driver });
};

const nodeOf = async (uuid: NodeUuid) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;
const statusOf = async (node: NodeUuid, run: RunUuid): Promise<string> =>
  (await world.client.workflow.getHandle(workflowId(node, 'active', run)).describe()).status.name;

/** A deployment that is parked in a step which no abort may cut short. */
const parked = async (node: NodeUuid): Promise<RunUuid> => {
  const order = await world.order(node, 'active');
  const steps = order.steps.map((one) => ({ ...one, abortable: false, on_failure: 'park' as const }));
  const { run } = await world.runs.start({ ...order, steps });
  await world.reaches(run, 'parked');
  await world.until(async () => ((await nodeOf(node)).provision_state === 'wait call-back' ? true : undefined));
  return run;
};

test('a parked run makes way for the one that takes its node: aborted in the store, closed before the other one acts', async () => {
  let first: RunUuid | undefined;
  let node: NodeUuid | undefined;
  const seen: { readonly status: string; readonly reservation: string }[] = [];
  const { driver, calls } = recordingDriver({
    power_on: async () => raise('BmcRejected', { node: 'n', bmc: 'b', reason: 'no' }),
    power_off: async () => {
      seen.push({ status: await statusOf(node!, first!), reservation: (await nodeOf(node!)).reservation });
      return { is: 'done' };
    },
  });
  await works(driver);
  node = await world.node({ provision_state: 'available', automated_clean: false });
  first = await parked(node);
  const { fence } = await nodeOf(node);
  expect(calls).toEqual(['power_on']);

  const { run: after } = await world.runs.start(await world.order(node, 'deleted'));
  // By then, and not when its workflow has noticed.
  const taken = {
    state: 'aborted',
    last_error: 'By request, deleted took the node over.',
    waiting_for: null,
    finished_at: expect.any(Date),
  };
  expect(await world.inventory.runs.find(first)).toMatchObject(taken);
  expect((await world.inventory.runSteps.ofRun(first))[0]).toMatchObject({ state: 'failed' });

  expect(await world.ended(after)).toMatchObject({ state: 'succeeded' });
  expect(seen).toEqual([{ status: expect.not.stringMatching(/RUNNING|TERMINATED/), reservation: after }]);
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'available', reservation: null, fence: fence + 1 });
  // What its workflow did on its way out changed nothing.
  expect(await world.inventory.runs.find(first)).toMatchObject(taken);
  expect(calls).toEqual(['power_on', 'power_off']);
  // Nor does the trail say that an operator cancelled it with the engine's tools.
  expect(await world.sql`select action from audit where run_id = ${first} and action = 'run.cancel'`).toEqual([]);
  expect(await world.sql`select kind from events where run_id = ${first} and kind = 'run.cancel'`).toEqual([]);
});

test('a decision about a run that was displaced comes too late: its step is not tried again', async () => {
  const { driver, calls } = recordingDriver({
    power_on: async () => raise('BmcRejected', { node: 'n', bmc: 'b', reason: 'no' }),
  });
  await works(driver);
  const node = await world.node({ provision_state: 'available', automated_clean: false });
  const run = await parked(node);
  const order = await world.order(node, 'deleted');
  const { run: after } = await world.runs.start(order);
  const retry = { run, act: 'retry' as const, cursor: 0, reason: 'late', asked: order.asked };
  await expect(world.runs.operate(retry)).rejects.toMatchObject({ code: 'Conflict' });
  expect(await world.ended(after)).toMatchObject({ state: 'succeeded' });
  expect(await statusOf(node, run)).not.toBe('RUNNING');
  expect(calls.filter((call) => call === 'power_on')).toHaveLength(1);
  expect(await nodeOf(node)).toMatchObject({ reservation: null });
});

test('a run that does not end is ended by force before the one that took its node acts, and its record stays as it was', async () => {
  const stuck = `stuck-${world.prefix}`;
  const seen: string[] = [];
  const { driver, calls } = recordingDriver({
    power_on: async () => raise('BmcRejected', { node: 'n', bmc: 'b', reason: 'no' }),
    power_off: async () => {
      seen.push((await world.client.workflow.getHandle(stuck).describe()).status.name);
      return { is: 'done' };
    },
  });
  await works(driver);
  const node = await world.node({ provision_state: 'available', automated_clean: false });
  const first = await parked(node);
  // Its workflow is one that no worker goes on with, as where its code fails at every task: it notices no cancellation.
  await world.client.workflow.start('clean', { workflowId: stuck, taskQueue: `no-worker-of-${world.prefix}` });
  await world.sql`update runs set workflow_id = ${stuck} where id = ${first}`;
  await stopControl();
  stopControl = await world.control({ displaceWithinMs: 0 });

  const { run: after } = await world.runs.start(await world.order(node, 'deleted'));
  expect(await world.ended(after)).toMatchObject({ state: 'succeeded' });
  expect(seen).toEqual(['TERMINATED']);
  expect(calls).toEqual(['power_on', 'power_off']);
  const pass = await world.client.workflow.start('reconcile', {
    workflowId: `reconcile-${world.prefix}`,
    taskQueue: `${world.prefix}-control`,
  });
  await pass.result();
  expect(await world.inventory.runs.find(first)).toMatchObject({
    state: 'aborted',
    last_error: 'By request, deleted took the node over.',
  });
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'available', reservation: null });
  expect(await world.sql`select action from audit where run_id = ${first} and action = 'run.cancel'`).toEqual([]);
});
