/** Aborts on a real engine and store: a BMC that is dead is let go, and what has left is waited for, but not for ever. */
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { startEngineWorld, type World } from '../support/engine';
import { withRamdisk } from '../support/life-scenarios';
import { type ActsOver, recordingDriver, step } from '../support/recording-driver';

let world: World;
let stopBmc: () => Promise<void> = async () => {};
const withActs = async (over: ActsOver = {}): Promise<string[]> => {
  await stopBmc();
  const { driver, calls } = recordingDriver(over);
  stopBmc = await world.bmc({ 'fake-hardware': driver });
  return calls;
};

beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
}, 60_000);
afterAll(() => world?.close());

const dead = () => raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'the connection was closed' });

const wanted = step('management.set_boot_mode', { boot_mode: 'uefi' });
const begin = async (steps = [wanted], patience?: number) => {
  const node = await world.node();
  const runs = patience === undefined ? world.runs : world.runsWith({ abortPatienceMs: patience });
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
  const { run } = await world.runsWith({ abortPatienceMs: 500 }).start(order);
  await world.reaches(run, 'waiting');
  away = true;
  await abort(node, run);
  expect(await world.ended(run)).toMatchObject({
    state: 'aborted',
    last_error: expect.stringMatching(/could not be tidied.*(did not answer|Time was up)/),
  });
});
