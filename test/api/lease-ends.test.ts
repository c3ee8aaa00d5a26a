/** A lease that ends in mid-run: the run is the owner's, and neither the former lessee nor a new one has any part in it. */
import { faultOf, startTestApi, type TestApi } from '../support/api';
import { happened, runningRun, type SeenRun } from '../support/happenings';
import { lessee, type Persona, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());
afterEach(() => api.setPolicy({ set: 'temper' }));

const args = { image: 'of-the-former-lessee' };
const step = { interface: 'deploy', step: 'burn_in', args };

/** A run in its first step, waiting for a ramdisk, on a node whose lease then goes to another project, or to none. */
const leftBehind = async (next: string | null = stranger): Promise<SeenRun> => {
  const seen = await runningRun(api, { state: 'waiting' });
  await api.sql`
    update nodes set reservation = ${seen.run}, provision_state = 'service wait', target_provision_state = 'active',
      service_step = ${api.sql.json(step)}, last_error = 'an earlier error' where uuid = ${seen.node}`;
  await api.sql`
    insert into run_steps (run_id, index, interface, step, args, state)
    values (${seen.run}, 0, 'deploy', 'burn_in', ${api.sql.json(args)}, 'running')`;
  await happened(api, seen, 'run.accepted', { steps: [step] });
  await happened(api, seen, 'step.tried', { attempt: 1, error: 'an earlier error' });
  await api.sql`update nodes set lessee = ${next} where uuid = ${seen.node}`;
  return seen;
};

const get = (who: Persona, path: string) => api.as(who, 'GET', path);
const abort = (who: Persona, { run }: SeenRun) =>
  api.as(who, 'POST', `/temper/v1/runs/${run}/abort`, { body: { reason: 'enough' } });
const provision = (who: Persona, { node }: SeenRun, target: string) =>
  api.as(who, 'PUT', `/v1/nodes/${node}/states/provision`, { body: { target } });

describe.each([
  ['the former lessee', 'lessee-admin'],
  ['a new lessee', 'stranger-admin'],
] as const)('%s', (_name, who) => {
  test.each(['', '/events'])('does not see the run%s, as if there were none', async (suffix) => {
    const { run } = await leftBehind();
    const never = '3f2b1d4c-5a69-4788-9c01-2d3e4f506172';
    const [hidden, missing] = [
      await get(who, `/temper/v1/runs/${run}${suffix}`),
      await get(who, `/temper/v1/runs/${never}${suffix}`),
    ];
    expect([hidden.status, missing.status]).toEqual([404, 404]);
    expect(hidden.text.replaceAll(run, never)).toBe(missing.text);
  });

  test('finds it in no list', async () => {
    const { node, run } = await leftBehind();
    const open = await get(who, '/temper/v1/runs');
    expect(open.text).not.toContain(run);
    const ofNode = await get(who, `/temper/v1/nodes/${node}/runs`);
    expect(ofNode.text).not.toContain(run);
  });

  test.each(['abort', 'pause', 'resume', 'retry', 'skip', 'fail', 'rerun'])('does not %s it', async (act) => {
    const { run } = await leftBehind();
    const before = api.runs.operated.length;
    const reply = await api.as(who, 'POST', `/temper/v1/runs/${run}/${act}`, { body: { reason: 'x' } });
    expect([reply.status, api.runs.operated.length]).toEqual([404, before]);
  });
});

test('the owner sees the run with its arguments, and ends it', async () => {
  for (const next of [stranger, null]) {
    const seen = await leftBehind(next);
    const reply = await get('owner-reader', `/temper/v1/runs/${seen.run}`);
    expect([reply.status, reply.body.steps[0].args]).toEqual([200, args]);
    expect((await abort('owner-member', seen)).status).toBe(202);
    expect(api.runs.operated.at(-1)).toMatchObject({ run: seen.run, act: 'abort' });
  }
});

test('the lessee ends the run while the lease lasts', async () => {
  const seen = await runningRun(api);
  expect((await abort('lessee-member', seen)).status).toBe(202);
});

describe('by the verbs of a node', () => {
  test.each(['abort', 'deleted'])('%s of a new lessee meets a busy node, and the run is not notified', async (verb) => {
    const seen = await leftBehind();
    const [sent, started] = [api.runs.sent.length, api.runs.started.length];
    const state = verb === 'abort' ? 'service wait' : 'wait call-back';
    await api.sql`update nodes set provision_state = ${state} where uuid = ${seen.node}`;
    const reply = await provision('stranger-admin', seen, verb);
    expect([reply.status, faultOf(reply)]).toEqual([409, expect.stringMatching(/busy|locked/i)]);
    expect([api.runs.sent.length, api.runs.started.length]).toEqual([sent, started]);
  });

  test('the owner aborts it, and so does a lessee whose lease lasts', async () => {
    const seen = await leftBehind();
    expect((await provision('owner-member', seen, 'abort')).status).toBe(202);
    expect(api.runs.sent.at(-1)).toMatchObject({ kind: 'abort', node: { uuid: seen.node } });
    const own = await runningRun(api, { state: 'waiting' });
    await api.sql`update nodes set reservation = ${own.run}, provision_state = 'service wait' where uuid = ${own.node}`;
    expect((await provision('lessee-manager', own, 'abort')).status).toBe(202);
  });
});

describe('a new lessee sees of the node', () => {
  test.each(['', '?fields=service_step,uuid'])(
    'not the step that is going on%s, which the owner sees',
    async (query) => {
      const { node } = await leftBehind();
      expect((await get('stranger-admin', `/v1/nodes/${node}${query}`)).body.service_step).toEqual({});
      expect((await get('owner-reader', `/v1/nodes/${node}${query}`)).body.service_step).toEqual(step);
      expect((await get('system-reader', `/v1/nodes/${node}${query}`)).body.service_step).toEqual(step);
    },
  );

  test('nor in a list', async () => {
    const { node } = await leftBehind();
    const listed = await get('stranger-admin', '/v1/nodes/detail');
    expect(listed.status).toBe(200);
    expect(listed.body.nodes.some(({ uuid }: { uuid: string }) => uuid === node)).toBe(true);
    expect(listed.text).not.toContain(args.image);
  });

  test('the step of a run of its own', async () => {
    const own = await runningRun(api);
    await api.sql`
      update nodes set reservation = ${own.run}, service_step = ${api.sql.json(step)} where uuid = ${own.node}`;
    expect((await get('lessee-reader', `/v1/nodes/${own.node}`)).body.service_step).toEqual(step);
  });

  test('no error from before its lease, and those of its own runs', async () => {
    const { node } = await leftBehind();
    const error = async (who: Persona) => (await get(who, `/v1/nodes/${node}/states`)).body.last_error;
    expect(await error('stranger-admin')).toBeNull();
    expect(await error('owner-reader')).toBe('an earlier error');
    const own = await runningRun(api);
    await api.sql`update nodes set last_error = 'its own' where uuid = ${own.node}`;
    const { body } = await get('lessee-reader', `/v1/nodes/${own.node}/states`);
    expect(body.last_error).toBe('its own');
  });

  test('no history from before its lease, where an operator lets lessees read history', async () => {
    const rule = 'role:reader and (project_id:%(node.owner)s or project_id:%(node.lessee)s)';
    api.setPolicy({ set: 'temper', overrides: { 'baremetal:node:history:get': rule } });
    const seen = await leftBehind();
    await happened(api, seen, 'step.parked', { index: 0, error: 'of the old run, in the new lease' });
    await happened(api, { node: seen.node, run: null }, 'node.moved', { from: 'active', to: 'manageable' });
    const history = async (who: Persona) => {
      const { body } = await get(who, `/v1/nodes/${seen.node}/history?detail=true`);
      return body.history as { uuid: string; event: string }[];
    };
    const all = await history('owner-reader');
    expect(all).toHaveLength(4);
    expect(await history('stranger-admin')).toEqual([all[3]]);
    const one = await get('stranger-admin', `/v1/nodes/${seen.node}/history/${all[0]!.uuid}`);
    expect(one.status).toBe(404);
    const marker = await get('stranger-admin', `/v1/nodes/${seen.node}/history?marker=${all[0]!.uuid}`);
    expect(marker.status).toBe(404);
  });
});

test('how long the node stood in its state before the lease is not told where an operator lets lessees read history', async () => {
  const rule = 'role:reader and (project_id:%(node.owner)s or project_id:%(node.lessee)s)';
  api.setPolicy({ set: 'temper', overrides: { 'baremetal:node:history:get': rule } });
  const seen = await leftBehind();
  const moved = { node: seen.node, run: null };
  await happened(api, seen, 'run.succeeded', { from: 'servicing', to: 'active' });
  await happened(api, moved, 'node.moved', { from: 'active', to: 'manageable' });
  await happened(api, moved, 'node.moved', { from: 'manageable', to: 'available' });
  const durations = async (who: Persona) => {
    const { body } = await get(who, `/v1/nodes/${seen.node}/history?detail=true`);
    const rows = body.history.slice(-2) as { uuid: string; duration_seconds: number | null }[];
    const one = await get(who, `/v1/nodes/${seen.node}/history/${rows[0]!.uuid}`);
    return [...rows, one.body].map(({ duration_seconds }) => typeof duration_seconds);
  };
  const [known, unknown] = ['number', typeof null];
  expect(await durations('owner-reader')).toEqual([known, known, known]);
  expect(await durations('stranger-admin')).toEqual([unknown, known, unknown]);
});

test('a project that leases the node again does not get its old run back', async () => {
  const seen = await leftBehind(null);
  await api.sql`update nodes set lessee = ${lessee} where uuid = ${seen.node}`;
  expect((await get('lessee-admin', `/temper/v1/runs/${seen.run}`)).status).toBe(404);
  expect((await abort('lessee-admin', seen)).status).toBe(404);
  expect((await provision('lessee-manager', seen, 'abort')).status).toBe(409);
});
