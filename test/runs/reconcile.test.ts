/** What a control worker looks after by itself: whom the reconciler asks about, what it makes of the answer, and one at a time. */
import { randomUUID } from 'node:crypto';
import { ScheduleNotFoundError, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { createInventory, type Inventory } from '../../src/inventory';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { markIn, noteOf } from '../../src/model/runs/recovery';
import { ensureMarkHolder } from '../../src/process/temporal/temporal';
import { createEngine } from '../../src/runs/engine';
import { reconcileRun } from '../../src/runs/gone';
import { lookAtQuiet } from '../../src/runs/reconcile';
import { recover } from '../../src/runs/recovering';
import { resumeRun } from '../../src/runs/resuming';
import { endOrphans, upkeepOnce } from '../../src/runs/upkeep';
import { controlQueue, partsOfId, reconcileId } from '../../src/workflows/contract';
import { quickTiming, startEngineWorld, type World } from '../support/engine';
import { step } from '../support/recording-driver';

const quiet = { info() {}, warn() {} };
let world: World;
let control: Inventory;

beforeAll(async () => {
  world = await startEngineWorld();
  control = createInventory(world.pools.control);
});
afterAll(() => world?.close());

/** A run that its workflow has claimed; no worker goes on with it. */
const claimed = async (): Promise<{ node: NodeUuid; run: RunUuid }> => {
  const node = await world.node();
  const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.power_on')]));
  await control.runs.claim((await control.runs.input(run))!.lock, 'an-execution');
  return { node, run };
};
const writtenAgo = (run: RunUuid, seconds: number) =>
  world.sql`update runs set updated_at = now() - ${seconds} * interval '1 second' where id = ${run}`;

/** An engine that answers with one status and notes which workflows it was asked about. */
const engineSaying = (status: string) => {
  const asked: string[] = [];
  const getHandle = (id: string) => {
    asked.push(id);
    return { describe: async () => ({ status: { name: status } }) };
  };
  const client = { workflow: { getHandle }, withDeadline: (_: number, work: () => Promise<unknown>) => work() };
  return { asked, deps: { inventory: control, client: client as never, log: quiet } };
};
const workflowOf = async (run: RunUuid) => (await control.runs.find(run))!.workflow_id;

test('a run that wrote something within half a minute is left alone: it may be about to write more', async () => {
  const { run } = await claimed();
  const { asked, deps } = engineSaying('RUNNING');
  await lookAtQuiet(deps);
  await writtenAgo(run, 25);
  await lookAtQuiet(deps);
  expect(asked).not.toContain(await workflowOf(run));
  await writtenAgo(run, 35);
  await lookAtQuiet(deps);
  expect(asked).toContain(await workflowOf(run));
});

test('a run whose last record is ahead of the clock of the store is asked about: that clock was set back', async () => {
  const { run } = await claimed();
  const { asked, deps } = engineSaying('RUNNING');
  await writtenAgo(run, -3_600);
  await lookAtQuiet(deps);
  expect(asked).toContain(await workflowOf(run));
});

test('a run that was accepted before the clock of the store was set back is started, and again after a refusal', async () => {
  const node = await world.node();
  const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.power_on')]));
  const unstarted = async () => (await control.runs.unstarted(60_000)).map(({ id }) => id);
  await world.sql`update runs set attempts_to_start = 0, created_at = now() + interval '1 hour' where id = ${run}`;
  expect(await unstarted()).toContain(run);
  await world.sql`
    update runs set attempts_to_start = 5, updated_at = now() + interval '1 hour' where id = ${run}`;
  expect(await unstarted()).toContain(run);
  await world.sql`update runs set attempts_to_start = 5, updated_at = now() where id = ${run}`;
  expect(await unstarted()).not.toContain(run);
  await world.sql`update runs set state = 'failed', finished_at = now() where id = ${run}`;
});

test('a run that was looked at is not looked at again before the others', async () => {
  const { run } = await claimed();
  await writtenAgo(run, 3_600);
  const first = engineSaying('RUNNING');
  await lookAtQuiet(first.deps);
  const second = engineSaying('RUNNING');
  await lookAtQuiet(second.deps);
  expect([first.asked, second.asked].map((asked) => asked.length > 0)).toEqual([true, false]);
});

test.each([
  ['CANCELLED', 'aborted'],
  ['TERMINATED', 'aborted'],
  ['FAILED', 'failed'],
  ['TIMED_OUT', 'failed'],
  ['COMPLETED', 'failed'],
])('a workflow that is %s leaves a run that %s, with its node free', async (status, state) => {
  const { node, run } = await claimed();
  expect(await lookAtQuiet(engineSaying(status).deps, { olderThanMs: 0 })).toBeGreaterThan(0);
  expect(await control.runs.find(run)).toMatchObject({ state });
  expect(await control.runs.holding(node)).toBeUndefined();
});

test('an engine that does not know a run has it started anew under a higher fence', async () => {
  const { node, run } = await claimed();
  const { fence } = (await control.runs.find(run))!;
  await lookAtQuiet(engineSaying('UNKNOWN').deps, { olderThanMs: 0 });
  expect(await control.runs.find(run)).toMatchObject({ finished_at: null, fence: fence + 1 });
  expect(await control.runs.claim({ run, node_uuid: node, fence }, 'a late one')).toBe(false);
  expect((await control.runs.unstarted(60_000)).map(({ id }) => id)).toContain(run);
  await world.sql`update runs set finished_at = now(), state = 'failed' where id = ${run}`;
});

const deps = (ensureMarkHolder = async () => {}) => ({
  inventory: control,
  client: world.client,
  log: quiet,
  queuePrefix: world.prefix,
  ensureMarkHolder,
});

test('what carries the mark is made again where it is gone, by one worker at a time', async () => {
  const schedule = world.client.schedule.getHandle(reconcileId(world.prefix));
  await expect(schedule.describe()).rejects.toThrow(ScheduleNotFoundError);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = upkeepOnce(
    deps(async () => {
      await ensureMarkHolder(world.client, world.prefix);
      await held;
    }),
    1,
  );
  await world.until(() => schedule.describe().catch(() => undefined));
  expect(await upkeepOnce(deps(), 1)).toBe(false);
  release();
  expect(await first).toBe(true);
  expect(await upkeepOnce(deps(), 1)).toBe(true);
  await schedule.delete();
});

test('what carries the mark starts no workflow, and a schedule that a release before made is stopped where it stands', async () => {
  const schedule = world.client.schedule.getHandle(reconcileId(world.prefix));
  const ensure = () => ensureMarkHolder(world.client, world.prefix);
  const stopped = { state: { paused: true }, info: { nextActionTimes: [] } };
  await ensure();
  expect(await schedule.describe()).toMatchObject({ ...stopped, spec: { intervals: [] } });
  await schedule.delete();

  await world.client.schedule.create({
    scheduleId: reconcileId(world.prefix),
    spec: { intervals: [{ every: 3_600_000 }] },
    action: {
      type: 'startWorkflow',
      workflowType: 'reconcile',
      taskQueue: controlQueue(world.prefix),
      workflowId: reconcileId(world.prefix),
    },
    state: { note: noteOf({ count: 7, mark: randomUUID() }) },
  });
  expect((await schedule.describe()).info.nextActionTimes).not.toEqual([]);
  expect(await upkeepOnce(deps(ensure), 0)).toBe(true);
  const after = await schedule.describe();
  expect(after).toMatchObject(stopped);
  // In a roll-out workers of both releases compare the same mark.
  expect(markIn(after.state.note)?.count).toBe(8);
  await schedule.delete();
});

test('each third pass starts what was accepted, ends what is gone, and sweeps what has expired', async () => {
  const { run } = await claimed();
  await world.client.workflow.getHandle(await workflowOf(run)).terminate('test');
  const passes: unknown[] = [];
  let sweeps = 0;
  const sweep = async () => {
    sweeps += 1;
    return control.idempotency.sweep();
  };
  const inventory = { ...control, idempotency: { ...control.idempotency, sweep } };
  const ensure = () => ensureMarkHolder(world.client, world.prefix);
  const counting = { ...deps(ensure), inventory, onReconciled: (pass: unknown) => void passes.push(pass) };
  await writtenAgo(run, 3_600);
  expect(await upkeepOnce(counting, 3)).toBe(true);
  expect(await control.runs.find(run)).toMatchObject({ state: 'aborted' });
  expect([passes, sweeps]).toEqual([[{ started: expect.any(Number), ended: expect.any(Number) }], 1]);
  expect(await upkeepOnce(counting, 4)).toBe(true);
  expect([passes.length, sweeps]).toEqual([1, 1]);
  await world.client.schedule.getHandle(reconcileId(world.prefix)).delete();
});

test('a workflow of which the store has no run is terminated, and none that has one', async () => {
  const { run: kept } = await claimed();
  const { run: orphan } = await claimed();
  const [one, other] = [await workflowOf(kept), await workflowOf(orphan)];
  await world.sql`update nodes set reservation = null where reservation = ${orphan}`;
  await world.sql`delete from runs where id = ${orphan}`;
  const statusOf = async (id: string) => (await world.client.workflow.getHandle(id).describe()).status.name;
  // The engine lists what is open a little later than it is.
  await world.until(async () => {
    await endOrphans(deps());
    return (await statusOf(other)) === 'TERMINATED' ? true : undefined;
  });
  expect(await statusOf(one)).toBe('RUNNING');
  expect(partsOfId(one)?.run).toBe(kept);
  expect(partsOfId('reconcile')).toBeUndefined();
  await world.client.workflow.getHandle(one).terminate('test');
});

test('a request that lives is not taken up again by another; one that died is', async () => {
  const { idempotency } = world.inventory;
  const asked = { request_id: `req-${world.prefix}`, caller: Buffer.from('c'), key: 'k', asked: Buffer.from('a') };
  expect(await idempotency.begin({ ...asked, keptForHours: 1 })).toBeUndefined();
  expect(await idempotency.revive(asked.request_id)).toBe(false);
  await idempotency.abandon(asked.request_id);
  expect(await idempotency.revive(asked.request_id)).toBe(true);
  expect(await idempotency.revive(asked.request_id)).toBe(false);
});

test('recovery says what it would do, and does it: forgotten runs set their node aside, older workflows give way to the record', async () => {
  const { node: older, run: kept } = await claimed();
  const { node: aside, run: orphan } = await claimed();
  const [one, other] = [await workflowOf(kept), await workflowOf(orphan)];
  const { fence } = (await control.runs.find(kept))!;
  await world.sql`update nodes set reservation = null where reservation = ${orphan}`;
  await world.sql`delete from runs where id = ${orphan}`;
  expect(await world.runs.recover(true)).toEqual({ recovery: null, lines: [] });
  await control.recovery.enter({ side: 'engine', reason: 'it is older' });

  const statusOf = async (id: string) => (await world.client.workflow.getHandle(id).describe()).status.name;
  // The engine lists what is open a little later than it is.
  const would = await world.until(async () => {
    const { lines } = await world.runs.recover(false);
    return lines.some((line) => line.includes(other)) ? lines : undefined;
  });
  expect(would.find((line) => line.includes(kept))).toMatch(/terminated, and the run goes on from its record/);
  expect(would.find((line) => line.includes(other))).toMatch(/does not know its run.*maintenance/);
  expect([await statusOf(one), await statusOf(other)]).toEqual(['RUNNING', 'RUNNING']);
  await upkeepOnce(deps());
  expect(await statusOf(other)).toBe('RUNNING');

  expect((await world.runs.recover(true)).recovery).toMatchObject({ side: 'engine' });
  expect([await statusOf(one), await statusOf(other)]).toEqual(['TERMINATED', 'TERMINATED']);
  expect(await control.runs.find(kept)).toMatchObject({ finished_at: null, fence: fence + 1, node_uuid: older });
  const [node] = await world.sql`select maintenance, maintenance_reason from nodes where uuid = ${aside}`;
  expect(node).toMatchObject({ maintenance: true, maintenance_reason: expect.stringContaining(orphan) });
  expect(await control.recovery.current()).toBeUndefined();
  await world.sql`update runs set finished_at = now(), state = 'failed' where id = ${kept}`;
});

/** An engine whose workflow is closed, with what it says; `closed` are others that it lists as such. */
const engineClosed = (ending: () => Promise<unknown>, closed: readonly string[] = []) => {
  const queries: string[] = [];
  const getHandle = () => ({ describe: async () => ({ status: { name: 'COMPLETED' } }), result: ending });
  async function* list({ query }: { query: string }) {
    queries.push(query);
    if (query.includes("!= 'Running'")) for (const workflowId of closed) yield { workflowId };
  }
  const client = { workflow: { getHandle, list }, withDeadline: (_: number, work: () => Promise<unknown>) => work() };
  const inventory = createInventory(world.pools.api);
  return { queries, deps: { inventory, client: client as never, log: quiet, timing: quickTiming } };
};
const finishOthers = (run: RunUuid) =>
  world.sql`update runs set finished_at = now(), state = 'failed' where finished_at is null and id <> ${run}`;

test.each([
  ['succeeded', async () => ({ outcome: 'succeeded' }), { state: 'succeeded', last_error: null }, 'manageable'],
  ['aborted', async () => ({ outcome: 'aborted' }), { state: 'aborted' }, 'clean failed'],
  [
    'failed',
    async () => {
      throw new WorkflowFailedError(
        '',
        ApplicationFailure.nonRetryable('The disk is broken.'),
        'NON_RETRYABLE_FAILURE' as never,
      );
    },
    { state: 'failed', last_error: 'The disk is broken.' },
    'clean failed',
  ],
])('a run that has %s since the backup ends so in the restored database', async (_, ending, expected, rests) => {
  const { node, run } = await claimed();
  await finishOthers(run);
  await control.recovery.enter({ side: 'store', reason: 'it is older' });
  await recover(engineClosed(ending).deps, true);
  expect(await control.runs.find(run)).toMatchObject(expected);
  const [row] = await world.sql`select provision_state, reservation from nodes where uuid = ${node}`;
  expect(row).toEqual({ provision_state: rests, reservation: null });
});

test('a run that was accepted after the backup and has ended sets its node aside all the same', async () => {
  const node = await world.node();
  const run = '00000000-0000-4000-8000-000000000001';
  await finishOthers(run as RunUuid);
  await control.recovery.enter({ side: 'store', reason: 'it is older' });
  const known = await claimed();
  const { queries, deps: given } = engineClosed(
    async () => ({ outcome: 'succeeded' }),
    [`node-${node}.clean.${run}`, await workflowOf(known.run)],
  );
  const { lines } = await recover(given, true);
  expect(queries).toContainEqual(expect.stringMatching(/ExecutionStatus != 'Running'.*StartTime > '/));
  expect(lines.filter((line) => line.includes('maintenance'))).toHaveLength(1);
  const [row] = await world.sql`select maintenance, maintenance_reason from nodes where uuid = ${node}`;
  expect(row).toMatchObject({ maintenance: true, maintenance_reason: expect.stringContaining(run) });
});

test('where database and engine were both set back, no open run goes on: nothing knows what was done since', async () => {
  const { node, run } = await claimed();
  await finishOthers(run);
  await control.recovery.enter({ side: 'unknown', reason: 'both are older' });
  await world.runs.recover(true);
  expect(await control.runs.find(run)).toMatchObject({
    state: 'failed',
    last_error: expect.stringContaining('cannot be known'),
  });
  const [row] = await world.sql`select reservation from nodes where uuid = ${node}`;
  expect(row).toEqual({ reservation: null });
});

test('a run that is about to go on from its record is not ended for the workflow that was terminated before', async () => {
  const { run } = await claimed();
  await resumeRun((await control.runs.find(run))!, 'Its workflow was older than its record.', deps());
  const { deps: terminated } = engineSaying('TERMINATED');
  const again = (await control.runs.find(run))!;
  expect(await reconcileRun(again, createEngine(terminated.client), terminated)).toBeUndefined();
  expect(await control.runs.find(run)).toMatchObject({ finished_at: null });
});
