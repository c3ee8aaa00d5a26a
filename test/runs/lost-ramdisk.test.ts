/** A host that goes down in the middle of an act of its ramdisk: looked for through its BMC, and not waited for until the act's limit. */
import type { Act } from '../../src/bmc/contract';
import { raise } from '../../src/model/errors';
import { startEngineWorld, type World } from '../support/engine';
import { callBack, withRamdisk } from '../support/life-scenarios';
import { type ActsOver, recordingDriver } from '../support/recording-driver';

let world: World;
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

const unreachable = async () => raise('AgentUnreachable', { node: 'n', agent: 'a', reason: 'no route to host' });
const silenceMs = 500;
/** In the middle of their acts these ramdisks have been silent for longer than they may. */
const quiet = { agentSilenceMs: silenceMs };

const begun = async (over: ActsOver, verb: 'active' | 'rescue' = 'active', args = {}) => {
  const { driver, calls } = recordingDriver(over);
  const stop = await world.bmc({ 'fake-hardware': driver });
  const from = verb === 'active' ? 'available' : 'active';
  const node = await world.node({ provision_state: from, ...withRamdisk });
  const { run } = await world.runsWith(quiet).start(await world.order(node, verb, [], args));
  await world.until(async () => ((await world.waitsIn(run, 1)) ? true : undefined));
  await callBack(world, node);
  await world.sql`update agents set last_heartbeat_at = now() - interval '1 hour' where node_uuid = ${node}`;
  return { node, run, calls, stop };
};

test('a host that is off while its image is written is started over once, and then the run says why it failed', async () => {
  const seen = async () => ({ is: 'done' as const, seen: { power_state: 'power off' as const } });
  const { node, run, calls, stop } = await begun({ agent_write_image: unreachable, verify: seen });
  await world.until(async () => ((await world.waitsIn(run, 2)) ? true : undefined));
  await callBack(world, node);
  await world.sql`update agents set last_heartbeat_at = now() - interval '1 hour' where node_uuid = ${node}`;
  const ended = await world.ended(run);
  await stop();
  expect(ended.state).toBe('failed');
  expect(ended.last_error).toMatch(
    /The ramdisk of node \S+ disappeared during deploy\.write_image: .* for \d+(\.\d+)? min, and the BMC shows that the node is powered off/,
  );
  expect(calls.filter((call) => call === 'power_on')).toHaveLength(2);
});

test.each(['agent_steps', 'agent_write_image', 'agent_install_bootloader', 'agent_power_off'] as const)(
  'a ramdisk that was lost in %s is booted again, and the act is done in the next one',
  async (act) => {
    const anew = { power_state: 'power on', boot_progress: 'MemoryInitializationStarted' } as const;
    const seen = async () => ({ is: 'done' as const, seen: anew });
    let lost = true;
    const writes = async () => (lost ? unreachable() : { is: 'done' as const });
    const { node, run, stop } = await begun({ [act]: writes, verify: seen });
    await world.until(async () => ((await world.waitsIn(run, 2)) ? true : undefined));
    lost = false;
    await callBack(world, node);
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    await stop();
  },
);

test('a ramdisk that is to shut its node down, and does not answer, has done so where the node is off', async () => {
  const seen = async () => ({ is: 'done' as const, seen: { power_state: 'power off' as const } });
  const { driver, calls } = recordingDriver({ agent_power_off: unreachable, verify: seen });
  const stop = await world.bmc({ 'fake-hardware': driver });
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  // With the usual time to be silent in: it is not waited for.
  const { run } = await world.runs.start(await world.order(node, 'active'));
  await world.until(async () => ((await world.waitsIn(run, 1)) ? true : undefined));
  await callBack(world, node);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  await stop();
  expect(calls.filter((call) => call === 'power_on')).toHaveLength(2); // the ramdisk, and the instance
});

test.each([
  ['is restarting', { power_state: 'power on', boot_progress: 'MemoryInitializationStarted' }],
  ['is powered on, and nothing else', { power_state: 'power on', boot_progress: 'OSRunning' }],
] as const)('a rescue whose host %s ends in failure, with that reason', async (says, found) => {
  const seen = async () => ({ is: 'done' as const, seen: found });
  const over = { agent_finalize_rescue: unreachable, verify: seen };
  const { node, run, stop } = await begun(over, 'rescue', { rescue_password: 'x' });
  await world.until(async () => ((await world.waitsIn(run, 2)) ? true : undefined));
  await callBack(world, node);
  await world.sql`update agents set last_heartbeat_at = now() - interval '1 hour' where node_uuid = ${node}`;
  const ended = await world.ended(run);
  await stop();
  expect(ended).toMatchObject({ state: 'failed' });
  expect(ended.last_error).toContain(says);
});

test.each([
  ['agent_write_image', 'active'],
  ['agent_power_off', 'active'],
  ['agent_finalize_rescue', 'rescue'],
] as const)('an abort frees a run whose ramdisk is silent in %s', async (act, verb) => {
  const { run, node, stop } = await begun(
    { [act]: unreachable },
    verb,
    verb === 'rescue' ? { rescue_password: 'x' } : {},
  );
  await world.until(async () => {
    const [step] = await world.sql`select 1 from run_steps where run_id = ${run} and act = ${act} and attempts > 1`;
    return step && true;
  });
  const order = await world.order(node, 'abort');
  await world.runs.send({ node: order.node, kind: 'abort', asked: order.asked });
  expect(await world.ended(run)).toMatchObject({ state: 'aborted' });
  await stop();
});

describe('a ramdisk whose address shows another certificate in the image write', () => {
  const another = { node: 'n', agent: 'a', reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' };

  /** A deployment whose worker sees that so many times; `brought` says whether its boot image had the token. */
  const replaced = async (brought: boolean, times: number) => {
    let left = times;
    const writes: Act = async (node) => {
      left -= 1;
      if (left < 0) return { is: 'done' };
      if (brought) await world.sql`update ramdisk_boots set inspection_hash = 'a proof' where node_uuid = ${node.uuid}`;
      return raise('AgentTlsFailed', another);
    };
    const { driver, calls } = recordingDriver({ agent_write_image: writes });
    const stop = await world.bmc({ 'fake-hardware': driver });
    const node = await world.node({ provision_state: 'available', ...withRamdisk });
    const { run } = await world.runs.start(await world.order(node, 'active'));
    await world.until(async () => ((await world.waitsIn(run, 1)) ? true : undefined));
    await callBack(world, node, 'a certificate');
    return { node, run, calls, stop };
  };
  const boots = (calls: readonly string[]) => calls.filter((call) => call === 'power_on').length;

  test('is booted again where its image had its token, once', async () => {
    const { node, run, calls, stop } = await replaced(true, 1);
    await world.until(async () => ((await world.waitsIn(run, 2)) ? true : undefined));
    expect(boots(calls)).toBe(2);
    expect(await world.sql`select 1 from agents where node_uuid = ${node}`).toEqual([]); // what it was trusted for is gone
    await callBack(world, node, 'another certificate');
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    await stop();
    expect(calls.filter((call) => call === 'agent_write_image')).toHaveLength(2);
  });

  test('ends the run at the second boot that is replaced', async () => {
    const { node, run, calls, stop } = await replaced(true, Number.POSITIVE_INFINITY);
    await world.until(async () => ((await world.waitsIn(run, 2)) ? true : undefined));
    await callBack(world, node, 'another certificate');
    const { state, last_error } = await world.ended(run);
    await stop();
    expect([state, last_error]).toEqual(['failed', expect.stringMatching(/certificate/)]);
    expect(boots(calls)).toBe(2);
  });

  test('ends the run where a lookup hands out tokens: an impostor at that address could be first at the next boot', async () => {
    const { run, calls, stop } = await replaced(false, 1);
    const { state, last_error } = await world.ended(run);
    await stop();
    expect([state, last_error]).toEqual([
      'failed',
      expect.stringContaining('did not present the certificate that it announced'),
    ]);
    expect(boots(calls)).toBe(1);
  });
});
