/** Aborts on a real engine and store: a BMC that is dead is let go, and what has left is waited for, but not for ever. */
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { workflowId } from '../../src/workflows/contract';
import { startTestApi } from '../support/api';
import { startEngineWorld, type World } from '../support/engine';
import { withRamdisk } from '../support/life-scenarios';
import { type ActsOver, bmcWorker, step } from '../support/recording-driver';

let world: World;
const { withActs } = bmcWorker(() => world);

beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

const dead = () => raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'the connection was closed' });

const wanted = step('management.set_boot_mode', { boot_mode: 'uefi' });
const begin = async (steps = [wanted], patience?: number) => {
  const node = await world.node();
  const runs = patience === undefined ? world.runs : world.runsWith({ abortTimeoutMs: patience });
  return { node, run: (await runs.start(await world.order(node, 'clean', steps))).run };
};

const tried = (run: RunUuid) =>
  world.until(async () => {
    const [only] = await world.inventory.runSteps.ofRun(run);
    return only!.last_error ?? undefined;
  });

const abort = async (node: NodeUuid, run: RunUuid) => {
  const { asked } = await world.order(node, 'abort');
  await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'the BMC is dead', asked });
};

const nodeOf = async (uuid: string) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;

test('a BMC that drops every connection is let go: a step whose command has not left is cut at once', async () => {
  const calls = await withActs({ set_boot_mode: async () => dead() });
  const { node, run } = await begin();
  await tried(run);
  await abort(node, run);
  expect(await world.ended(run)).toMatchObject({ state: 'aborted', last_error: 'By request, the run was aborted.' });
  expect(await nodeOf(node)).toMatchObject({ reservation: null, provision_state: 'clean failed' });
  const before = calls.length;
  expect((await world.inventory.runSteps.ofRun(run))[0]).toMatchObject({ state: 'failed' });
  expect(calls).toHaveLength(before);
});

test('an abort that waits is on record: who asked, and when', async () => {
  await withActs({
    set_boot_mode: async (_node, _args, context) => {
      await context.intents.record({ desired: 'power on' });
      return dead();
    },
  });
  const { node, run } = await begin(undefined, 2_000);
  await tried(run);
  await abort(node, run);
  const row = await world.inventory.runs.find(run);
  expect(row).toMatchObject({ finished_at: null, abort_by: expect.stringMatching(/./), abort_at: expect.any(Date) });
  await world.ended(run);
});

test('a step whose command has left, and whose outcome is unknown, ends the run within its patience and says what is not known', async () => {
  await withActs({
    set_boot_mode: async (_node, _args, context) => {
      await context.intents.record({ desired: 'power on' });
      return dead();
    },
  });
  const { node, run } = await begin(undefined, 1_000);
  await tried(run);
  await abort(node, run);
  const ended = await world.ended(run);
  expect(ended).toMatchObject({ state: 'aborted' });
  expect(ended.last_error).toMatch(/By request.*management\.set_boot_mode.*sent.*not known/);
  expect(await nodeOf(node)).toMatchObject({ reservation: null });
});

test('a step whose command has left is done first, where it is done in time', async () => {
  let finish = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let sent = (): void => undefined;
  const announced = new Promise<void>((resolve) => {
    sent = resolve;
  });
  await withActs({
    set_boot_mode: async (_node, _args, context) => {
      await context.intents.record({ desired: 'power on' });
      sent();
      await gate;
      return { is: 'done', seen: { power_state: 'power on' } };
    },
  });
  const { node, run } = await begin([wanted, step('power.power_off')], 60_000);
  await announced;
  await abort(node, run);
  finish();
  expect(await world.ended(run)).toMatchObject({ state: 'aborted', last_error: 'By request, the run was aborted.' });
  expect((await world.inventory.runSteps.ofRun(run)).map(({ state }) => state)).toEqual(['done', 'pending']);
  expect(await nodeOf(node)).toMatchObject({ power_state: 'power on' });
});

test('what was cut before its command left does not send it afterwards', async () => {
  let sent = false;
  let late: unknown;
  let looked = (): void => undefined;
  const looking = new Promise<void>((resolve) => {
    looked = resolve;
  });
  await withActs({
    set_boot_mode: async (_node, _args, context) => {
      looked();
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve, { once: true }));
      // A worker that does not notice that it is to stop.
      late = await context.intents.record({ desired: 'power on' }).then(
        () => {
          sent = true;
        },
        (thrown: unknown) => thrown,
      );
      throw late;
    },
  });
  const { node, run } = await begin();
  await looking;
  await abort(node, run);
  expect(await world.ended(run)).toMatchObject({ state: 'aborted' });
  expect(sent).toBe(false);
  expect(late).toMatchObject({ code: 'StaleOperation' });
});

test('the acts that tidy up after an abort get no more time from a dead BMC than the abort itself', async () => {
  let away = false;
  await withActs({ power_off: async () => (away ? dead() : { is: 'done' }) });
  const node = await world.node({ provision_state: 'active', ...withRamdisk });
  const order = await world.order(node, 'service', [step('deploy.burnin_cpu')]);
  const { run } = await world.runsWith({ abortTimeoutMs: 500 }).start(order);
  await world.reaches(run, 'waiting');
  away = true;
  await abort(node, run);
  expect(await world.ended(run)).toMatchObject({
    state: 'aborted',
    last_error: expect.stringMatching(/could not be tidied.*(did not answer|Time was up)/),
  });
});

describe('a run that is cancelled in the engine', () => {
  const handleOf = (node: NodeUuid, verb: string, run: RunUuid) =>
    world.client.workflow.getHandle(workflowId(node, verb, run));
  const sent: ActsOver = {
    set_boot_mode: async (_node, _args, context) => {
      await context.intents.record({ desired: 'power on' });
      return dead();
    },
  };
  const cancelled = 'The run was cancelled in the workflow engine.';

  test('does not wait for a dead BMC: a step whose command has not left is cut at once', async () => {
    await withActs({ set_boot_mode: async () => dead() });
    const { node, run } = await begin();
    await tried(run);
    await handleOf(node, 'clean', run).cancel();
    expect(await world.ended(run)).toMatchObject({ state: 'aborted', last_error: cancelled });
    expect(await nodeOf(node)).toMatchObject({ reservation: null, provision_state: 'clean failed' });
    await expect(handleOf(node, 'clean', run).result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  });

  test('waits for a command that has left within its patience, and says what is not known', async () => {
    await withActs(sent);
    const { node, run } = await begin(undefined, 1_000);
    await tried(run);
    await handleOf(node, 'clean', run).cancel();
    const { state, last_error } = await world.ended(run);
    expect(state).toBe('aborted');
    expect(last_error).toMatch(/^The run was cancelled.*management\.set_boot_mode.*sent.*not known/);
  });

  test('asks no BMC any more about a step that is parked', async () => {
    await withActs({ reset_bmc: async () => raise('StepOutcomeUnknown', { step: 'reset_bmc', reason: 'no record' }) });
    const { node, run } = await begin([step('management.reset_bmc')]);
    await world.reaches(run, 'parked');
    await handleOf(node, 'clean', run).cancel();
    expect(await world.ended(run)).toMatchObject({ state: 'aborted', last_error: cancelled });
  });

  test('does not wait for the end of a freeze', async () => {
    await withActs();
    const node = await world.node();
    const { asked } = await world.order(node, 'clean');
    await world.inventory.freezes.create({
      node_uuid: node,
      reason: 'x',
      requester: asked.requester,
      until: null,
    });
    const { run } = await world.runs.start(await world.order(node, 'clean', [wanted]));
    await world.reaches(run, 'waiting');
    await handleOf(node, 'clean', run).cancel();
    expect(await world.ended(run)).toMatchObject({ state: 'aborted', last_error: cancelled });
  });
});

test('a node whose BMC is dead is aborted and deleted by requests, while its worker is still at it', async () => {
  const api = await startTestApi({ database: world.database, runs: world.runs });
  let late: unknown;
  let looked = (): void => undefined;
  const looking = new Promise<void>((resolve) => {
    looked = resolve;
  });
  let goOn = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let done = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    done = resolve;
  });
  try {
    await withActs({
      set_boot_mode: async (_node, _args, context) => {
        looked();
        void gone
          .then(() => context.intents.record({ desired: 'power on' }))
          .catch((thrown: unknown) => {
            late = thrown;
          })
          .finally(done);
        return dead();
      },
    });
    const { node, run } = await begin();
    await looking;
    const remove = () => api.as('operator', 'DELETE', `/v1/nodes/${node}`);
    expect((await remove()).status).toBe(409);
    const asked = await api.as('operator', 'POST', `/temper/v1/runs/${run}/abort`, { body: { reason: 'dead' } });
    expect([asked.status, asked.text]).toEqual([202, expect.anything()]);
    // `clean failed` is no state to delete a node in, except in maintenance.
    const maintained = await api.as('operator', 'PUT', `/v1/nodes/${node}/maintenance`, { body: { reason: 'dead' } });
    expect(maintained.status).toBe(202);
    const removed = await world.until(async () => {
      const { status } = await remove();
      return status === 409 ? undefined : status;
    });
    expect(removed).toBe(204);
    goOn();
    await over;
    expect(late).toMatchObject({ code: 'StaleOperation' });
    expect(await world.inventory.nodes.find({ uuid: node })).toBeUndefined();
    expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'aborted' });
    expect(await world.sql`select 1 from intents where run_id = ${run}`).toEqual([]);
  } finally {
    await api.close();
  }
});
