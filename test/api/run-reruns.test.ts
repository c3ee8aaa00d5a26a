/** Taking up a failed run, and trying a step again with other arguments: what is asked anew, and what the runs are given. */
import { randomUUID } from 'node:crypto';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import type { GivenStep, PlannedStep } from '../../src/model/lifecycle/step-types';
import { faultOf } from '../support/api';
import { holder, type Provisioning, startProvisioning } from '../support/provisioning';
import { ofRun } from '../support/vault';
import { lessee, type Persona } from '../support/world';

let at: Provisioning;
let node: NodeUuid;
beforeAll(async () => {
  at = await startProvisioning();
});
afterAll(() => at.api.close());
beforeEach(async () => {
  node = (await at.fresh('service failed')) as NodeUuid;
  at.api.runs.operated = [];
});

const media = (image_url: string): GivenStep => ({
  interface: 'management',
  step: 'attach_virtual_media',
  args: { image_url },
});
const given: readonly GivenStep[] = [
  { interface: 'power', step: 'reboot' },
  { ...media('https://images.example.org/a.iso'), temper: { timeout: 60, on_failure: 'park' } },
  { interface: 'management', step: 'reset_bmc' },
];

/** A service run that stands at a step, as the store keeps it. */
const serviceRun = async (
  state: string,
  cursor: number,
  {
    runbook = null,
    plan = (steps) => steps,
  }: { runbook?: object | null; plan?: (steps: PlannedStep[]) => PlannedStep[] } = {},
): Promise<RunUuid> => {
  const { inventory, sql } = at.api;
  const id = inventory.runs.newId();
  const steps = plan(planSteps(given, 'service', { driver: 'redfish' }));
  await inventory.runs.accept({
    run: id,
    node_uuid: node,
    from: 'service failed',
    revision: null,
    to: null,
    target: 'active',
    target_power_state: null,
    kind: 'service',
    verb: 'service',
    runbook: runbook as never,
    requester: {
      user_id: 'u',
      user_name: 'asker',
      project_id: lessee,
      system_scope: null,
      strategy: 'keystone',
      request_id: 'req-1',
    },
    rule_set: 'abc',
    workflow_id: `node-${node}.service.${id}`,
    input: {
      kind: 'service',
      verb: 'service',
      node_name: 'n1',
      driver: 'redfish',
      conductor_group: '',
      steps,
      target: 'active',
      ends: 'done',
      fault: null,
      runbook: null,
      rule_set: 'abc',
      timing: { powerTimeoutMs: 1, softPowerTimeoutMs: 1, settleMs: 1, pollMs: 1 },
    },
  });
  await inventory.runSteps.insert(id, steps);
  const ended = state === 'failed' || state === 'succeeded';
  await sql`update runs set state = ${state}, cursor = ${cursor}, finished_at = ${ended ? sql`now()` : null} where id = ${id}`;
  if (ended) await sql`update nodes set reservation = null where uuid = ${node}`;
  return id;
};

/** A public runbook with a trait that the node has. */
const approved = async (): Promise<{ uuid: string; name: string }> => {
  const steps = given.map((step, order) => ({ ...step, temper: undefined, args: step.args ?? {}, order }));
  const { body } = await at.api.as('operator', 'POST', '/v1/runbooks', {
    body: { name: 'CUSTOM_MEDIA', public: true, steps },
  });
  await at.api.as('operator', 'PUT', '/v1/runbooks/CUSTOM_MEDIA/traits', { body: { traits: ['CUSTOM_MEDIA'] } });
  await at.api.as('operator', 'PUT', '/v1/nodes/n1/traits', { body: { traits: ['CUSTOM_MEDIA'] } });
  await at.api.sql`update runbooks set updated_at = null`;
  return { uuid: body.uuid, name: body.name };
};

const rerun = (run: string, more: object = {}, who: Persona = 'operator') =>
  at.api.as(who, 'POST', `/temper/v1/runs/${run}/rerun`, { body: { reason: 'a test', ...more } });
const retry = (run: string, args: unknown, who: Persona = 'operator', act = 'retry') =>
  at.api.as(who, 'POST', `/temper/v1/runs/${run}/${act}`, { body: { reason: 'a test', args } });

const onlyFrom = async (origin: string, work: () => Promise<void>): Promise<void> => {
  const { settings } = at.api.rooms;
  Object.assign(settings, { imageOrigins: [origin] });
  try {
    await work();
  } finally {
    Object.assign(settings, { imageOrigins: [] });
  }
};

describe('a failed run', () => {
  test('is taken up at the step it stopped in, with arguments and limits as they were', async () => {
    const run = await serviceRun('failed', 1);
    const reply = await rerun(run);
    expect([reply.status, reply.body]).toEqual([202, { run: expect.any(String), resumes: run, from: 1 }]);
    expect(at.api.runs.started).toEqual([
      expect.objectContaining({
        verb: 'service',
        kind: 'service',
        resumes: { run, from: 1 },
        steps: [
          expect.objectContaining({
            index: 0,
            step: 'attach_virtual_media',
            args: { image_url: 'https://images.example.org/a.iso' },
            timeoutMs: 60_000,
            on_failure: 'park',
          }),
          expect.objectContaining({ index: 1, step: 'reset_bmc' }),
        ],
      }),
    ]);
  });

  test('may be taken up from another step, and from none that it does not have', async () => {
    const run = await serviceRun('failed', 1);
    expect((await rerun(run, { from: 2 })).status).toBe(202);
    expect(at.api.runs.started[0]!.steps.map(({ step }) => step)).toEqual(['reset_bmc']);
    const reply = await rerun(run, { from: 3 });
    expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('from')]);
  });

  test.each([
    ['succeeded', /is succeeded; only a run that failed/],
    ['running', /is running; only a run that failed/],
  ])('is not one that %s', async (state, says) => {
    const reply = await rerun(await serviceRun(state, 1));
    expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringMatching(says)]);
    expect(at.asked()).toBe(0);
  });

  test.each([
    // columns                             status says
    [{ reservation: holder }, 409, /busy/],
    [{ provision_state: 'available' }, 400, /while it is in state "available"/],
    [
      { maintenance: true },
      400,
      /Rule baremetal:node:clear_maintenance lets you end it: `baremetal node maintenance unset /,
    ],
    [{ provision_state: 'clean failed', maintenance: true }, 400, /clear_maintenance lets you end it/],
    [{ conductor_group: 'nowhere' }, 503, /No worker/],
    [{ driver_info: {} }, 400, /redfish_address is missing/],
  ])('waits for a node that can: %j', async (columns, status, says) => {
    const run = await serviceRun('failed', 1);
    const { driver_info, ...plain } = { driver_info: undefined, ...columns };
    await at.set({
      provision_state: 'service failed',
      ...plain,
      ...(driver_info && { driver_info: at.api.sql.json({}) }),
    });
    const reply = await rerun(run);
    expect([reply.status, faultOf(reply)]).toEqual([status, expect.stringMatching(says)]);
    expect(at.asked()).toBe(0);
  });

  test('is asked of the rules anew: what may not be run now is not taken up either', async () => {
    const run = await serviceRun('failed', 1);
    at.api.setPolicy({ set: 'temper', overrides: { 'baremetal:step:execute:management.reset_bmc': '!' } });
    try {
      expect((await rerun(run)).status).toBe(403);
    } finally {
      at.api.setPolicy({ set: 'temper' });
    }
    const { settings } = at.api.rooms;
    Object.assign(settings, { disallowedSteps: ['management.reset_bmc'] });
    try {
      expect((await rerun(run)).status).toBe(400);
    } finally {
      Object.assign(settings, { disallowedSteps: ['vendor.send_raw'] });
    }
    await onlyFrom('https://elsewhere.example.org', async () => {
      expect(faultOf(await rerun(run))).toContain('Nothing is fetched from https://images.example.org');
    });
    expect(at.asked()).toBe(0);
  });

  test.each([
    ['operator', 202],
    ['owner-admin', 202],
    ['lessee-member', 403],
    ['owner-reader', 403],
    ['stranger-admin', 404],
  ] as const)('of free steps, asked by %s, is %s', async (who, status) => {
    expect((await rerun(await serviceRun('failed', 1), {}, who)).status).toBe(status);
  });
});

describe('a failed run, by what has changed since,', () => {
  test('with steps on child nodes is not taken up where one of them is left', async () => {
    const on = { node_uuid: holder as NodeUuid, name: 'dpu', conductor_group: '' };
    const onChild = (steps: PlannedStep[]) => steps.map((step) => (step.index === 1 ? { ...step, on } : step));
    const run = await serviceRun('failed', 1, { plan: onChild });
    const reply = await rerun(run);
    expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringMatching(/child nodes; ask for them again/)]);
    expect(at.asked()).toBe(0);
    expect((await rerun(run, { from: 2 })).status).toBe(202);
  });

  test('of free steps is taken up with what a retry gave, and one of a runbook with what was approved', async () => {
    const typed = { image_url: 'https://images.example.org/typed.iso' };
    const overwrite = (run: string) =>
      at.api.sql`update run_steps set args = ${at.api.sql.json(typed)} where run_id = ${run} and index = 1`;
    const free = await serviceRun('failed', 1);
    await overwrite(free);
    await rerun(free);
    expect(at.api.runs.started.at(-1)!.steps[0]!.args).toEqual(typed);
    await at.set({ provision_state: 'service failed' });
    const runbook = await approved();
    const bound = await serviceRun('failed', 1, { runbook });
    await overwrite(bound);
    expect((await rerun(bound, {}, 'lessee-member')).status).toBe(202);
    const order = at.api.runs.started.at(-1)!;
    expect([order.runbook!.uuid, order.steps.map(({ args }) => args)]).toEqual([runbook.uuid, [given[1]!.args, {}]]);
  });

  test('is taken up while its secrets are kept, and not after', async () => {
    const sealedPlan = (steps: PlannedStep[]) =>
      steps.map((step) => (step.index === 1 ? { ...step, args: { image_url: { $secret: secret.id } } } : step));
    const { secrets } = at.api.rooms.vault.seal({ password: 'hunter2' }, ofRun(randomUUID()));
    const secret = secrets[0]!;
    const run = await serviceRun('failed', 1, { plan: sealedPlan });
    const without = await rerun(run);
    expect([without.status, faultOf(without)]).toEqual([409, expect.stringMatching(/give the steps again/)]);
    expect((await rerun(run, { from: 2 })).status).toBe(202);
    await at.api.inventory.secrets.insert([{ ...secret, holder_id: run }]);
    expect((await rerun(run)).status).toBe(202);
  });

  test.each([
    ['failed', "now() - interval '6 days'", 1],
    ['aborted', "now() - interval '6 days'", 1],
    ['aborted', "now() - interval '8 days'", 0],
    ['succeeded', 'now()', 0],
  ])('%s %s keeps its secrets: %s', async (state, ended, left) => {
    const { inventory, sql, rooms } = at.api;
    const run = await serviceRun('failed', 1);
    await inventory.secrets.insert(rooms.vault.seal({ password: 'hunter2' }, ofRun(run)).secrets);
    await sql`update runs set state = ${state}, finished_at = ${sql.unsafe(ended)} where id = ${run}`;
    await inventory.secrets.sweep();
    expect(await sql`select 1 from secrets where holder_id = ${run}`).toHaveLength(left);
  });

  test.each([[{}], [{ reason: '' }], [{ reason: 'x', from: -1 }], [{ reason: 'x', colour: 'red' }]])(
    'needs a reason and nothing strange: %j',
    async (body) => {
      const run = await serviceRun('failed', 1);
      expect((await at.api.as('operator', 'POST', `/temper/v1/runs/${run}/rerun`, { body })).status).toBe(400);
    },
  );
});

describe('a parked step', () => {
  const args = { image_url: 'https://images.example.org/b.iso' };

  test('is tried again with other arguments', async () => {
    const run = await serviceRun('parked', 1);
    expect((await retry(run, args)).status).toBe(202);
    expect(at.api.runs.operated).toEqual([expect.objectContaining({ act: 'retry', run, cursor: 1, args })]);
  });

  test.each([
    ['retry', 1, { image_url: 7 }, 400, /argument image_url must be/],
    ['retry', 1, {}, 400, /argument image_url is missing/],
    ['retry', 1, { ...args, colour: 'red' }, 400, /unexpected argument colour/],
    ['retry', 1, { image_url: { $secret: holder } }, 400, /reserved/],
    ['skip', 1, args, 400, /only possible with retry, not with skip/],
  ])('%s at step %s with %j is %s', async (act, cursor, wrong, status, says) => {
    const reply = await retry(await serviceRun('parked', cursor), wrong, 'operator', act);
    expect([reply.status, faultOf(reply)]).toEqual([status, expect.stringMatching(says)]);
    expect(at.api.runs.operated).toEqual([]);
  });

  test('is the one that the caller names, where the run has gone on', async () => {
    const run = await serviceRun('parked', 2);
    const of = (step: number, wanted: object) =>
      at.api.as('operator', 'POST', `/temper/v1/runs/${run}/retry`, { body: { reason: 'a test', step, args: wanted } });
    expect((await of(1, { seconds: 5 })).status).toBe(400);
    expect((await of(2, args)).status).toBe(400);
    expect((await of(7, args)).status).toBe(400);
    expect(at.api.runs.operated).toEqual([]);
    expect((await of(1, args)).status).toBe(202);
    expect(at.api.runs.operated).toEqual([expect.objectContaining({ cursor: 1, args })]);
  });

  test('fetches nothing from where the operator allows nothing', async () => {
    const run = await serviceRun('parked', 1);
    await onlyFrom('https://elsewhere.example.org', async () => {
      const reply = await retry(run, args);
      expect([reply.status, faultOf(reply)]).toEqual([400, expect.stringContaining('TEMPER_IMAGE_ORIGINS')]);
    });
    expect(at.api.runs.operated).toEqual([]);
  });

  test.each([
    ['operator', 202],
    ['owner-admin', 202],
    ['lessee-member', 403],
    ['stranger-admin', 404],
  ] as const)('gets other arguments from %s: %s', async (who, status) => {
    expect((await retry(await serviceRun('parked', 1), args, who)).status).toBe(status);
  });
});
