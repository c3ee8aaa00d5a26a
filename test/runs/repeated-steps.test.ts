/** One step twice in a runbook: run, followed, taken up and compared by its place, through the API and a real engine. */
import { raise } from '../../src/model/errors';
import { startTestApi, type TestApi } from '../support/api';
import { startEngineWorld, type World } from '../support/engine';
import { bmcWorker } from '../support/recording-driver';

let world: World;
let api: TestApi;
const { withActs } = bmcWorker(() => world);
beforeAll(async () => {
  world = await startEngineWorld();
  await world.control();
  api = await startTestApi({ database: world.database, runs: world.runs });
  await world.sql`
    insert into workers (hostname, drivers, role, updated_at) values ('w', '{fake-hardware}', 'bmc', now() + interval '1 day')`;
});
afterAll(async () => {
  await api?.close();
  await world?.close();
});

const as = async (method: string, path: string, body?: unknown) => {
  const reply = await api.as('operator', method, path, { body });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
  return reply.body;
};
const boot = (boot_device: string, order: number) => ({ interface: 'management', step: 'set_boot_device', order, args: { boot_device } }); // biome-ignore format: a row
const reboot = { interface: 'power', step: 'reboot', order: 2, args: {} };
const trait = 'CUSTOM_NETWORK_ONCE';

const runOf = async (node: string): Promise<string> =>
  (await as('GET', `/temper/v1/runs?node=${node}&state=any`)).runs[0].uuid;

test('a runbook boots from the network, restarts, and boots from the disk again', async () => {
  const devices: unknown[] = [];
  let diskFails = true;
  const calls = await withActs({
    set_boot_device: async (_node, { boot_device }) => {
      devices.push(boot_device);
      if (boot_device === 'disk' && diskFails) raise('StepRejected', { step: 'set_boot_device', reason: 'no disk' });
      return { is: 'done', note: `${boot_device}, for the next boot` };
    },
  });
  // Equal orders run as they stand in the list; another order comes first wherever it stands.
  const steps = [reboot, boot('disk', 2), boot('pxe', 1)];
  expect((await as('POST', '/temper/v1/runbooks/check', { steps })).findings).toEqual([]);
  const { uuid } = await as('POST', '/v1/runbooks', { name: trait, steps, public: true });
  const node = await world.node({ provision_state: 'active', name: 'twice' });
  await as('PUT', `/v1/nodes/${node}/traits/${trait}`);
  const service = { target: 'service', runbook: trait };
  const plan = await as('POST', `/temper/v1/nodes/${node}/plan`, service);
  expect(plan.steps.map(({ index, args }: { index: number; args: object }) => [index, args])).toEqual([
    [0, { boot_device: 'pxe' }],
    [1, {}],
    [2, { boot_device: 'disk' }],
  ]);
  await as('PUT', `/v1/nodes/${node}/states/provision`, service);
  const first = await runOf(node);
  expect(await world.ended(first as never)).toMatchObject({ state: 'failed', cursor: 2 });
  diskFails = false;
  await as('DELETE', `/v1/nodes/${node}/maintenance`);
  const { run: second } = await as('POST', `/temper/v1/runs/${first}/rerun`, { reason: 'the disk is in', from: 2 });
  expect(await world.ended(second)).toMatchObject({ state: 'succeeded', cursor: 1 });
  expect(devices).toEqual(['pxe', 'disk', 'disk']);

  await as('PUT', `/v1/nodes/${node}/states/provision`, service);
  const third = await runOf(node);
  expect(await world.ended(third as never)).toMatchObject({ state: 'succeeded', cursor: 3 });
  expect(calls.slice(-4)).toEqual(['set_boot_device', 'power_off', 'power_on', 'set_boot_device']);
  const shown = await as('GET', `/temper/v1/runs/${third}`);
  expect(shown.steps.map(({ step, state, note }: Record<string, unknown>) => [step, state, note])).toEqual([
    ['set_boot_device', 'done', 'pxe, for the next boot'],
    ['reboot', 'done', null],
    ['set_boot_device', 'done', 'disk, for the next boot'],
  ]);
  const events = await world.sql<{ data: Record<string, unknown> }[]>`
    select data from events where run_id = ${third} and kind = 'step.done' order by seq`;
  expect(events.map(({ data }) => [data.index, data.step])).toEqual([
    [0, 'management.set_boot_device'],
    [1, 'power.reboot'],
    [2, 'management.set_boot_device'],
  ]);

  await as('PATCH', `/v1/runbooks/${uuid}`, [{ op: 'replace', path: '/steps/2/args/boot_device', value: 'cdrom' }]);
  const { patch } = await as('GET', `/temper/v1/runbooks/${uuid}/revisions/2/diff`);
  expect(patch).toEqual([{ op: 'replace', path: '/steps/2/args/boot_device', value: 'cdrom' }]);
});
