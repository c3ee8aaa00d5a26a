/** Calls whose caller waits, on a real engine and store: looks without a lock, acts as runs, and every way both fail. */
import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { keptHistory } from '../../scripts/lib/history';
import { createInventory } from '../../src/inventory';
import { isTemperError, raise, type TemperError } from '../../src/model/errors';
import type { NodeUuid } from '../../src/model/ids';
import type { ActName } from '../../src/model/lifecycle/steps';
import { createRuns, type Runs } from '../../src/runs';
import type { CallOrder } from '../../src/runs/contract';
import { callId, workflowId } from '../../src/workflows/contract';
import { quickTiming, startEngineWorld, type World } from '../support/engine';
import { bmcWorker, recordingDriver } from '../support/recording-driver';
import { workflowBundle } from '../support/servers';

const folder = join(__dirname, '../replay/histories');
const recording = process.env.TEMPER_RECORD_HISTORIES === '1';
const quiet = { info() {}, warn() {} };

let world: World;
const { stop, startWith, withActs } = bmcWorker(() => world);
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

const orderFor = async (uuid: NodeUuid, act: ActName, args: Record<string, unknown> = {}): Promise<CallOrder> => {
  const [node] = await world.sql`
    select uuid, name, driver, conductor_group, provision_state, xmin::text as revision from nodes where uuid = ${uuid}`;
  const requester = {
    user_id: 'u',
    user_name: 'tester',
    project_id: null,
    system_scope: 'all',
    strategy: 'noauth',
    request_id: `req-${randomUUID()}`,
  };
  return { node: node as never, act, args, asked: { requester, rule: 'test', rule_set: 'test' } };
};

const runsWith = (callTimeoutMs: number, queuePrefix = world.prefix): Runs =>
  createRuns({
    inventory: world.inventory,
    vault: world.vault,
    client: world.client,
    timing: quickTiming,
    log: quiet,
    queuePrefix,
    callTimeoutMs,
  });

const failure = async (work: Promise<unknown>): Promise<TemperError> => {
  const thrown = await work.then(
    () => undefined,
    (error) => error,
  );
  if (!isTemperError(thrown)) throw thrown ?? new Error('it did not fail');
  return thrown;
};

const nodeOf = async (uuid: string) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;
const runsOf = (uuid: string) => world.sql`select * from runs where node_uuid = ${uuid} order by created_at`;

const kept = async (id: string, name: string): Promise<void> => {
  const handle = world.client.workflow.getHandle(id);
  await handle.result().catch(() => {});
  const history = await handle.fetchHistory();
  await Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundle() } }, history, id);
  const file = join(folder, `${name}.1.json`);
  if (recording && !existsSync(file)) writeFileSync(file, keptHistory(id, historyToJSON(history)));
};

describe('a look', () => {
  test('answers what the BMC says, takes no lock, leaves no run, and replays', async () => {
    const calls = await withActs({ read_boot_device: async () => ({ is: 'done', value: { boot_device: 'pxe' } }) });
    const uuid = await world.node({ name: `look-${world.prefix}` });
    const before = await nodeOf(uuid);
    const order = await orderFor(uuid, 'read_boot_device');
    expect(await world.runs.call(order)).toEqual({ boot_device: 'pxe' });
    expect(calls).toEqual(['read_boot_device']);
    expect(await nodeOf(uuid)).toEqual(before);
    expect(await runsOf(uuid)).toHaveLength(0);
    await kept(callId(uuid, order.asked.requester.request_id), 'bmcCall.succeeded');
  });

  test('goes on while a run holds the node, and renews what the store knows of it', async () => {
    const bios = [{ name: 'Turbo', value: 'on' }];
    await withActs({ read_bios: async () => ({ is: 'done', value: null, seen: { bios, power_state: 'power on' } }) });
    const uuid = await world.node({ reservation: randomUUID(), maintenance: true, power_state: 'power off' });
    await world.runs.call(await orderFor(uuid, 'read_bios'));
    expect(await world.inventory.details.bios(uuid)).toEqual([expect.objectContaining(bios[0]!)]);
    expect(await nodeOf(uuid)).toMatchObject({ power_state: 'power off' });
  });

  test('what the BMC is asked with is resolved for the driver and hidden from all others', async () => {
    let seen: unknown;
    await withActs({
      read_media: async (node) => {
        seen = node.driver_info.password;
        return { is: 'done', value: [{ image: 'http://u:hunter2hunter2@images/a.iso' }] };
      },
      read_indicators: async () =>
        raise('BmcRejected', { node: 'n', bmc: 'b', what: 'a look', status: 400, reason: 'got hunter2hunter2' }),
    });
    const uuid = await world.node({ driver_info: { password: 'hunter2hunter2' } });
    const order = await orderFor(uuid, 'read_media');
    expect(JSON.stringify(await world.runs.call(order))).not.toContain('hunter2');
    expect(seen).toBe('hunter2hunter2');
    const refused = await failure(world.runs.call(await orderFor(uuid, 'read_indicators')));
    expect(JSON.stringify([refused.message, refused.facts])).not.toContain('hunter2');
    const history = await world.client.workflow
      .getHandle(callId(uuid, order.asked.requester.request_id))
      .fetchHistory();
    const payloads = [...historyToJSON(history).matchAll(/"data":\s*"([^"]+)"/g)];
    expect(payloads.length).toBeGreaterThan(2);
    for (const [, data] of payloads) expect(Buffer.from(data!, 'base64').toString()).not.toContain('hunter2');
  });

  test('fails with the code, the facts and the text of what went wrong', async () => {
    await withActs({
      read_boot_device: async () => raise('BmcAuthFailed', { node: 'n-1', bmc: 'b-1', secret: { nested: 'x' } }),
    });
    const order = await orderFor(await world.node(), 'read_boot_device');
    const error = await failure(world.runs.call(order));
    expect(error).toMatchObject({ code: 'BmcAuthFailed', status: 502, facts: { node: 'n-1', bmc: 'b-1' } });
    expect(error.message).toBe('The BMC of node n-1 at b-1 refused the credentials on record.');
    expect(error.facts.secret).not.toEqual({ nested: 'x' });
    await kept(callId(order.node.uuid, order.asked.requester.request_id), 'bmcCall.failed');
  });
});

describe('a look that fails', () => {
  test('what may pass is tried again, and not for ever', async () => {
    let failures = 1;
    const flaky = async () => {
      if (failures-- > 0) raise('BmcServerError', { node: 'n', bmc: 'b', status: 500, reason: 'oops' });
      return { is: 'done' as const, value: 'well' };
    };
    const calls = await withActs({ read_boot_device: flaky });
    const uuid = await world.node();
    expect(await world.runs.call(await orderFor(uuid, 'read_boot_device'))).toBe('well');
    failures = 100;
    expect(await failure(world.runs.call(await orderFor(uuid, 'read_boot_device')))).toMatchObject({
      code: 'BmcServerError',
    });
    expect(calls).toHaveLength(2 + 3);
  });

  test('an answer without end, an act that is no look, a node that is gone', async () => {
    const calls = await withActs({ read_media: async () => ({ is: 'done', value: 'x'.repeat(70_000) }) });
    const uuid = await world.node();
    expect(await failure(world.runs.call(await orderFor(uuid, 'read_media')))).toMatchObject({ code: 'StepRejected' });
    const order = await orderFor(uuid, 'power_off');
    const forged = world.client.workflow.execute('bmcCall', {
      workflowId: callId(uuid, 'forged'),
      taskQueue: `${world.prefix}-control`,
      args: [
        {
          node_uuid: uuid,
          act: order.act,
          args: {},
          timing: quickTiming,
          withinMs: 5_000,
          timeoutMs: 9_000,
          conductor_group: '',
          queue_prefix: world.prefix,
        },
      ],
    });
    await expect(forged).rejects.toThrow();
    expect(calls).toEqual(['read_media']);
    await world.sql`delete from nodes where uuid = ${uuid}`;
    const gone = { ...order, act: 'read_media' as const };
    expect(await failure(world.runs.call(gone))).toMatchObject({ code: 'NodeNotFound' });
  });

  test('a BMC that is busy with another worker says so', async () => {
    const { driver } = recordingDriver();
    await startWith({ ...driver, laneKey: () => `lane-${world.prefix}` });
    await world.sql`insert into bmc_leases (lane, holder, expires_at) values (${`lane-${world.prefix}`}, ${randomUUID()}, now() + interval '1 hour')`;
    const error = await failure(runsWith(20_000).call(await orderFor(await world.node(), 'read_boot_device')));
    expect(error).toMatchObject({ code: 'BmcLeaseHeld', status: 409 });
  });

  test('where no worker answers, the caller is answered so in time', async () => {
    await stop();
    const node = await world.node();
    // A start that a busy engine does not take in time is another answer; it is asked for again.
    const answered = async (runs: ReturnType<typeof runsWith>) => {
      for (;;) {
        const thrown = await failure(runs.call(await orderFor(node, 'read_boot_device')));
        if (thrown.code !== 'EngineUnavailable') return thrown;
      }
    };
    const late = await answered(runsWith(1_000));
    expect([late.code, late.status, late.facts.outcome]).toEqual([
      'CallTimeout',
      504,
      expect.stringContaining('nothing was changed'),
    ]);
    const nobody = await answered(runsWith(1_000, `${world.prefix}-nobody`));
    expect(nobody).toMatchObject({ code: 'CallTimeout' });
  });
});

describe('an act', () => {
  test('is a run of one step that is waited for, with its record, and the provision state stays', async () => {
    let args: unknown;
    const calls = await withActs({
      set_boot_device: async (_node, given) => {
        args = given;
        return { is: 'done' };
      },
    });
    const uuid = await world.node({ provision_state: 'active', name: `act-${world.prefix}` });
    const order = await orderFor(uuid, 'set_boot_device', { boot_device: 'pxe', persistent: true });
    expect(await world.runs.call(order)).toBeUndefined();
    expect([calls, args]).toEqual([['set_boot_device'], { boot_device: 'pxe', persistent: true }]);
    expect(await nodeOf(uuid)).toMatchObject({ provision_state: 'active', reservation: null, last_error: null });
    const [run] = await runsOf(uuid);
    expect(run).toMatchObject({ kind: 'call', verb: 'call', state: 'succeeded', target: null });
    const [audit] = await world.sql`select action, rule, data from audit where run_id = ${run!.id}`;
    expect(audit).toMatchObject({ action: 'run.call', rule: 'test' });
    await kept(workflowId(uuid, 'call', run!.id), 'call.succeeded');
  });

  test('answers what it made, without the secrets it was given', async () => {
    const secret_headers = [{ 'x-key': 'hunter2-in-a-header' }];
    const made = { Id: '7', Context: 'said by hunter2-in-a-header' };
    await withActs({ create_subscription: async () => ({ is: 'done', value: made }) });
    const order = await orderFor(await world.node(), 'create_subscription', { secret_headers });
    expect(await world.runs.call(order)).toEqual({ Id: '7', Context: 'said by ******' });
  });

  test('fails with the code of the BMC, and the run and the node say why', async () => {
    await withActs({ inject_nmi: async () => raise('BmcUnsupported', { node: 'n', bmc: 'b', what: 'NMI' }) });
    const uuid = await world.node({ provision_state: 'active' });
    const error = await failure(world.runs.call(await orderFor(uuid, 'inject_nmi')));
    expect(error).toMatchObject({ code: 'BmcUnsupported', status: 400 });
    expect(error.message).toBe('The BMC of node n at b does not offer NMI.');
    expect(await nodeOf(uuid)).toMatchObject({ provision_state: 'active', reservation: null, maintenance: false });
    const [run] = await runsOf(uuid);
    expect(run).toMatchObject({ state: 'failed', last_error: error.message });
    await kept(workflowId(uuid, 'call', run!.id), 'call.failed');
  });

  test('that must not happen twice is not sent again', async () => {
    const calls = await withActs({
      inject_nmi: async () => raise('StepOutcomeUnknown', { step: 'management.inject_nmi', reason: 'no record' }),
    });
    const error = await failure(world.runs.call(await orderFor(await world.node(), 'inject_nmi')));
    expect([error.code, calls]).toEqual(['StepOutcomeUnknown', ['inject_nmi']]);
  });

  test('a node that a run holds is refused, and one that has changed meanwhile too', async () => {
    const calls = await withActs();
    const uuid = await world.node();
    const old = await orderFor(uuid, 'set_boot_device');
    await world.sql`update nodes set extra = '{"a": 1}' where uuid = ${uuid}`;
    expect(await failure(world.runs.call(old))).toMatchObject({ code: 'NodeLocked' });
    await world.sql`update nodes set reservation = ${randomUUID()} where uuid = ${uuid}`;
    const held = await failure(world.runs.call(await orderFor(uuid, 'set_boot_device')));
    expect(held).toMatchObject({ code: 'NodeLocked', status: 409 });
    expect(calls).toEqual([]);
  });

  test('that is not waited for answers at once, and its run goes on', async () => {
    let go: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    await withActs({
      set_boot_mode: async () => {
        await gate;
        return { is: 'done', seen: { boot_mode: 'uefi' } };
      },
    });
    const uuid = await world.node();
    await world.runs.call({ ...(await orderFor(uuid, 'set_boot_mode', { boot_mode: 'uefi' })), background: true });
    expect(await nodeOf(uuid)).toMatchObject({ boot_mode: null, reservation: expect.any(String) });
    go();
    const [run] = await runsOf(uuid);
    expect(await world.ended(run!.id)).toMatchObject({ state: 'succeeded' });
    expect(await nodeOf(uuid)).toMatchObject({ boot_mode: 'uefi', reservation: null });
  });

  test('that outlasts its caller says which run goes on', async () => {
    await stop();
    const uuid = await world.node();
    const late = await failure(runsWith(1_000, `${world.prefix}-nobody`).call(await orderFor(uuid, 'set_boot_device')));
    const [run] = await runsOf(uuid);
    expect([late.code, late.status]).toEqual(['CallTimeout', 504]);
    expect(late.message).toContain(`run ${run!.id} goes on and may still take effect`);
    expect(await nodeOf(uuid)).toMatchObject({ reservation: run!.id });
  });

  test('secrets of its arguments are sealed in the run', async () => {
    let seen: unknown;
    await withActs({
      insert_media: async (_node, args) => {
        seen = args.image_url;
        return { is: 'done' };
      },
    });
    const uuid = await world.node();
    const image_url = 'https://u:hunter2@images.example.org/a.iso';
    await world.runs.call(await orderFor(uuid, 'insert_media', { image_url }));
    expect(seen).toBe(image_url);
    const [run] = await runsOf(uuid);
    const steps = await createInventory(world.sql).runSteps.ofRun(run!.id);
    expect(JSON.stringify([run, steps])).not.toContain('hunter2');
  });
});
