/** While its ramdisk works a node rests in its wait state, in which a caller may abort or undeploy, as in the original. */
import type { ActContext } from '../../src/bmc/contract';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import type { ProvisionState } from '../../src/model/lifecycle/states';
import type { Verb } from '../../src/model/lifecycle/verbs';
import type { ActOutcome } from '../../src/model/runs/runs';
import { startEngineWorld, type World } from '../support/engine';
import { callBack, withRamdisk } from '../support/life-scenarios';
import { bmcWorker, step } from '../support/recording-driver';

let world: World;
const { withActs } = bmcWorker(() => world);
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

const nodeOf = async (uuid: NodeUuid) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;
const rests = (node: NodeUuid, state: ProvisionState) =>
  world.until(async () => ((await nodeOf(node)).provision_state === state ? true : undefined));

/** An act of the ramdisk that goes on until it is let go, or cut short. */
const slowAct = () => {
  let begin = () => {};
  let release = () => {};
  const begun = new Promise<void>((done) => {
    begin = done;
  });
  const released = new Promise<void>((done) => {
    release = done;
  });
  const act = (_node: unknown, _args: unknown, { signal }: ActContext): Promise<ActOutcome> =>
    new Promise((done, fail) => {
      begin();
      signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
      void released.then(() => done({ is: 'done' }));
    });
  return { act, begun, release };
};

const reports = async () => ({
  is: 'done' as const,
  reported: [
    { interface: 'deploy' as const, step: 'erase_devices_metadata', priority: 70, abortable: true },
    { interface: 'deploy' as const, step: 'burnin_cpu', priority: 0, abortable: true },
  ],
});

type Started = { readonly node: NodeUuid; readonly run: RunUuid; release(): void };

/** A run whose ramdisk has called back and works at an act. */
const working = async (verb: Verb, from: ProvisionState, act: 'agent_step' | 'agent_write_image'): Promise<Started> => {
  const slow = slowAct();
  await withActs({ agent_steps: reports, [act]: slow.act });
  const node = await world.node({ provision_state: from, automated_clean: null, ...withRamdisk });
  const steps = verb === 'service' ? [step('deploy.burnin_cpu')] : [];
  const { run } = await world.runs.start(await world.order(node, verb, steps));
  await world.reaches(run, 'waiting');
  await callBack(world, node);
  await slow.begun;
  return { node, run, release: slow.release };
};

test.each([
  ['active', 'available', 'agent_write_image', 'wait call-back', 'active'],
  ['provide', 'manageable', 'agent_step', 'clean wait', 'available'],
  ['service', 'active', 'agent_step', 'service wait', 'active'],
] as const)(
  '%s: the node shows its wait state while the ramdisk works, and goes on after it',
  async (verb, from, act, state, end) => {
    const { node, run, release } = await working(verb, from, act);
    expect((await nodeOf(node)).provision_state).toBe(state);
    expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'running', waiting_for: null });
    release();
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    await rests(node, end);
  },
);

test.each([
  ['active', 'available', 'agent_write_image', 'deploy failed'],
  ['provide', 'manageable', 'agent_step', 'clean failed'],
] as const)('%s: an abort in that state cuts the ramdisk short', async (verb, from, act, end) => {
  const { node, run } = await working(verb, from, act);
  const order = await world.order(node, 'abort');
  await world.runs.send({ node: order.node, kind: 'abort', asked: order.asked });
  expect(await world.ended(run)).toMatchObject({ state: 'aborted' });
  await rests(node, end);
});

test('an undeploy takes a node over while its image is written', async () => {
  const { node, run } = await working('active', 'available', 'agent_write_image');
  await world.sql`update nodes set automated_clean = false where uuid = ${node}`;
  const { run: after } = await world.runs.start(await world.order(node, 'deleted'));
  expect(await world.ended(after)).toMatchObject({ state: 'succeeded' });
  expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'aborted' });
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'available', reservation: null });
});
