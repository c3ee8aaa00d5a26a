/** The outlook on a run, and since when it waits: what its page is made of. */
import type { RunUuid } from '../../src/model/ids';
import { startTestApi, type TestApi } from '../support/api';
import { runningRun } from '../support/happenings';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

test('a step is expected to take the median of its like on nodes of the same model', async () => {
  const steps = async (model: string, seconds: readonly number[]): Promise<RunUuid> => {
    const { node, run } = await runningRun(api);
    await api.sql`update nodes set properties = ${api.sql.json({ vendor: 'Acme', model })} where uuid = ${node}`;
    for (const [index, took] of seconds.entries())
      await api.sql`
        insert into run_steps (run_id, index, interface, step, state, started_at, finished_at)
        values (${run}, ${index}, 'bios', 'factory_reset', 'done', now() - ${took} * interval '1 second', now())`;
    return run;
  };
  await steps('R1', [10, 20, 90]);
  await steps('R2', [1_000]);
  const { node, run } = await runningRun(api);
  await api.sql`update nodes set properties = '{"vendor": "Acme", "model": "R1"}' where uuid = ${node}`;
  await api.sql`insert into run_steps (run_id, index, interface, step) values (${run}, 0, 'bios', 'factory_reset'), (${run}, 1, 'raid', 'delete')`;
  expect(await api.inventory.stepDurations.ofRun(run)).toEqual({ waiting_since: null, expected_ms: { 0: 20_000 } });
});

test('a run says since when it waits for the same thing', async () => {
  const { run } = await runningRun(api);
  const since = async () => (await api.inventory.stepDurations.ofRun(run)).waiting_since?.getTime();
  await api.sql`update runs set waiting_for = 'the ramdisk' where id = ${run}`;
  const first = await since();
  expect(first).toEqual(expect.any(Number));
  await api.sql`update runs set waiting_for = 'the ramdisk', updated_at = now() where id = ${run}`;
  expect(await since()).toBe(first);
  await api.sql`update runs set waiting_for = null where id = ${run}`;
  expect(await since()).toBeUndefined();
});

test('a run’s page shows its phase, since when it waits, and what its steps are expected to take', async () => {
  const { node, run } = await runningRun(api, { waiting_for: null });
  await api.sql`insert into run_steps (run_id, index, interface, step, state) values (${run}, 0, 'power', 'reboot', 'running')`;
  const see = async () => (await api.as('operator', 'GET', `/temper/v1/runs/${run}`)).body;
  expect(await see()).toMatchObject({ phase: 'acting', waiting_since: null, steps: [{ expected_ms: null }] });
  await api.sql`update runs set state = 'waiting', waiting_for = 'the ramdisk' where id = ${run}`;
  expect(await see()).toMatchObject({ phase: 'waiting', waiting_since: expect.stringMatching(/Z$/) });
  await api.sql`update runs set state = 'failed', waiting_for = null, finished_at = now() where id = ${run}`;
  expect(await see()).toMatchObject({ phase: 'ended', waiting_since: null });
  const list = await api.as('operator', 'GET', `/temper/v1/nodes/${node}/runs`);
  expect(list.body.runs).toMatchObject([{ uuid: run, phase: 'ended' }]);
});
