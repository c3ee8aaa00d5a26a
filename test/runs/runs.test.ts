/** Runs on a real engine and store: how they begin, go on, wait, park, are aborted and end. */

import { randomUUID } from 'node:crypto';
import { ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { createInventory } from '../../src/inventory';
import { isTemperError, raise } from '../../src/model/errors';
import type { RunUuid } from '../../src/model/ids';
import { createRuns } from '../../src/runs';
import { reconcileOnce } from '../../src/runs/reconcile';
import { relayOnce } from '../../src/runs/relay';
import {
  actTried,
  failOperation,
  planQuery,
  progressQuery,
  retryStep,
  skipStep,
  workflowId,
} from '../../src/workflows/contract';
import { quickTiming, startEngineWorld, type World } from '../support/engine';
import { bmcWorker, step } from '../support/recording-driver';

const quiet = { info() {}, warn() {} };
let world: World;
const { withActs } = bmcWorker(() => world);
const nodeOf = async (uuid: string) => (await world.sql`select * from nodes where uuid = ${uuid}`)[0]!;
const handleOf = (node: string, verb: string, run: RunUuid) =>
  world.client.workflow.getHandle(workflowId(node as never, verb, run));

beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
});
afterAll(() => world?.close());

test('an accepted run shows its state and target before the caller has an answer, and runs its steps in order', async () => {
  const calls = await withActs();
  const node = await world.node({ name: 'n-1' });
  const order = await world.order(node, 'clean', [
    step('power.reboot'),
    step('management.set_boot_mode', { boot_mode: 'uefi' }),
  ]);
  const { run } = await world.runs.start(order);
  expect(await nodeOf(node)).toMatchObject({ target_provision_state: expect.stringMatching('manageable') });
  const ended = await world.ended(run);
  expect(ended).toMatchObject({ state: 'succeeded', cursor: 2, last_error: null });
  expect(calls).toEqual(['power_off', 'power_on', 'set_boot_mode']);
  expect(await nodeOf(node)).toMatchObject({
    provision_state: 'manageable',
    target_provision_state: null,
    reservation: null,
    clean_step: null,
    last_error: null,
  });
  const steps = await world.inventory.runSteps.ofRun(run);
  expect(steps.map(({ state, acts_done }) => [state, acts_done])).toEqual([
    ['done', 2],
    ['done', 1],
  ]);
});

test('a node has one run however many callers there are', async () => {
  await withActs();
  const node = await world.node();
  const order = await world.order(node, 'clean', [step('power.hold')]);
  const tried = await Promise.allSettled([1, 2, 3, 4].map(() => world.runs.start(order)));
  expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of tried) if (one.status === 'rejected') expect(isTemperError(one.reason, 'NodeLocked')).toBe(true);
  const { run } = (tried.find(({ status }) => status === 'fulfilled') as PromiseFulfilledResult<{ run: RunUuid }>)
    .value;
  await world.reaches(run, 'waiting');
  await world.runs.send({ ...(await world.order(node, 'abort' as never)), kind: 'abort' } as never);
  await world.ended(run);
});

test('a retryable failure is tried again and shown while it lasts', async () => {
  let failures = 2;
  await withActs({
    power_on: async () => {
      if (failures-- > 0) raise('BmcBusy', { node: 'n', bmc: 'b', status: 503, reason: 'booting', retryAfterMs: 50 });
      return { is: 'done' };
    },
  });
  const node = await world.node();
  const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.power_on')]));
  expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
  const [only] = await world.inventory.runSteps.ofRun(run);
  expect(only).toMatchObject({ attempts: 3, last_error: null });
  const told = await world.sql<
    { data: { error: string } }[]
  >`select data from events where run_id = ${run} and kind = 'step.tried' order by seq`;
  expect(told.map(({ data }) => data.error)).toEqual([
    expect.stringContaining('booting'),
    expect.stringContaining('booting'),
  ]);
});

test('a final failure ends the run at once, red in store and engine, with a fault and maintenance', async () => {
  const calls = await withActs({ power_on: async () => raise('BmcAuthFailed', { node: 'n-9', bmc: 'https://b9' }) });
  const node = await world.node({ name: 'n-9', provision_state: 'active' });
  const { run } = await world.runs.start(
    await world.order(node, 'service', [step('power.power_on'), step('power.power_off')]),
  );
  const ended = await world.ended(run);
  expect(ended).toMatchObject({
    state: 'failed',
    last_error: 'The BMC of node n-9 at https://b9 refused the credentials on record.',
  });
  expect(calls).toEqual(['power_on']);
  expect(await nodeOf(node)).toMatchObject({
    provision_state: 'service failed',
    target_provision_state: 'active',
    fault: 'service failure',
    maintenance: true,
    reservation: null,
  });
  await expect(handleOf(node, 'service', run).result()).rejects.toThrow();
});

test('a run says as an event that it is tried again, once, and that it is parked', async () => {
  let failures = 2;
  await withActs({
    power_on: async () => {
      if (failures-- > 0) raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'it boots' });
      return { is: 'done' as const };
    },
    power_off: async () => raise('BmcAuthFailed', { node: 'n', bmc: 'https://b' }),
  });
  const node = await world.node({ provision_state: 'active' });
  const last = { ...step('power.power_off'), temper: { on_failure: 'park' as const } };
  const { run } = await world.runs.start(await world.order(node, 'service', [step('power.power_on'), last]));
  await world.reaches(run, 'parked');
  const kinds = await world.sql<{ kind: string }[]>`
    select kind from events where run_id = ${run} and kind in ('run.retrying', 'run.parked', 'step.tried') order by seq`;
  expect(kinds.map(({ kind }) => kind)).toEqual([
    'step.tried',
    'run.retrying',
    'step.tried',
    'step.tried',
    'run.parked',
  ]);
});

test.each([
  [
    'that the failed service left is over with the service',
    null,
    { maintenance: false, maintenance_reason: null, fault: null },
  ],
  [
    'that an operator has a reason for stays',
    'a broken fan',
    { maintenance: true, maintenance_reason: 'a broken fan', fault: 'service failure' },
  ],
])('maintenance %s', async (_, maintenance_reason, after) => {
  await withActs({ power_on: async () => raise('BmcAuthFailed', { node: 'n', bmc: 'https://b' }) });
  const node = await world.node({ provision_state: 'active' });
  const { run } = await world.runs.start(await world.order(node, 'service', [step('power.power_on')]));
  await world.ended(run);
  if (maintenance_reason !== null)
    await world.sql`update nodes set ${world.sql({ maintenance_reason })} where uuid = ${node}`;
  const { node: ordered, asked } = await world.order(node, 'abort');
  await world.runs.move({ node: ordered, event: 'abort', asked });
  expect(await nodeOf(node)).toMatchObject({ provision_state: 'active', ...after });
});

test('secrets of a step reach the driver and no other process', async () => {
  let seen: unknown;
  await withActs({
    insert_media: async (_node, args) => {
      seen = args;
      return { is: 'done' };
    },
  });
  const node = await world.node({ driver_info: { redfish_address: 'x', redfish_password: 'hunter2-of-the-node' } });
  const order = await world.order(node, 'clean', [
    step('management.attach_virtual_media', { image_url: 'http://images/a.iso' }),
  ]);
  const withSecret = {
    ...order,
    steps: [{ ...order.steps[0]!, args: { image_url: 'http://images/a.iso', image_password: 'hunter2-of-the-step' } }],
  };
  const { run } = await world.runs.start(withSecret);
  await world.ended(run);
  expect(seen).toEqual({ image_url: 'http://images/a.iso', image_password: 'hunter2-of-the-step' });
  const { events } = await handleOf(node, 'clean', run).fetchHistory();
  const history = JSON.stringify(events, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
  );
  expect(history).toContain('attach_virtual_media');
  expect(history).not.toContain('hunter2');
  const rows =
    await world.sql`select row_to_json(r)::text as text from runs r union all select row_to_json(s)::text from run_steps s union all select row_to_json(e)::text from events e union all select row_to_json(a)::text from audit a`;
  expect(rows.map(({ text }) => text).join('\n')).not.toContain('hunter2');
});

test('the API’s own role can write secrets and cannot read them', async () => {
  await expect(world.inventory.secrets.read(['00000000-0000-4000-8000-000000000000'])).rejects.toThrow(
    /permission denied/,
  );
});

describe('a run that waits', () => {
  test('sits in the hold state until unhold, and goes on in the active one', async () => {
    const calls = await withActs();
    const node = await world.node({ provision_state: 'active' });
    const { run } = await world.runs.start(
      await world.order(node, 'service', [step('power.hold'), step('power.power_off')]),
    );
    await world.reaches(run, 'waiting');
    const held = await nodeOf(node);
    expect(held).toMatchObject({ provision_state: 'service hold', target_provision_state: 'active' });
    await world.runs.send({
      node: { ...(await world.order(node, 'service')).node },
      kind: 'unhold',
      asked: (await world.order(node, 'service')).asked,
    });
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    expect(calls).toEqual(['power_off']);
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'active' });
  });

  test('is aborted in a wait: a service returns the node to its use', async () => {
    const calls = await withActs();
    const node = await world.node({ provision_state: 'active' });
    const { run } = await world.runs.start(
      await world.order(node, 'service', [step('power.wait', { seconds: 3600 }), step('power.power_off')]),
    );
    await world.reaches(run, 'waiting');
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'service wait' });
    const order = await world.order(node, 'abort');
    await world.runs.send({ node: order.node, kind: 'abort', asked: order.asked });
    expect(await world.ended(run)).toMatchObject({ state: 'aborted' });
    expect(calls).toEqual([]);
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'active', maintenance: false });
  });

  test('is aborted, not failed, when the attempt that is cut short ends with an error of its own', async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    await withActs({
      power_off: async (_node, _args, { signal }) => {
        begin();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'the connection was refused' });
      },
    });
    const node = await world.node();
    const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.power_off')]));
    await begun;
    const { asked } = await world.order(node, 'abort');
    await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'enough', asked });
    expect(await world.ended(run)).toMatchObject({ state: 'aborted' });
  });

  test('is cancelled in the engine’s own UI: the node is freed and says so', async () => {
    await withActs();
    const node = await world.node();
    const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.hold')]));
    await world.reaches(run, 'waiting');
    await handleOf(node, 'clean', run).cancel();
    expect(await world.ended(run)).toMatchObject({
      state: 'aborted',
      last_error: expect.stringContaining('cancelled in the workflow engine'),
    });
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'clean failed', reservation: null });
  });
});

const unknownOnce = () => {
  let first = true;
  return withActs({
    reset_bmc: async () => {
      if (first) {
        first = false;
        raise('StepOutcomeUnknown', { step: 'management.reset_bmc', reason: 'the BMC keeps no record' });
      }
      return { is: 'done' };
    },
  });
};
const parked = async () => {
  const calls = await unknownOnce();
  const node = await world.node();
  const { run } = await world.runs.start(
    await world.order(node, 'clean', [step('management.reset_bmc'), step('power.power_on')]),
  );
  await world.reaches(run, 'parked');
  return { calls, node, run, handle: handleOf(node, 'clean', run) };
};
const decision = { cursor: 0, by: 'tester', reason: 'looked at it' };

describe('a step whose effect cannot be known', () => {
  test('parks, says what it waits for, and goes on when a person retries it', async () => {
    const { calls, node, run, handle } = await parked();
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'clean wait' });
    expect(await handle.query(progressQuery)).toMatchObject({
      parked: true,
      cursor: 0,
      step: 'management.reset_bmc',
      waitingFor: expect.stringContaining('a person'),
    });
    expect(await handle.query(planQuery)).toHaveLength(2);
    await expect(handle.executeUpdate(retryStep, { args: [{ ...decision, cursor: 1 }] })).rejects.toThrow();
    await handle.executeUpdate(retryStep, { args: [decision] });
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    expect(calls).toEqual(['reset_bmc', 'reset_bmc', 'power_on']);
  });

  test('is skipped by a person', async () => {
    const { calls, run, handle } = await parked();
    await handle.executeUpdate(skipStep, { args: [decision] });
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    expect(calls).toEqual(['reset_bmc', 'power_on']);
    expect((await world.inventory.runSteps.ofRun(run))[0]).toMatchObject({ state: 'skipped' });
  });

  test('is failed by a person', async () => {
    const { node, run, handle } = await parked();
    await handle.executeUpdate(failOperation, { args: [decision] });
    expect(await world.ended(run)).toMatchObject({ state: 'failed' });
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'clean failed', fault: 'clean failure' });
  });

  test('is not decided about while nothing is parked', async () => {
    await withActs();
    const node = await world.node();
    const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.hold')]));
    await world.reaches(run, 'waiting');
    await expect(handleOf(node, 'clean', run).executeUpdate(skipStep, { args: [decision] })).rejects.toThrow();
    await handleOf(node, 'clean', run).cancel();
    await world.ended(run);
  });
});

describe('where a run is', () => {
  test('says by a query which node it works on, and where that is and is to be', async () => {
    await withActs({
      reset_bmc: async () => raise('StepOutcomeUnknown', { step: 'management.reset_bmc', reason: 'no record' }),
    });
    const name = `rack3-${randomUUID().slice(0, 8)}`;
    const node = await world.node({ name });
    const { run } = await world.runs.start(await world.order(node, 'clean', [step('management.reset_bmc')]));
    await world.reaches(run, 'parked');
    const handle = handleOf(node, 'clean', run);
    const told = {
      run,
      node: { uuid: node, name },
      verb: 'clean',
      provision_state: 'clean wait',
      target_provision_state: 'manageable',
      step: 'management.reset_bmc',
    };
    const first = async (): Promise<unknown> => {
      const now = await handle.query(progressQuery);
      return now.provision_state === 'clean wait' ? now : first();
    };
    expect(await first()).toMatchObject({ ...told, attempt: 1, parked: true });
    await handle.executeUpdate(retryStep, { args: [decision] });
    const again = async (): Promise<unknown> => {
      const now = await handle.query(progressQuery);
      // The node is moved once the run has parked.
      return now.parked && now.attempt === 1 && now.provision_state === 'clean wait' ? now : again();
    };
    expect(await again()).toMatchObject(told);
    await handle.executeUpdate(skipStep, { args: [decision] });
    await world.ended(run);
    await handle.result();
    expect(await handle.query(progressQuery)).toMatchObject({
      node: { name },
      state: 'succeeded',
      provision_state: 'manageable',
      target_provision_state: null,
    });
    const found = async (): Promise<string> => {
      for await (const one of world.client.workflow.list({ query: `TemperNodeName = "${name}"` }))
        return one.workflowId;
      return found();
    };
    expect(await found()).toBe(handle.workflowId);
  });

  test('says which attempt of its act is under way: query, UI and record have the same', async () => {
    let attempts = 0;
    let finish = (): void => undefined;
    const third = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await withActs({
      power_on: async () => {
        attempts += 1;
        if (attempts < 3) return raise('BmcUnreachable', { node: 'n', bmc: 'b', reason: 'the connection was closed' });
        await third;
        return { is: 'done' };
      },
    });
    const node = await world.node();
    const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.power_on')]));
    const handle = handleOf(node, 'clean', run);
    await world.until(async () => (attempts === 3 ? true : undefined));
    const now = await world.until(async () => {
      const progress = await handle.query(progressQuery);
      return progress.attempt === 3 ? progress : undefined;
    });
    expect(now).toMatchObject({ step: 'power.power_on', attempt: 3, waitingFor: null, parked: false });
    expect((await world.inventory.runSteps.ofRun(run))[0]).toMatchObject({ attempt: 3 });
    expect((await world.runs.look(run)).pending).toMatchObject([{ attempt: 3 }]);
    const shown: { currentDetails: string } = await handle.query('__temporal_workflow_metadata');
    expect(shown.currentDetails).toContain('▶ power.power_on, attempt 3');
    // What comes late of an act before does not count.
    await handle.signal(actTried, { operationId: run, nth: 99, attempt: 9 });
    expect(await handle.query(progressQuery)).toMatchObject({ attempt: 3 });
    finish();
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    await handle.result();
    expect(await handle.query(progressQuery)).toMatchObject({ cursor: 1, step: null });
  });
});

describe('what falls between store and engine', () => {
  test('a run accepted while the engine was away is started by the relay', async () => {
    await withActs();
    const node = await world.node();
    const order = await world.order(node, 'manage' as never);
    const broken = {
      workflow: { start: async () => Promise.reject(new Error('away')) },
      withDeadline: (_: number, work: () => Promise<unknown>) => work(),
    };
    await world.sql`update nodes set provision_state = 'enroll' where uuid = ${node}`;
    const runs = createRuns({
      inventory: world.inventory,
      vault: world.vault,
      client: broken as never,
      timing: quickTiming,
      log: quiet,
      queuePrefix: world.prefix,
    });
    const { run } = await runs.start({ ...order, node: { ...order.node, provision_state: 'enroll' } });
    expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'accepted' });
    await relayOnce({ inventory: world.inventory, client: world.client, log: quiet }, 0);
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'manageable' });
  });

  test('a run terminated in the engine is ended by the reconciler, and its node is free', async () => {
    await withActs();
    const node = await world.node();
    const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.hold')]));
    await world.reaches(run, 'waiting');
    await handleOf(node, 'clean', run).terminate('test');
    await reconcileOnce({ inventory: world.inventory, client: world.client, log: quiet }, { olderThanMs: 0 });
    expect(await world.inventory.runs.find(run)).toMatchObject({
      state: 'aborted',
      last_error: expect.stringContaining('terminated'),
    });
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'clean failed', reservation: null });
  });

  test('a workflow that was not accepted does nothing', async () => {
    const calls = await withActs();
    const node = await world.node();
    const { run } = await world.runs.start(await world.order(node, 'clean', [step('power.power_on')]));
    await world.ended(run);
    const input = (await world.inventory.runs.input(run))!;
    const forged = await world.client.workflow.start('clean', {
      workflowId: `forged-${run}`,
      taskQueue: `${world.prefix}-control`,
      args: [input],
    });
    await expect(forged.result()).rejects.toMatchObject({ cause: { type: 'StaleOperation' } });
    expect(calls).toEqual(['power_on']);
  });
});

describe('a person who operates a run', () => {
  const waiting = async (steps = [step('power.hold'), step('power.power_on')]) => {
    const calls = await withActs();
    const node = await world.node({ provision_state: 'active' });
    const order = await world.order(node, 'service', steps);
    const { run } = await world.runs.start(order);
    await world.reaches(run, 'waiting');
    return { calls, node, run, asked: order.asked };
  };
  const fresh = async (node: Parameters<World['order']>[0]) => (await world.order(node, 'abort')).asked;

  test('aborts it; act, reason and person stand in the audit trail', async () => {
    const { node, run } = await waiting();
    await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'wrong node', asked: await fresh(node) });
    expect(await world.ended(run)).toMatchObject({ state: 'aborted' });
    const rows = await world.sql`select action, data from audit where run_id = ${run} order by seq`;
    expect(rows.map(({ action, data }) => [action, data.reason])).toContainEqual(['run.abort', 'wrong node']);
  });

  test('pauses and resumes it', async () => {
    const { calls, node, run } = await waiting();
    await world.runs.operate({ run, act: 'pause', cursor: 0, reason: 'a look', asked: await fresh(node) });
    const order = await world.order(node, 'service');
    await world.runs.send({ node: order.node, kind: 'unhold', asked: order.asked });
    await world.reaches(run, 'paused');
    expect(calls).toEqual([]);
    await world.runs.operate({ run, act: 'resume', cursor: 0, reason: 'seen', asked: await fresh(node) });
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded' });
    expect(calls).toEqual(['power_on']);
  });

  test('learns why the run refuses, and the trail says that it was refused', async () => {
    const { node, run } = await waiting();
    const refused = world.runs.operate({ run, act: 'retry', cursor: 0, reason: 'x', asked: await fresh(node) });
    await expect(refused).rejects.toMatchObject({ code: 'Conflict', message: expect.stringContaining('not parked') });
    const trail = await world.sql`select action from audit where run_id = ${run} and action like 'run.%' order by seq`;
    expect(trail.map(({ action }) => action)).toEqual(['run.service', 'run.retry', 'run.retry.refused']);
    await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'end', asked: await fresh(node) });
    await world.ended(run);
  });

  test('is answered by the run itself that there is no step to give arguments to', async () => {
    const { node, run } = await waiting();
    const asked = await fresh(node);
    const refused = world.runs.operate({ run, act: 'retry', cursor: 99, reason: 'x', args: { a: 1 }, asked });
    await expect(refused).rejects.toMatchObject({ code: 'Conflict' });
    await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'end', asked });
    await world.ended(run);
  });

  test('cannot touch a run that has ended', async () => {
    const { node, run } = await waiting();
    await world.runs.operate({ run, act: 'abort', cursor: 0, reason: 'end', asked: await fresh(node) });
    await world.ended(run);
    const late = world.runs.operate({ run, act: 'pause', cursor: 0, reason: 'late', asked: await fresh(node) });
    await expect(late).rejects.toMatchObject({ code: 'Conflict' });
  });
});

describe('a run that the engine will never take', () => {
  const refusing = (code: number, details = 'message is too large') => ({
    workflow: {
      start: async () => {
        // The SDK has an error of its own for a namespace that is not there.
        if (code === 5) throw new NamespaceNotFoundError('temper');
        throw new ServiceError('refused', {
          cause: Object.assign(new Error('x'), { code, details }),
        });
      },
      getHandle: () => ({ signal: async () => {} }),
    },
    withDeadline: (_: number, work: () => Promise<unknown>) => work(),
  });
  const stuck = async (code: number, details?: string) => {
    const node = await world.node();
    const client = refusing(code, details) as never;
    const runs = createRuns({
      inventory: world.inventory,
      vault: world.vault,
      client,
      timing: quickTiming,
      log: quiet,
      queuePrefix: `${world.prefix}-stuck`,
    });
    const { run } = await runs.start(await world.order(node, 'clean', [step('power.power_on')]));
    return { node, run, runs, deps: { inventory: world.inventory, client, log: quiet } };
  };

  test('is ended after some tries with the engine’s words, and keeps no other waiting', async () => {
    const { node, run, deps } = await stuck(8);
    for (let pass = 0; pass < 5; pass++) await relayOnce(deps, 0);
    expect(await world.inventory.runs.find(run)).toMatchObject({
      state: 'failed',
      last_error: expect.stringContaining('message is too large'),
    });
    expect(await nodeOf(node)).toMatchObject({
      provision_state: 'clean failed',
      reservation: null,
      maintenance: false,
    });
  });

  test.each([
    [3, 'Namespace temper has no mapping defined for search attribute TemperNodeUuid'],
    [8, 'namespace rate limit exceeded'],
    [9, 'Namespace temper is in the making'],
    [5, 'namespace temper is not there'],
  ])('is waited out where an operator or time can mend it, with the reason shown: code %i', async (code, details) => {
    const { run, deps } = await stuck(code, details);
    for (let pass = 0; pass < 7; pass++) await relayOnce(deps, 0);
    expect(await world.inventory.runs.find(run)).toMatchObject({
      state: 'accepted',
      waiting_for: expect.stringContaining(details),
    });
    // The pause grows: what was refused is not asked for again at the next pass of a second later.
    expect((await world.inventory.runs.unstarted(60_000)).map(({ id }) => id)).not.toContain(run);
    const { lock } = (await world.inventory.runs.input(run))!;
    expect(await createInventory(world.pools.control).runs.claim(lock, 'an-execution')).toBe(true);
    expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'running', waiting_for: null });
    await world.sql`update runs set state = 'failed', finished_at = now() where id = ${run}`;
  });

  test('is aborted at once, and a start that comes late does nothing', async () => {
    const { node, run, runs } = await stuck(14);
    const { asked } = await world.order(node, 'abort');
    await runs.operate({ run, act: 'abort', cursor: 0, reason: 'enough', asked });
    expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'aborted' });
    expect(await nodeOf(node)).toMatchObject({ reservation: null });
  });

  test('waits while the engine is away, however often it is tried', async () => {
    const { run, deps } = await stuck(14);
    for (let pass = 0; pass < 7; pass++) await expect(relayOnce(deps, 0)).rejects.toThrow();
    expect(await world.inventory.runs.find(run)).toMatchObject({ state: 'accepted' });
    await world.sql`update runs set state = 'failed', finished_at = now() where id = ${run}`;
  });

  test('is not accepted when its steps are larger than a run carries', async () => {
    const node = await world.node();
    const settings = Array.from({ length: 4_000 }, (_, index) => ({ name: `Setting${index}`, value: 'a'.repeat(20) }));
    const order = await world.order(node, 'clean', [step('bios.apply_configuration', { settings })]);
    await expect(world.runs.start(order)).rejects.toMatchObject({
      code: 'InvalidSteps',
      message: expect.stringMatching(/at most 65536/),
    });
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'manageable', reservation: null });
  });
});

describe('what changed between decision and acceptance', () => {
  test('a node that was written meanwhile is a conflict: no run goes by yesterday’s permission', async () => {
    const node = await world.node();
    const order = await world.order(node, 'clean', [step('power.power_on')]);
    const [{ revision }] =
      (await world.sql`select xmin::text as revision from nodes where uuid = ${node}`) as unknown as [
        { revision: string },
      ];
    await world.sql`update nodes set lessee = 'somebody' where uuid = ${node}`;
    await expect(world.runs.start({ ...order, node: { ...order.node, revision } })).rejects.toMatchObject({
      code: 'NodeLocked',
    });
  });

  test('a runbook that was changed or deleted meanwhile is a conflict', async () => {
    const [runbook] =
      await world.sql`insert into runbooks (name, steps) values (${`CUSTOM_${world.prefix}`}, '[]') returning uuid, name, updated_at`;
    const node = await world.node();
    const order = { ...(await world.order(node, 'clean', [step('power.power_on')])), runbook: runbook as never };
    await world.sql`update runbooks set updated_at = now() where uuid = ${runbook!.uuid}`;
    await expect(world.runs.start(order)).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining('changed or deleted'),
    });
    await world.sql`delete from runbooks where uuid = ${runbook!.uuid}`;
    await expect(world.runs.start(order)).rejects.toMatchObject({ code: 'Conflict' });
  });

  test('a run is pinned to the revision of its runbook, and none is accepted by one that was withdrawn', async () => {
    await withActs();
    const steps = [{ interface: 'power', step: 'power_on', order: 1, args: {} }];
    const [made] = await world.sql`
      insert into runbooks (name, steps) values (${`CUSTOM_P${world.prefix}`}, ${world.sql.json(steps)}) returning uuid, name`;
    await world.sql`update runbooks set traits = '{CUSTOM_P}' where uuid = ${made!.uuid}`;
    const [runbook] = await world.sql`select uuid, name, updated_at from runbooks where uuid = ${made!.uuid}`;
    const node = await world.node();
    const order = { ...(await world.order(node, 'clean', [step('power.power_on')])), runbook: runbook as never };
    const { run } = await world.runs.start(order);
    expect(await world.ended(run)).toMatchObject({ state: 'succeeded', runbook_revision: 2 });
    const [audit] = await world.sql`select data from audit where run_id = ${run}`;
    expect(audit!.data).toMatchObject({ runbook: made!.name, runbook_revision: 2 });
    await world.sql`
      update runbook_revisions set withdrawn_at = now(), withdrawn_reason = 'it bricks' where runbook_uuid = ${made!.uuid} and revision = 2`;
    const again = { ...(await world.order(node, 'clean', [step('power.power_on')])), runbook: runbook as never };
    await expect(world.runs.start(again)).rejects.toMatchObject({
      code: 'RevisionWithdrawn',
      message: expect.stringContaining(`Revision 2 of runbook ${made!.name} was withdrawn`),
    });
    expect(await nodeOf(node)).toMatchObject({ provision_state: 'manageable', reservation: null });
    // A change makes a revision of its own, by which runs are accepted again.
    await world.sql`update runbooks set disable_ramdisk = true, updated_at = now() where uuid = ${made!.uuid}`;
    const [changed] = await world.sql`select uuid, name, updated_at from runbooks where uuid = ${made!.uuid}`;
    const next = await world.runs.start({ ...again, runbook: changed as never });
    expect(await world.ended(next.run)).toMatchObject({ state: 'succeeded', runbook_revision: 3 });
  });
});

test('secrets of a run are swept when it has ended well', async () => {
  await withActs();
  const node = await world.node();
  const order = await world.order(node, 'clean', [
    step('management.attach_virtual_media', { image_url: 'https://u:geheim@images/a.iso' }),
  ]);
  const { run } = await world.runs.start(order);
  await world.ended(run);
  const left = () => world.sql`select 1 from secrets where holder = 'run' and holder_id = ${run}`;
  expect(await left()).toHaveLength(1);
  await reconcileOnce({ inventory: createInventory(world.pools.control), client: world.client, log: quiet });
  expect(await left()).toHaveLength(0);
});
