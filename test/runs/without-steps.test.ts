/** A run without steps: its acceptance ends it, and nothing but its workflow is missing. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { createInventory } from '../../src/inventory';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { createRuns } from '../../src/runs';
import { relayOnce } from '../../src/runs/relay';
import { quickTiming, startEngineWorld, type World } from '../support/engine';
import { callBack, withRamdisk } from '../support/life-scenarios';
import { recordingDriver } from '../support/recording-driver';

const quiet = { info() {}, warn() {} };
let world: World;
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

const manageable = (values: object = {}) =>
  world.node({ provision_state: 'manageable', target_provision_state: null, owner: 'p-owner', ...values });
const provided = async (node: NodeUuid) => (await world.runs.start(await world.order(node, 'provide'))).run;
const nodeOf = async (uuid: NodeUuid) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;
const trailOf = (table: 'events' | 'audit', column: string, run: RunUuid) =>
  world.sql`
    select ${world.sql(column)} as what, project, data from ${world.sql(table)} where run_id = ${run} order by seq`;
const workflowOf = async (run: RunUuid) => {
  const { workflow_id } = (await world.inventory.runs.find(run))!;
  return world.client.workflow.getHandle(workflow_id).describe();
};

test('provide of a node without automated cleaning ends with its acceptance, and makes no workflow', async () => {
  const node = await manageable({ automated_clean: false, last_error: 'of before' });
  const run = await provided(node);
  expect(await world.inventory.runs.find(run)).toMatchObject({
    verb: 'provide',
    kind: 'clean',
    state: 'succeeded',
    provision_state_before: 'manageable',
    target: 'available',
    cursor: 0,
    waiting_for: null,
    last_error: null,
    workflow_run_id: null,
    started_at: expect.any(Date),
    finished_at: expect.any(Date),
  });
  expect(await nodeOf(node)).toMatchObject({
    provision_state: 'available',
    target_provision_state: null,
    reservation: null,
    fence: 1,
    last_error: null,
  });
  await expect(workflowOf(run)).rejects.toBeInstanceOf(WorkflowNotFoundError);
});

// As a workflow left them: the move into the working state, then the end from there.
test('its events and its trail tell the move into cleaning and the end from there', async () => {
  const run = await provided(await manageable({ automated_clean: false }));
  const begun = { verb: 'provide', from: 'manageable', to: 'cleaning', runbook: null, steps: [] };
  expect(await trailOf('events', 'kind', run)).toEqual([
    { what: 'run.accepted', project: 'p-owner', data: begun },
    { what: 'run.succeeded', project: 'p-owner', data: { from: 'cleaning', to: 'available', error: null } },
  ]);
  expect(await trailOf('audit', 'action', run)).toEqual([{ what: 'run.provide', project: 'p-owner', data: begun }]);
});

test('it ends without Temporal, and the relay has nothing to start', async () => {
  const away = { workflow: {}, withDeadline: () => Promise.reject(new Error('Temporal is away')) };
  const client = away as unknown as World['client'];
  const { inventory, vault, prefix: queuePrefix } = world;
  const runs = createRuns({ inventory, vault, client, timing: quickTiming, log: quiet, queuePrefix });
  const node = await manageable({ automated_clean: false });
  const { run } = await runs.start(await world.order(node, 'provide'));
  expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'succeeded' });
  const deps = { inventory: createInventory(world.pools.control), client, log: quiet };
  expect(await relayOnce(deps, 0)).toEqual({ started: 0, sent: 0 });
});

test('a node that another run holds is refused, and nothing of the run is left', async () => {
  const node = await manageable({ automated_clean: false });
  const order = await world.order(node, 'provide');
  const { run } = await world.runs.start(await world.order(node, 'inspect'));
  await expect(world.runs.start(order)).rejects.toMatchObject({ code: 'NodeLocked' });
  expect(await world.sql`select id from runs where node_uuid = ${node}`).toEqual([{ id: run }]);
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'inspecting', reservation: run, fence: 1 });
});

test('an acceptance that fails after the end leaves the node as it was', async () => {
  const node = await manageable({ automated_clean: false });
  const order = await world.order(node, 'provide');
  await world.sql`create function refuse_end() returns trigger language plpgsql as $$ begin raise 'full'; end $$`;
  await world.sql`create trigger refuse_end before insert on events for each row when (new.kind = 'run.succeeded')
    execute function refuse_end()`;
  await expect(world.runs.start(order)).rejects.toThrow('full');
  await world.sql`drop trigger refuse_end on events`;
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'manageable', reservation: null, fence: 0 });
  expect(await world.sql`select 1 from events where node_uuid = ${node}`).toEqual([]);
});

test('an order that takes a waiting run over ends that run in its workflow, even if it has no steps of its own', async () => {
  const { driver } = recordingDriver({});
  const stop = await world.bmc({ 'fake-hardware': driver });
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  const first = await world.runs.start(await world.order(node, 'active'));
  await world.reaches(first.run, 'waiting');
  const order = await world.order(node, 'deleted');
  const { run } = await world.runs.start({ ...order, steps: [], ramdisk: {} });
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded', workflow_run_id: expect.any(String) });
  expect((await workflowOf(first.run)).status.name).not.toBe('RUNNING');
  await stop();
});

test('provide of a node with automated cleaning has a workflow', async () => {
  const { driver } = recordingDriver({ agent_steps: async () => ({ is: 'done', reported: [] }) });
  const stop = await world.bmc({ 'fake-hardware': driver });
  const node = await manageable({ ...withRamdisk, automated_clean: true });
  const run = await provided(node);
  await world.reaches(run, 'waiting');
  await callBack(world, node);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded', workflow_run_id: expect.any(String) });
  await stop();
});
