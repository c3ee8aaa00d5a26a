/** What the stories of a node's life promise beyond how they end: the order of things, what is kept, what is forgotten. */
import { createInventory } from '../../src/inventory';
import { raise } from '../../src/model/errors';
import type { NodeUuid } from '../../src/model/ids';
import { powerSteps } from '../../src/model/lifecycle/steps';
import type { ActOutcome } from '../../src/model/runs/runs';
import type { RunOrder } from '../../src/runs';
import { reconcileOnce } from '../../src/runs/reconcile';
import { retryStep, setPaused } from '../../src/workflows/contract';
import { startEngineWorld, type World } from '../support/engine';
import { callBack, found, sendInventory, withRamdisk } from '../support/life-scenarios';
import { bmcWorker, step } from '../support/recording-driver';

let world: World;
const { withActs } = bmcWorker(() => world);
const nodeOf = async (uuid: string) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;
const statesOf = async (uuid: string): Promise<string[]> =>
  (
    await world.sql`select data->>'to' as at from events where node_uuid = ${uuid} and kind in ('node.moved', 'run.succeeded') order by seq`
  ).map((row) => row.at as string);

beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

const reporting =
  (...names: [string, number][]) =>
  async (): Promise<ActOutcome> => ({
    is: 'done',
    reported: names.map(([name, priority]) => ({ interface: 'deploy', step: name, priority })),
  });

test('a deployment boots the ramdisk, waits for it, writes the image and starts the node from its disk', async () => {
  const calls = await withActs({ agent_steps: reporting(['erase_devices_metadata', 70]) });
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'active'));
  await world.reaches(run, 'waiting');
  expect(await nodeOf(node)).toMatchObject({
    provision_state: 'wait call-back',
    target_provision_state: 'active',
    deploy_step: { interface: 'deploy', step: 'deploy' },
  });
  await callBack(world, node);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  expect(calls).toEqual([
    'power_off',
    'set_boot_device',
    'power_on',
    'agent_steps',
    'agent_write_image',
    'agent_step',
    'agent_install_bootloader',
    'agent_power_off',
    'power_off',
    'set_boot_device',
    'power_on',
  ]);
  // For its ramdisk, then while the ramdisk writes the image and cleans the disk.
  const waits = ['wait call-back', 'deploying'];
  expect(await statesOf(node)).toEqual([...waits, ...waits, ...waits, 'active']);
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'active', deploy_step: null, reservation: null });
  expect(await world.inventory.agents.find(node)).toBeUndefined(); // it went with the power
});

test('a ramdisk that is quicker than the run, once its power-on has ended, is not waited for', async () => {
  await withActs({ agent_steps: reporting() });
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'active'));
  await world.until(async () => (await world.sql`select 1 from ramdisk_boots where node_uuid = ${node}`)[0]);
  await callBack(world, node);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
});

test('a lost message of the ramdisk is made good by a look', async () => {
  await withActs({ agent_steps: reporting() });
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'active'));
  await world.reaches(run, 'waiting');
  const told = world.runs.agentContact;
  Object.assign(world.runs, { agentContact: async () => {} });
  await callBack(world, node);
  Object.assign(world.runs, { agentContact: told });
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
});

test('a tear-down forgets the instance and the lessee that came with it, and nothing else', async () => {
  await withActs();
  const node = await world.node({
    provision_state: 'available',
    automated_clean: false,
    owner: 'p-owner',
    traits: ['CUSTOM_A'],
    instance_info: world.sql.json({ project_id: 'p-tenant', image_source: 'http://images.example.org/a' }),
    extra: world.sql.json({ rack: 7 }),
  });
  const order: RunOrder = { ...(await world.order(node, 'active')), lessee: 'p-tenant' };
  await world.ended((await world.runs.start(order)).run);
  expect(await nodeOf(node)).toMatchObject({ lessee: 'p-tenant', provision_state: 'active' });
  await world.ended((await world.runs.start(await world.order(node, 'deleted'))).run);
  expect(await nodeOf(node)).toMatchObject({
    provision_state: 'available',
    lessee: null,
    instance_info: {},
    owner: 'p-owner',
    traits: ['CUSTOM_A'],
    extra: { rack: 7 },
    driver_internal_info: {},
  });
});

test('the configuration drive of a deployment is sealed, and gone after the tear-down', async () => {
  await withActs();
  const node = await world.node({
    provision_state: 'available',
    automated_clean: false,
    driver_info: { fake_password: 'stays' },
  });
  const stored = async () => (await world.sql`select 1 from secrets where holder_id = ${node}`).length;
  const order = await world.order(node, 'active');
  await world.ended((await world.runs.start({ ...order, instance_info: { configdrive: 'H4sIA-geheim' } })).run);
  expect(JSON.stringify(await nodeOf(node))).not.toContain('geheim');
  expect(await stored()).toBe(2);
  await world.ended((await world.runs.start(await world.order(node, 'deleted'))).run);
  expect(await stored()).toBe(1);
});

test('a lessee that an operator gave stays through deployment and tear-down', async () => {
  await withActs();
  const node = await world.node({ provision_state: 'available', automated_clean: false, lessee: 'p-given' });
  await world.ended((await world.runs.start({ ...(await world.order(node, 'active')), lessee: 'p-tenant' })).run);
  await world.ended((await world.runs.start(await world.order(node, 'deleted'))).run);
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'available', lessee: 'p-given' });
});

test('an inspection by the ramdisk fills properties and ports, and leaves the node off', async () => {
  const calls = await withActs();
  const node = await world.node({ ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'inspect'));
  await world.reaches(run, 'waiting');
  await sendInventory(world, node, found);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  expect(await nodeOf(node)).toMatchObject({
    provision_state: 'manageable',
    properties: { cpu_arch: 'x86_64', memory_mb: 32_768, local_gb: 479, cpus: 8 },
    inspection_started_at: expect.any(Date),
    inspection_finished_at: expect.any(Date),
  });
  expect(await world.sql`select address from ports where node_uuid = ${node}`).toEqual([
    { address: '52:54:00:aa:bb:cc' },
  ]);
  expect(calls.at(-1)).toBe('power_off');
});

test('an error that the ramdisk met while inspecting fails the inspection in its words, and nothing it found is taken', async () => {
  await withActs();
  const node = await world.node({ ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'inspect'));
  await world.reaches(run, 'waiting');
  const error = 'no disks found\nwith https://collector:hunter2@example.org/logs';
  await sendInventory(world, node, found, { error, configuration: { collectors: ['default'] } });
  const failed = {
    state: 'failed',
    last_error: expect.stringMatching(
      /management\.inspect was refused: the ramdisk reports: no disks found with https/,
    ),
  };
  expect(await world.ended(run)).toMatchObject(failed);
  const left = await nodeOf(node);
  expect(left).toMatchObject({ provision_state: 'inspect failed', properties: {} });
  expect(left.last_error).not.toContain('hunter2');
  expect(await world.sql`select 1 from ports where node_uuid = ${node}`).toHaveLength(0);
});

test.each([null, ''])('an inspection whose ramdisk sends the error %j has none', async (error) => {
  await withActs();
  const node = await world.node({ ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'inspect'));
  await world.reaches(run, 'waiting');
  await sendInventory(world, node, found, { error });
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
});

test('what the ramdisk does not send in time fails the run, which takes the ramdisk off the node', async () => {
  const calls = await withActs();
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  const { run } = await world
    .runsWith({ agentTimeoutMs: 200, agentPollMs: 50 })
    .start(await world.order(node, 'active'));
  expect(await world.ended(run)).toMatchObject({
    state: 'failed',
    last_error: expect.stringContaining('did not call back in time'),
  });
  expect(calls).toEqual(['power_off', 'set_boot_device', 'power_on', 'power_off']);
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'deploy failed', maintenance: false, fault: null });
});

test('a delete in the wait state fences the deployment off, waits for its end, and only then acts', async () => {
  const calls = await withActs();
  const node = await world.node({ provision_state: 'available', automated_clean: false, ...withRamdisk });
  const first = await world.runs.start(await world.order(node, 'active'));
  await world.reaches(first.run, 'waiting');
  const before = calls.length;
  const second = await world.runs.start(await world.order(node, 'deleted'));
  expect(await world.ended(first.run)).toMatchObject({
    state: 'aborted',
    last_error: expect.stringContaining('deleted took the node over'),
  });
  expect(await world.ended(second.run)).toMatchObject({ state: 'succeeded' });
  expect(calls.slice(before)).toEqual(['power_off']);
  const { workflow_id } = (await world.inventory.runs.find(first.run))!;
  expect((await world.client.workflow.getHandle(workflow_id).describe()).status.name).not.toBe('RUNNING');
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'available', reservation: null });
});

test('a run that lets time pass lets the next one work, and goes on after it', async () => {
  const order: string[] = [];
  await withActs({
    power_off: async (node) => {
      order.push(`${node.name!.slice(0, 6)} off`);
      return { is: 'done' };
    },
    power_on: async (node) => {
      order.push(`${node.name!.slice(0, 6)} on`);
      return { is: 'done' };
    },
  });
  const limit = { class: 'clean' as const, max: 1 };
  const runs = world.runsWith({ longWaitMs: 1_000 });
  const clean = async (name: string, steps: Parameters<typeof world.order>[2]) => {
    const node = await world.node({ name: `${name}-${world.prefix}` });
    return runs.start({ ...(await world.order(node, 'clean', steps)), limit });
  };
  const waits = { interface: 'power', step: 'wait', args: { seconds: 15 } } as const;
  const first = await clean('turn-0', [step('power.power_off'), waits, step('power.power_on')]);
  await world.until(async () => order.length > 0 || undefined);
  const second = await clean('turn-1', [step('power.power_off'), step('power.power_on')]);
  for (const { run } of [first, second]) expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  expect(order).toEqual(['turn-0 off', 'turn-1 off', 'turn-1 on', 'turn-0 on']);
});

test('runs beyond a limit wait their turn and go in the order of their acceptance', async () => {
  const order: string[] = [];
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  await withActs({
    power_off: async (node) => {
      order.push(node.name!);
      if (node.name!.startsWith('limit-0')) await gate;
      return { is: 'done' };
    },
  });
  const limit = { class: 'clean' as const, max: 1 };
  const runs: Awaited<ReturnType<World['runs']['start']>>[] = [];
  for (const name of ['limit-0', 'limit-1', 'limit-2']) {
    const node = await world.node({ name: `${name}-${world.prefix}` });
    runs.push(await world.runs.start({ ...(await world.order(node, 'clean', [step('power.power_off')])), limit }));
  }
  await world.until(async () => order.length > 0 || undefined);
  for (const { run } of runs.slice(1)) {
    await world.reaches(run, 'waiting');
    expect((await world.inventory.runs.find(run))?.waiting_for).toMatch(
      /its turn: at most 1 runs of this kind \(clean\)/,
    );
  }
  expect(order).toHaveLength(1);
  release();
  for (const { run } of runs) expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  expect(order.map((name) => name.slice(0, 7))).toEqual(['limit-0', 'limit-1', 'limit-2']);
});

test('a freeze lets reads go on and holds back every command, and a run goes on when it ends', async () => {
  const calls = await withActs();
  const node = await world.node({ provision_state: 'enroll' });
  const asked = (await world.order(node, 'manage')).asked;
  const freeze = await world.inventory.freezes.create({
    node_uuid: node,
    reason: 'cables',
    requester: asked.requester,
    until: null,
  });
  await world.ended((await world.runs.start(await world.order(node, 'manage'))).run);
  expect(calls).toEqual(['verify']);
  const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.power_off')]));
  await world.reaches(run, 'waiting');
  expect((await world.inventory.runs.find(run))?.waiting_for).toMatch(
    /frozen by tester until an operator ends it: cables/,
  );
  const waitsOn = async () =>
    (await world.sql<{ waits_on: string | null }[]>`select waits_on from runs where id = ${run}`)[0];
  expect(await waitsOn()).toEqual({ waits_on: 'freeze' });
  expect(calls).toEqual(['verify']);
  await world.inventory.freezes.end(freeze.id, asked.requester);
  await world.runs.agentContact({ node, kind: 'unfreeze' });
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  expect(await waitsOn()).toEqual({ waits_on: null });
  expect(calls).toEqual(['verify', 'power_off']);
});

test('steps on a child run under its own fence, and both nodes are free afterwards', async () => {
  const seen: string[] = [];
  await withActs({
    power_off: async (node) => {
      seen.push(node.name!);
      return { is: 'done', seen: { power_state: 'power off' } };
    },
  });
  const parent = await world.node({ name: `parent-${world.prefix}` });
  const child = await world.node({ name: `child-${world.prefix}`, parent_node: parent });
  const [power] = powerSteps('power off');
  const base = await world.order(parent, 'clean', [step('power.power_off')]);
  const on = { node_uuid: child, name: `child-${world.prefix}`, conductor_group: '' };
  const steps = [
    { ...power!, on },
    { ...base.steps[0]!, index: 1 },
  ];
  const { run } = await world.runs.start({ ...base, steps });
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  expect(seen).toEqual([`child-${world.prefix}`, `parent-${world.prefix}`]);
  for (const uuid of [parent, child])
    expect(await nodeOf(uuid)).toMatchObject({ reservation: null, power_state: 'power off' });
});

test('a run that needs a child which is held is refused, and holds neither', async () => {
  await withActs();
  const parent = await world.node();
  const child = await world.node({ name: `busy-${world.prefix}` });
  const holder = await world.runs.start(await world.order(child, 'clean', [step('power.hold')]));
  const [power] = powerSteps('power off');
  const base = await world.order(parent, 'clean', [step('power.power_off')]);
  const on = { node_uuid: child, name: `busy-${world.prefix}`, conductor_group: '' };
  await expect(world.runs.start({ ...base, steps: [{ ...power!, on }] })).rejects.toMatchObject({
    code: 'NodeLocked',
    message: expect.stringContaining(`busy-${world.prefix}`),
  });
  expect(await nodeOf(parent)).toMatchObject({ reservation: null, provision_state: 'manageable' });
  await world.reaches(holder.run, 'waiting');
  const abort = await world.order(child, 'abort');
  await world.runs.send({ node: abort.node, kind: 'abort', asked: abort.asked });
  await world.ended(holder.run);
});

test('what is done by the engine’s own tools is recorded without a person', async () => {
  await withActs({ power_off: async () => Promise.reject(Object.assign(new Error('x'), { name: 'Error' })) });
  const node = await world.node({ provision_state: 'active' });
  const parks = [{ ...step('power.power_off'), temper: { on_failure: 'park' as const, retry: { attempts: 1 } } }];
  const { run } = await world.runs.start(await world.order(node, 'service', parks));
  await world.reaches(run, 'parked');
  await withActs();
  const { workflow_id } = (await world.inventory.runs.find(run))!;
  await world.client.workflow
    .getHandle(workflow_id)
    .executeUpdate(retryStep, { args: [{ cursor: 0, by: 'whoever', reason: 'cable was loose' }] });
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  const [row] =
    await world.sql`select requester, action, rule, data from audit where run_id = ${run} and action = 'run.retry'`;
  expect(row).toMatchObject({
    requester: { strategy: 'temporal-ui', user_id: null, user_name: null },
    rule: null,
    data: { via: 'temporal-ui', by_claim: 'whoever', reason: 'cable was loose' },
  });
});

test('a run whose history grows long goes on in a new execution at the step it was in', async () => {
  const calls = await withActs();
  const node = await world.node();
  const steps = Array.from({ length: 12 }, (_, at) => step(at % 2 ? 'power.power_on' : 'power.power_off'));
  const { run } = await world.runsWith({ historyLength: 40 }).start(await world.order(node, 'clean', steps));
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded', cursor: 12 });
  expect(calls).toHaveLength(12);
  const { workflow_id, workflow_run_id } = (await world.inventory.runs.find(run))!;
  const handle = world.client.workflow.getHandle(workflow_id);
  await handle.result();
  const last = await handle.describe();
  expect(last.runId).toBe(workflow_run_id);
  // The engine's lists come after the fact.
  await world.until(async () => {
    for await (const one of world.client.workflow.list({ query: `WorkflowId = '${workflow_id}'` }))
      if (one.status.name === 'CONTINUED_AS_NEW') return true;
    return undefined;
  });
});

test('a pause that was asked for before the cut lasts beyond it', async () => {
  let reached: () => void = () => {};
  const begun = new Promise<void>((resolve) => {
    reached = resolve;
  });
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const calls = await withActs({
    power_off: async () => {
      reached();
      await gate;
      return { is: 'done' };
    },
  });
  const node = await world.node({ provision_state: 'active' });
  const order = await world.order(node, 'service', [step('power.power_off'), step('power.power_on')]);
  const { run } = await world.runsWith({ historyLength: 1 }).start(order);
  await begun;
  const pause = async (paused: boolean) => {
    const { workflow_id } = (await world.inventory.runs.find(run))!;
    await world.client.workflow
      .getHandle(workflow_id)
      .executeUpdate(setPaused, { args: [{ paused, by: 'x', via: 'api' }] });
  };
  await pause(true);
  release();
  await world.reaches(run, 'paused');
  expect(calls).toEqual(['power_off']);
  await pause(false);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  expect(calls).toEqual(['power_off', 'power_on']);
});

test('an abort before anything was touched touches nothing', async () => {
  const calls = await withActs();
  const limit = { class: 'deploy' as const, max: 1 };
  const first = await world.node({ provision_state: 'available', ...withRamdisk });
  const holder = await world.runs.start({ ...(await world.order(first, 'active')), limit });
  await world.reaches(holder.run, 'waiting');
  const before = calls.length;
  const node = await world.node({ provision_state: 'active', ...withRamdisk });
  const { run } = await world.runs.start({ ...(await world.order(node, 'rebuild')), limit });
  await world.until(async () =>
    (await world.inventory.runs.find(run))?.waiting_for?.includes('its turn') ? true : undefined,
  );
  const { asked } = await world.order(node, 'abort');
  await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'changed my mind', asked });
  expect(await world.ended(run)).toMatchObject({ state: 'aborted' });
  expect(calls.slice(before)).toEqual([]);
  const abort = await world.order(first, 'abort');
  await world.runs.send({ node: abort.node, kind: 'abort', asked: abort.asked });
  await world.ended(holder.run);
});

test('an act that must not happen twice and did not end in time parks, whatever the step says of failures', async () => {
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const calls = await withActs({
    update_firmware: async (_node, _args, context) => {
      await Promise.race([gate, new Promise((resolve) => context.signal.addEventListener('abort', resolve))]);
      return { is: 'done' };
    },
  });
  const node = await world.node();
  const flash = {
    ...step('firmware.update', { settings: [{ component: 'bios', url: 'http://images.example.org/b.bin' }] }),
    temper: { timeout: 5, on_failure: 'continue' as const }, // long enough for a busy worker to begin it
  };
  const { run } = await world.runs.start(await world.order(node, 'clean', [flash, step('power.power_off')]));
  await world.reaches(run, 'parked');
  expect(calls).toEqual(['update_firmware']);
  release();
  const { asked } = await world.order(node, 'abort');
  await world.runs.operate({ run, act: 'fail', cursor: 0, reason: 'looked', asked });
  expect(await world.ended(run)).toMatchObject({ state: 'failed' });
});

test('an aborted service whose ramdisk cannot be taken off the node stays failed and says why', async () => {
  let refuse = false;
  await withActs({
    power_off: async () =>
      refuse
        ? raise('BmcRejected', { node: 'n', bmc: 'b', what: 'power off', status: 400, reason: 'no' })
        : { is: 'done' },
  });
  const node = await world.node({ provision_state: 'active', ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'service', [step('deploy.burnin_cpu')]));
  await world.reaches(run, 'waiting');
  refuse = true;
  const abort = await world.order(node, 'abort');
  await world.runs.send({ node: abort.node, kind: 'abort', asked: abort.asked });
  expect(await world.ended(run)).toMatchObject({
    state: 'aborted',
    last_error: expect.stringContaining('could not be tidied'),
  });
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'service failed', reservation: null });
});

test('a queued takeover ends the run before it at once, even if it is aborted itself', async () => {
  await withActs();
  const limit = { class: 'clean' as const, max: 1 };
  const busy = await world.node();
  const holder = await world.runs.start({
    ...(await world.order(busy, 'clean', [step('power.wait', { seconds: 3600 })])),
    limit,
  });
  await world.reaches(holder.run, 'waiting');
  const node = await world.node({ provision_state: 'available', automated_clean: false, ...withRamdisk });
  const first = await world.runs.start(await world.order(node, 'active'));
  await world.reaches(first.run, 'waiting');
  const second = await world.runs.start({ ...(await world.order(node, 'deleted')), limit });
  const { workflow_id } = (await world.inventory.runs.find(first.run))!;
  await world.until(async () =>
    (await world.client.workflow.getHandle(workflow_id).describe()).status.name === 'RUNNING' ? undefined : true,
  );
  const { asked } = await world.order(node, 'abort');
  await world.runs.operate({ run: second.run, act: 'abort', cursor: 0, reason: 'no', asked });
  await world.ended(second.run);
  const abort = await world.order(busy, 'abort');
  await world.runs.send({ node: abort.node, kind: 'abort', asked: abort.asked });
  await world.ended(holder.run);
});

test('a run that the engine has lost in a hold is held again, and ends by request', async () => {
  await withActs();
  const lost = await world.node();
  const inHold = await world.runs.start(await world.order(lost, 'clean', [step('power.hold')]));
  await world.reaches(inHold.run, 'waiting');
  const { workflow_id } = (await world.inventory.runs.find(inHold.run))!;
  await world.client.workflow.getHandle(workflow_id).terminate('gone');
  await world.sql`update runs set workflow_id = 'never-was' where id = ${inHold.run}`;
  const log = { info() {}, warn() {} };
  const deps = { inventory: createInventory(world.pools.control), client: world.client, log };
  await reconcileOnce(deps, { olderThanMs: 0 }); // what is lost is found,
  await reconcileOnce(deps, { olderThanMs: 0 }); // and starts its workflow again
  await world.until(async () => ((await nodeOf(lost)).fence > 1 ? true : undefined));
  const abort = await world.order(lost, 'abort');
  await world.runs.send({ node: abort.node, kind: 'abort', asked: abort.asked });
  expect(await world.ended(inHold.run)).toMatchObject({ state: 'aborted' });
  expect(await nodeOf(lost)).toMatchObject({ provision_state: 'clean failed', reservation: null });
});

const withMedia = {
  ...withRamdisk,
  boot_interface: 'redfish-virtual-media',
  driver_info: { deploy_iso: 'https://images.example.org/ramdisk.iso' },
};

test('an undeploy that fails takes the disc out of the drive, whether or not the ramdisk was started', async () => {
  const calls = await withActs({
    power_off: async () => raise('BmcRejected', { node: 'n', bmc: 'b', what: 'power off', status: 400, reason: 'no' }),
  });
  const early = await world.node({ provision_state: 'active', ...withMedia });
  const first = await world.runs.start(await world.order(early, 'deleted'));
  expect(await world.ended(first.run)).toMatchObject({ state: 'failed' });
  expect(calls.filter((call) => call !== 'power_off')).toEqual(['eject_media']);

  const later = await withActs({
    agent_steps: async () => raise('AgentRejected', { node: 'n', what: 'get_steps', reason: 'no', url: 'u' }),
  });
  const late = await world.node({ provision_state: 'active', ...withMedia });
  const second = await world.runs.start(await world.order(late, 'deleted'));
  await world.reaches(second.run, 'waiting');
  await callBack(world, late);
  expect(await world.ended(second.run)).toMatchObject({ state: 'failed' });
  expect(later.lastIndexOf('eject_media')).toBeGreaterThan(later.indexOf('agent_steps'));
});

describe('a second ramdisk that speaks for the node', () => {
  const outcome = {
    state: 'failed',
    last_error: expect.stringContaining('Two ramdisks answered for node'),
  };
  const kept = { maintenance: true, fault: 'ramdisk conflict', maintenance_reason: 'two' };
  /** As the API does when it asks from another address. */
  const second = async (node: NodeUuid): Promise<void> => {
    expect(await world.inventory.ramdiskBoots.claim(node, '192.0.2.5')).toBe('192.0.2.5');
    expect(await world.inventory.ramdiskBoots.contest(node, '192.0.2.66', 'two')).toBe(true);
    await world.runs.agentContact({ node, kind: 'heartbeat' });
  };

  test('while the run waits: the run fails with that reason, nothing is sent to either, the node goes to maintenance', async () => {
    const calls = await withActs({ agent_steps: reporting() });
    const node = await world.node({ provision_state: 'available', ...withRamdisk });
    const { run } = await world.runs.start(await world.order(node, 'active'));
    await world.reaches(run, 'waiting');
    await second(node);
    expect(await world.ended(run)).toMatchObject(outcome);
    expect(calls.filter((act) => act.startsWith('agent_'))).toEqual([]);
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'deploy failed', ...kept });
  });

  test('while it writes the image: the act is cut short', async () => {
    let node: NodeUuid | undefined;
    let cut = false;
    await withActs({
      agent_steps: reporting(),
      agent_write_image: async (_node, _args, { signal }) => {
        await second(node!);
        await new Promise<void>((done) => signal.addEventListener('abort', () => done()));
        cut = true;
        throw signal.reason;
      },
    });
    node = await world.node({ provision_state: 'available', ...withRamdisk });
    const { run } = await world.runs.start(await world.order(node, 'active'));
    await world.reaches(run, 'waiting');
    await callBack(world, node);
    expect(await world.ended(run)).toMatchObject(outcome);
    expect(cut).toBe(true);
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'deploy failed', ...kept });
  });

  test('after its last word: what it said does not count, and the node does not become available', async () => {
    let node: NodeUuid | undefined;
    let erased = false;
    const calls = await withActs({
      agent_steps: reporting(['erase_devices', 10]),
      agent_step: async () => {
        erased = true;
        return { is: 'done' };
      },
      power_off: async () => {
        if (erased) await second(node!);
        return { is: 'done' };
      },
    });
    node = await world.node({ provision_state: 'manageable', ...withRamdisk });
    const { run } = await world.runs.start(await world.order(node, 'provide'));
    await world.reaches(run, 'waiting');
    await callBack(world, node);
    expect(await world.ended(run)).toMatchObject(outcome);
    expect(calls.at(-1)).toBe('power_off');
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'clean failed', ...kept });
  });

  test('the next run that boots the node begins anew', async () => {
    await withActs({ agent_steps: reporting() });
    const node = await world.node({ provision_state: 'available', ...withRamdisk });
    const first = await world.runs.start(await world.order(node, 'active'));
    await world.reaches(first.run, 'waiting');
    await second(node);
    await world.ended(first.run);
    const next = await world.runs.start(await world.order(node, 'active'));
    await world.reaches(next.run, 'waiting');
    await callBack(world, node);
    expect(await world.ended(next.run)).toMatchObject({ state: 'succeeded' });
  });
});

test('a ramdisk is expected from the end of the power-on act until the power goes', async () => {
  const expected: boolean[] = [];
  const look = async (node: string): Promise<void> => {
    expected.push((await world.sql`select 1 from ramdisk_boots where node_uuid = ${node}`).length === 1);
  };
  const looks = async ({ uuid }: { uuid: string }): Promise<ActOutcome> => {
    await look(uuid);
    return { is: 'done' };
  };
  await withActs({ power_off: looks, set_boot_device: looks, power_on: looks, agent_steps: reporting() });
  const node = await world.node({ provision_state: 'available', ...withRamdisk });
  const { run } = await world.runs.start(await world.order(node, 'active'));
  await world.reaches(run, 'waiting');
  await look(node);
  await callBack(world, node);
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  // Off, network, on; waiting; off, disk, on.
  expect(expected).toEqual([false, false, false, true, true, false, false]);
});
