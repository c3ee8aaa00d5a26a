/** The database is set back to a backup while runs go on: each goes on with what its workflow knows, and boots a ramdisk again that the database lost. */
import type { Act } from '../../src/bmc/contract';
import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { raise } from '../../src/model/errors';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import type { Verb } from '../../src/model/lifecycle/verbs';
import { restored } from '../../src/model/runs/recovery';
import { relayOnce } from '../../src/runs/relay';
import { startEngineWorld, type World } from '../support/engine';
import { keepTables } from '../support/kept-tables';
import { callBack, found, sendInventory, withRamdisk } from '../support/life-scenarios';
import { type ActsOver, recordingDriver, step } from '../support/recording-driver';

const quiet = { info() {}, warn() {} };
let world: World;
let stopControl: () => Promise<void>;
beforeAll(async () => {
  world = await startEngineWorld();
  stopControl = await world.control();
});
afterAll(() => world?.close());
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop().catch(() => {})));
  await world.inventory.recovery.leave();
});
/** Nodes in the order of their power-ons. */
const powered: NodeUuid[] = [];
const power_on: Act = async ({ uuid }) => {
  powered.push(uuid);
  return { is: 'done' };
};
const bmc = async (over: ActsOver) => {
  const { driver, calls } = recordingDriver({ power_on, ...over });
  const stop = await world.bmc({ 'fake-hardware': driver });
  stops.push(stop);
  return { calls, stop };
};
const heldBy =
  (one: { at: () => Promise<void> }): Act =>
  async () => {
    await one.at();
    return { is: 'done' };
  };

const erasing = ['erase_devices_metadata', 'erase_devices'].map((name, at) => ({
  interface: 'deploy',
  step: name,
  priority: 90 - at,
  abortable: false,
}));

/** What a ramdisk's acts are given: whether the store knows the ramdisk. */
const known: Act = async ({ agent, name }) =>
  agent ? { is: 'done' } : raise('AgentUnreachable', { node: name ?? 'n', agent: 'no address', reason: 'unknown' });

type Under = {
  readonly node: NodeUuid;
  readonly run: RunUuid;
  readonly calls: readonly string[];
  stop(): Promise<void>;
};

const byAgent: ActsOver = {
  agent_write_image: known,
  agent_install_bootloader: known,
  agent_power_off: known,
  agent_step: known,
  agent_steps: async (...given) => ({ ...(await known(...given)), reported: erasing }),
};

const begin = async (
  verb: Verb,
  from: string,
  over: ActsOver = {},
  steps = [] as ReturnType<typeof step>[],
): Promise<Under> => {
  const { calls, stop } = await bmc({ ...byAgent, ...over });
  const node = await world.node({ provision_state: from, ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, verb, steps));
  return { node, run, calls, stop };
};

const held = (): {
  readonly reached: Promise<void>;
  readonly release: () => void;
  readonly at: () => Promise<void>;
} => {
  let [release, arrive] = [() => {}, () => {}];
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const at = () => {
    arrive();
    return released;
  };
  return { reached, release, at };
};

const waiting = ({ run }: Under, times: number) =>
  world.until(async () => ((await world.waitsIn(run, times)) ? true : undefined));
const boots = ({ node }: Under): number => powered.filter((uuid) => uuid === node).length;
const control = () => createInventory(world.pools.control);

const heldBack = async () => {
  const owner = connect(world.database.ownerUrl, { max: 1 });
  await createInventory(owner).recovery.enter(restored('store'));
  await owner.end();
};

/** By the book: everything is held back, then `temper recover --yes`. @returns its lines for the run */
const recovered = async ({ run, node }: Under): Promise<string> => {
  await heldBack();
  const before = await world.runs.recover(false);
  const { lines } = await world.runs.recover(true);
  // Of this run alone: workflows of the tests before leave the engine's lists when it comes to that.
  const ofRun = (all: readonly string[]) => all.filter((line) => line.includes(run));
  expect(ofRun(lines)).toEqual(ofRun(before.lines));
  await relayOnce({ inventory: control(), client: world.client, log: quiet }, 0);
  return lines.filter((line) => line.includes(run) || line.includes(node)).join('\n');
};

const namesOf = async ({ run }: Under) =>
  (await world.inventory.runSteps.ofRun(run)).map(({ step: name, state }) => `${name} ${state}`);

test('a step that joined the plan since the backup is begun in a ramdisk that is booted again', async () => {
  const first = held();
  const one = await begin('provide', 'manageable', {
    agent_step: async (node, args, context) => {
      if (context.step!.step === 'erase_devices_metadata') await first.at();
      return known(node, args, context);
    },
  });
  await waiting(one, 1);
  const putBack = await keepTables(world.sql);
  await callBack(world, one.node);
  await first.reached;
  // No workflow goes on until the BMC worker has gone: the command of the second step never leaves before the restore.
  await stopControl();
  first.release();
  await world.until(async () => ((await namesOf(one)).includes('erase_devices_metadata done') ? true : undefined));
  await one.stop();
  await putBack();
  stopControl = await world.control();
  // No worker before the recovery has looked twice: one would begin the second step, be held back, and be seen at either.
  expect(await recovered(one)).toMatch(/its workflow goes on$/m);
  expect(await namesOf(one)).toEqual([
    'boot_ramdisk done',
    'list_steps done',
    'erase_devices_metadata done',
    'erase_devices pending',
    'remove_ramdisk pending',
  ]);
  const { calls } = await bmc(byAgent);
  await world.until(async () => (calls.includes('power_on') ? true : undefined));
  await world.until(async () => ((await world.inventory.runs.find(one.run))?.state === 'waiting' ? true : undefined));
  await callBack(world, one.node);
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded', last_error: null });
  expect(calls.filter((call) => call === 'agent_step')).toHaveLength(2); // without a ramdisk on record, and with one
});

test('a step of the ramdisk whose command may have left asks a person, by its name', async () => {
  const second = held();
  const one = await begin('provide', 'manageable', {
    agent_step: async (node, args, context) => {
      const begun = await known(node, args, context);
      if (context.step!.step !== 'erase_devices') return begun;
      await second.at();
      throw new Error('the worker was killed'); // its command has left
    },
  });
  await waiting(one, 1);
  const putBack = await keepTables(world.sql);
  await callBack(world, one.node);
  await second.reached;
  await putBack();
  expect(await recovered(one)).toContain('is not sent again');
  second.release();
  await world.reaches(one.run, 'parked');
  const steps = await world.inventory.runSteps.ofRun(one.run);
  expect(steps.find(({ state }) => state === 'parked')).toMatchObject({
    step: 'erase_devices',
    last_error: expect.stringContaining('cannot be known'),
  });
  const { asked } = await world.order(one.node, 'abort');
  await world.runs.operate({ run: one.run, act: 'skip', cursor: 3, reason: 'seen', asked });
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded' });
});

test.each([
  ['while it was being booted', 'power_off'],
  ['while it was waited for', undefined],
] as const)('a ramdisk that called back since a backup taken %s is booted again', async (_when, act) => {
  const before = held();
  const one = await begin('active', 'available', act && { [act]: heldBy(before) });
  if (act) await before.reached;
  else await waiting(one, 1);
  const putBack = await keepTables(world.sql);
  before.release();
  await waiting(one, 1);
  // It has looked its node up, and its first heartbeat is what the database is back for.
  await world.inventory.agents.meet(
    one.node,
    'of another token',
    world.vault.seal({ token: 'x' }, { holder: 'agent', holder_id: one.node, field: 'agent', groups: [''] })
      .secrets[0]!,
  );
  await putBack();
  expect(await recovered(one)).toContain('its ramdisk is booted again');
  await world.until(async () => (boots(one) === 2 ? true : undefined));
  await world.reaches(one.run, 'waiting');
  await callBack(world, one.node);
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded', last_error: null });
});

test('a ramdisk that the restored database knows is not booted again', async () => {
  const one = await begin('active', 'available');
  await waiting(one, 1);
  const token = world.vault.seal(
    { token: 'x' },
    { holder: 'agent', holder_id: one.node, field: 'agent', groups: [''] },
  );
  await world.inventory.agents.meet(one.node, 'of a token', token.secrets[0]!);
  const putBack = await keepTables(world.sql);
  await putBack();
  expect(await recovered(one)).not.toContain('booted again');
  await callBack(world, one.node);
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded' });
  expect(boots(one)).toBe(2); // the ramdisk, and the instance
});

test('a deployment that was sending its ramdisk away goes on in one that is booted again', async () => {
  const last = held();
  const one = await begin('active', 'available', {
    agent_power_off: async (...given) => {
      const done = await known(...given);
      if (boots(one) === 1) {
        await last.at();
        raise('AgentUnreachable', { node: 'n', agent: 'a', reason: 'the store was away' });
      }
      return done;
    },
  });
  await waiting(one, 1);
  const putBack = await keepTables(world.sql);
  await callBack(world, one.node);
  await last.reached;
  await putBack();
  expect(await recovered(one)).toContain('its workflow goes on');
  last.release();
  await world.until(async () => (boots(one) === 2 ? true : undefined));
  await world.until(async () => ((await world.inventory.runs.find(one.run))?.state === 'waiting' ? true : undefined));
  await callBack(world, one.node);
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded', last_error: null });
});

test('a run that has come to a hold since the backup is shown there, and can be released', async () => {
  const before = held();
  const steps = [step('power.power_off'), step('power.hold'), step('power.power_on')];
  const one = await begin('clean', 'manageable', { power_off: heldBy(before) }, steps);
  await before.reached;
  const putBack = await keepTables(world.sql);
  before.release();
  await world.reaches(one.run, 'waiting');
  await putBack();
  expect(await recovered(one)).toContain('its workflow goes on');
  expect(await world.inventory.runs.find(one.run)).toMatchObject({ state: 'waiting', waiting_for: 'unhold' });
  expect(await world.inventory.nodes.find({ uuid: one.node })).toMatchObject({ provision_state: 'clean hold' });
  const order = await world.order(one.node, 'unhold');
  await world.runs.send({ node: order.node, kind: 'unhold', asked: order.asked });
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded' });
});

test('the power of a concerned node is read from its BMC, and said where the record has another', async () => {
  let answers = true;
  const verify: Act = async () =>
    answers
      ? { is: 'done', seen: { power_state: 'power on' } }
      : raise('BmcAuthFailed', { node: 'n', bmc: 'b', what: 'the look' });
  const one = await begin('clean', 'manageable', { verify }, [step('power.hold')]);
  await world.reaches(one.run, 'waiting');
  const worker = { hostname: 'w', conductor_group: '', role: 'bmc' } as const;
  const said = async (recorded: string, drivers = ['fake-hardware']) => {
    await createInventory(world.pools.bmc).workers.beat({ ...worker, drivers });
    await world.sql`update nodes set power_state = ${recorded} where uuid = ${one.node}`;
    await heldBack();
    const { lines } = await world.runs.recover(false);
    return lines.filter((line) => line.startsWith(`node ${one.node}`));
  };
  expect(await said('power off')).toEqual([`node ${one.node}: its BMC says power on, the record says power off`]);
  expect(await said('power on')).toEqual([]);
  answers = false;
  expect(await said('power on')).toEqual([
    expect.stringContaining('could not be read from its BMC (the record says power on)'),
  ]);
  expect(await said('power off', [])).toEqual([expect.stringContaining('no worker of its group is there')]);
  // A comparison changes nothing, of the record neither.
  expect(await world.inventory.nodes.find({ uuid: one.node })).toMatchObject({ power_state: 'power off' });
});

test('an inspection under way is begun again from its record, for what it has found is lost', async () => {
  const away = held();
  const one = await begin('inspect', 'manageable', {
    power_off: async () => {
      if (one && boots(one) === 1) await away.at();
      return { is: 'done' };
    },
  });
  await waiting(one, 1);
  const putBack = await keepTables(world.sql);
  await sendInventory(world, one.node, found);
  await away.reached;
  await putBack();
  expect(await recovered(one)).toContain('what it has found');
  away.release();
  await world.until(async () => (boots(one) === 2 ? true : undefined));
  await world.until(async () => ((await world.waitsIn(one.run, 2)) ? true : undefined));
  await sendInventory(world, one.node, found);
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded' });
  expect((await world.inventory.nodes.find({ uuid: one.node }))?.properties).toMatchObject({ cpus: 8 });
});

test('the time for a ramdisk to call back does not run out during a recovery, when it cannot', async () => {
  const owner = connect(world.database.ownerUrl, { max: 1 });
  await bmc(byAgent);
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  const { run } = await world.runsWith({ agentTimeoutMs: 1_500 }).start(await world.order(node, 'active'));
  await world.until(async () => ((await world.waitsIn(run, 1)) ? true : undefined));
  await createInventory(owner).recovery.enter(restored('engine'));
  await owner.end();
  const row = await world.inventory.runs.find(run);
  // The workflow has asked once its time was over: its history is what shows that, whenever it does.
  const handle = world.client.workflow.getHandle(row!.workflow_id);
  await world.until(async () => {
    const { events } = await handle.fetchHistory();
    const marked = events?.flatMap(({ markerRecordedEventAttributes: marker }) =>
      Object.values(marker?.details ?? {}).flatMap(({ payloads }) => payloads ?? []),
    );
    const texts = marked?.map(({ data }) => Buffer.from(data ?? []).toString('utf8'));
    return texts?.some((text) => text.includes('"activity_type":"frozen"')) ? true : undefined;
  });
  expect(await world.inventory.runs.find(run)).toMatchObject({ finished_at: null });
  await world.inventory.recovery.leave();
  await world.runs.agentContact({ node, kind: 'unfreeze' });
  await callBack(world, node);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
});

test('a node is where its run is, though that wrote into the restored database before it was caught up with', async () => {
  const [first, away] = [held(), held()];
  let offs = 0;
  const one = await begin('deleted', 'active', {
    power_off: async () => {
      offs += 1;
      if (offs === 1) await first.at();
      return { is: 'done' };
    },
    set_boot_device: async (_node, _args, { attempt }) => {
      if (attempt === 1) {
        await away.at();
        raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'gone' });
      }
      return { is: 'done' };
    },
  });
  await first.reached;
  const putBack = await keepTables(world.sql);
  first.release();
  await away.reached;
  await putBack();
  await heldBack();
  const seq = async () => Number((await world.sql`select seq from runs where id = ${one.run}`)[0]!.seq);
  const before = await seq();
  away.release();
  // The next attempt is held back by the recovery, and the run says so.
  await world.until(async () => ((await seq()) > before ? true : undefined));
  await world.runs.recover(true);
  await relayOnce({ inventory: control(), client: world.client, log: quiet }, 0);
  await waiting(one, 1);
  expect(await world.inventory.nodes.find({ uuid: one.node })).toMatchObject({ provision_state: 'clean wait' });
  await callBack(world, one.node);
  expect(await world.ended(one.run)).toMatchObject({ state: 'succeeded' });
});
