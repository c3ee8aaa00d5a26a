/** Ramdisks at an address of their own are served by a thread of their own: what happens to it does not happen to the API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Entry, endAll, good, start } from './support/entries';

const hook = join(__dirname, 'support/hold.js');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'temper-hold-'));
});
afterEach(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

const release = () => writeFileSync(join(folder, 'release'), '');
const portIn = (line: string): number => JSON.parse(line).port;

type Started = { readonly api: Entry; readonly ours: string; readonly theirs: string };

const started = async (env: Readonly<Record<string, string>> = {}): Promise<Started> => {
  const api = start('api', {
    ...good.api,
    TEMPER_RAMDISK_LISTEN: '127.0.0.1:0',
    NODE_OPTIONS: `--require ${hook}`,
    HOLD_FILE: join(folder, 'release'),
    ...env,
  });
  const at = async (text: string) => `http://127.0.0.1:${portIn(await api.says(text))}`;
  const theirs = await at('"message":"listening for ramdisks"');
  return { api, theirs, ours: await at('"message":"listening"') };
};

// The store is away: 503 is said by a handler that was reached.
const lookup = (base: string, more = ''): Promise<number> =>
  fetch(`${base}/v1/lookup?addresses=52:54:00:00:00:01${more}`, {
    headers: { 'x-openstack-ironic-api-version': '1.22' },
  }).then(({ status }) => status);

test('while requests of ramdisks hold their listener, callers of the API are answered', async () => {
  const { api, ours, theirs } = await started({ TEMPER_HEALTH_PORT: '0' });
  const health = `http://127.0.0.1:${portIn(await api.says('"message":"health"'))}`;
  const held = lookup(theirs, '&node_uuid=hold');
  await api.says('held');
  expect((await fetch(`${ours}/v1`)).status).toBe(200);
  expect((await fetch(`${health}/metrics`)).status).toBe(200);
  release();
  // A listener of the same thread answers as well, but not before the thread has given up by itself.
  expect(await api.says('released by')).toBe('released by the test');
  expect(await held).toBe(400);
});

test('an API that is asked to end waits for what the listener of ramdisks is answering', async () => {
  const { api, theirs } = await started();
  const held = lookup(theirs, '&node_uuid=hold').catch(() => 'cut off');
  await api.says('held');
  api.child.kill('SIGTERM');
  await api.says('"why":"SIGTERM"');
  release();
  expect([(await api.ended).status, await held]).toEqual([0, 400]);
});

test('a listener of ramdisks that crashes is started again at its port, and the API goes on', async () => {
  const { api, ours, theirs } = await started();
  await lookup(theirs, '&node_uuid=crash').catch(() => {});
  await api.says('"message":"the listener of ramdisks ended, it is started again"');
  expect((await fetch(`${ours}/v1`)).status).toBe(200);
  const served = () => lookup(theirs).catch(() => 'away');
  let status = await served();
  while (status === 'away') status = await served();
  expect([status, api.child.exitCode]).toEqual([503, null]);
});

test('requests of ramdisks are counted among the metrics of the API, under a process of their own', async () => {
  const { api, theirs } = await started({ TEMPER_HEALTH_PORT: '0' });
  const health = `http://127.0.0.1:${portIn(await api.says('"message":"health"'))}`;
  expect(await lookup(theirs)).toBe(503);
  const text = await (await fetch(`${health}/metrics`)).text();
  const lines = text.split('\n');
  const counted = lines.filter((line) => line.startsWith('temper_api_request_seconds_count'));
  expect(counted).toEqual([expect.stringContaining('process="api-ramdisks"')]);
  expect(lines.filter((line) => line.startsWith('# TYPE temper_api_request_seconds '))).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith('process_start_time_seconds'))).toHaveLength(1);
});
