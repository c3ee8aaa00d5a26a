/** The engine's store is lost while runs are under way: each goes on from its record, and nothing is sent twice. */
import { createInventory } from '../../src/inventory';
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { lookAtQuiet } from '../../src/runs/reconcile';
import { relayOnce } from '../../src/runs/relay';
import { startEngineWorld, type World } from '../support/engine';
import { callBack, found, sendInventory, withRamdisk } from '../support/life-scenarios';
import { type OwnTemporal, startOwnTemporal } from '../support/own-temporal';
import { recordingDriver, step } from '../support/recording-driver';

const quiet = { info() {}, warn() {} };
let temporal: OwnTemporal;
let world: World;
const calls: string[] = [];
let unknown = new Set<string>();

const reported = [{ interface: 'deploy', step: 'erase_devices', priority: 10, abortable: true }];

beforeAll(async () => {
  temporal = await startOwnTemporal();
  world = await startEngineWorld();
  await world.control();
  const { driver } = recordingDriver({
    reset_bmc: async (node) => {
      calls.push(`${node.name} reset_bmc`);
      if (unknown.delete(node.name!))
        raise('StepOutcomeUnknown', { step: 'management.reset_bmc', reason: 'no record' });
      return { is: 'done' };
    },
    power_on: async (node, _args, { signal }) => {
      calls.push(`${node.name} power_on`);
      // The first attempt is under way when the engine is lost.
      const first = calls.filter((call) => call === `${node.name} power_on`).length === 1;
      if ((node.name === 'acting' || node.name === 'inspecting') && first)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
      return { is: 'done' };
    },
    power_off: async (node) => {
      calls.push(`${node.name} power_off`);
      return { is: 'done' };
    },
    agent_steps: async (node) => {
      calls.push(`${node.name} agent_steps`);
      return { is: 'done', reported: node.name === 'joined' ? reported : [] };
    },
    agent_step: async (node, _args, { step: on }) => {
      calls.push(`${node.name} ${on!.step}`);
      return { is: 'done' };
    },
  });
  await world.bmc({ 'fake-hardware': driver });
});
afterAll(async () => {
  await world?.close();
  await temporal?.close();
});

type Under = { node: NodeUuid; run: RunUuid };

const clean = async (name: string, steps: Parameters<World['order']>[2], more = {}): Promise<Under> => {
  const node = await world.node({ name, ...more });
  const { run } = await world.runs.start(await world.order(node, 'clean', steps));
  return { node, run };
};
const asked = async ({ node }: Under) => (await world.order(node, 'abort')).asked;
const stateOf = async ({ run }: Under) => (await world.inventory.runs.find(run))!;
const of = (name: string): string[] =>
  calls.filter((call) => call.startsWith(`${name} `)).map((call) => call.slice(name.length + 1));

/** What a control worker does by itself, at shorter pauses; ends with the signal. */
const lookAfter = async (signal: AbortSignal): Promise<void> => {
  const deps = { inventory: createInventory(world.pools.control), client: world.client, log: quiet };
  while (!signal.aborted) {
    // An engine that is away is looked at again.
    await lookAtQuiet(deps, { olderThanMs: 500 }).catch(() => {});
    await relayOnce(deps, 0).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

test('every run goes on from where its record says, and only what cannot be known waits for a person', async () => {
  const held = await clean('held', [step('management.reset_bmc'), step('power.hold'), step('power.power_on')]);
  const acting = await clean('acting', [step('power.reboot'), step('power.power_off')]);
  const timed = await clean('timed', [
    step('management.reset_bmc'),
    step('power.wait', { seconds: 3 }),
    step('power.power_off'),
  ]);
  unknown = new Set(['parked']);
  const parked = await clean('parked', [step('management.reset_bmc'), step('power.power_on')]);
  const paused = await clean('paused', [step('power.hold'), step('power.power_off')]);
  const told = await clean('told', [step('power.hold')]);
  const deployed: Under = await (async () => {
    const node = await world.node({ name: 'deployed', provision_state: 'available', ...withRamdisk });
    return { node, run: (await world.runs.start(await world.order(node, 'active'))).run };
  })();
  const joined: Under = await (async () => {
    const node = await world.node({ name: 'joined', provision_state: 'manageable', ...withRamdisk });
    return { node, run: (await world.runs.start(await world.order(node, 'provide'))).run };
  })();
  const begun = async (name: string): Promise<Under> => {
    const node = await world.node({ name, provision_state: 'manageable', ...withRamdisk });
    return { node, run: (await world.runs.start(await world.order(node, 'inspect'))).run };
  };
  const inspected = await begun('inspected');
  const inspecting = await begun('inspecting');
  for (const one of [held, timed, told, deployed, joined, inspected]) await world.reaches(one.run, 'waiting');
  await world.until(async () => (of('inspecting').includes('power_on') ? true : undefined));
  await world.reaches(parked.run, 'parked');
  await world.reaches(paused.run, 'waiting');
  await world.until(async () => (of('acting').includes('power_on') ? true : undefined));
  await world.runs.operate({ run: paused.run, act: 'pause', cursor: 0, reason: 'look', asked: await asked(paused) });
  const before = await stateOf(held);

  await temporal.kill();
  // What its ramdisk sends is on record, and no workflow learns of it.
  await sendInventory(world, inspected.node, found);
  temporal.lose();
  await temporal.start();

  // An abort finds no workflow: it says so, and takes effect.
  const answer = await world.runs.operate({
    run: told.run,
    act: 'abort',
    cursor: 0,
    reason: 'x',
    asked: await asked(told),
  });
  expect(answer).toBe('restarted');
  const ends = new AbortController();
  const looking = lookAfter(ends.signal);
  expect(await world.ended(told.run)).toMatchObject({
    state: 'aborted',
    last_error: expect.stringContaining('By request'),
  });

  await world.reaches(held.run, 'waiting');
  const order = await world.order(held.node, 'unhold' as never);
  await world.runs.send({ node: order.node, kind: 'unhold', asked: order.asked });
  await world.ended(held.run);
  expect(await stateOf(held)).toMatchObject({ state: 'succeeded', fence: before.fence + 1 });
  expect(of('held')).toEqual(['reset_bmc', 'power_on']);

  expect(await world.ended(timed.run)).toMatchObject({ state: 'succeeded' });
  expect(of('timed')).toEqual(['reset_bmc', 'power_off']);
  expect(await world.ended(acting.run)).toMatchObject({ state: 'succeeded' });
  expect(of('acting')).toEqual(['power_off', 'power_on', 'power_on', 'power_off']);

  expect(await stateOf(parked)).toMatchObject({
    state: 'parked',
    waiting_for: expect.stringContaining('cannot be known'),
  });
  await world.until(() =>
    world.runs
      .operate({ run: parked.run, act: 'skip', cursor: 0, reason: 'seen', asked: { ...order.asked } })
      .catch(() => undefined),
  );
  expect(await world.ended(parked.run)).toMatchObject({ state: 'succeeded' });
  expect(of('parked')).toEqual(['reset_bmc', 'power_on']);

  const release = await world.order(paused.node, 'unhold' as never);
  await world.runs.send({ node: release.node, kind: 'unhold', asked: release.asked });
  await world.reaches(paused.run, 'paused');
  expect(of('paused')).toEqual([]);
  await world.runs.operate({ run: paused.run, act: 'resume', cursor: 1, reason: 'on', asked: await asked(paused) });
  expect(await world.ended(paused.run)).toMatchObject({ state: 'succeeded' });

  await world.reaches(deployed.run, 'waiting');
  await callBack(world, deployed.node);
  expect(await world.ended(deployed.run)).toMatchObject({ state: 'succeeded', last_error: null });
  await world.reaches(joined.run, 'waiting');
  await callBack(world, joined.node);
  expect(await world.ended(joined.run)).toMatchObject({ state: 'succeeded', last_error: null });
  expect(of('joined')).toContain('erase_devices');

  // It goes on with what was sent, and is not booted again.
  expect(await world.ended(inspected.run)).toMatchObject({ state: 'succeeded' });
  expect(of('inspected')).toEqual(['power_off', 'power_on', 'power_off']);
  // Its ramdisk may have been refused before its boot was on record, and sends nothing again: the node is booted from its first act.
  await world.reaches(inspecting.run, 'waiting');
  expect(of('inspecting')).toEqual(['power_off', 'power_on', 'power_off', 'power_on']);
  await sendInventory(world, inspecting.node, found);
  expect(await world.ended(inspecting.run)).toMatchObject({ state: 'succeeded' });

  const restarts = await world.sql`select run_id from events where kind = 'run.restarted'`;
  expect(restarts.length).toBeGreaterThanOrEqual(8);
  ends.abort();
  await looking;
});
