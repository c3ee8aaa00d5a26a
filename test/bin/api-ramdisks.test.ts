/** An address of ramdisks is served by a process of its own: what happens to it does not happen to the API. */
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

/** Both processes have these settings. */
const settings = () => ({
  ...good.api,
  TEMPER_RAMDISK_LISTEN: '127.0.0.1:0',
  TEMPER_HEALTH_PORT: '0',
  NODE_OPTIONS: `--require ${hook}`,
  HOLD_FILE: join(folder, 'release'),
});

const urlIn = async (entry: Entry, message: string): Promise<string> =>
  `http://127.0.0.1:${JSON.parse(await entry.says(`"message":"${message}"`)).port}`;

// The store is away: 503 is said by a handler that was reached.
const [served, refused] = [503, 403];

const lookup = (base: string, more = ''): Promise<number> =>
  fetch(`${base}/v1/lookup?addresses=52:54:00:00:00:01${more}`, {
    headers: { 'x-openstack-ironic-api-version': '1.22' },
  }).then(({ status }) => status);

test('ramdisks have an address where nothing else is served, and the API refuses them', async () => {
  const [api, ramdisks] = [start('api', settings()), start('api ramdisks', settings())];
  const [ours, theirs] = [await urlIn(api, 'listening'), await urlIn(ramdisks, 'listening')];
  expect([await lookup(theirs), await lookup(ours)]).toEqual([served, refused]);
  expect((await fetch(`${theirs}/v1`)).status).toBe(200);
  expect((await fetch(`${theirs}/v1/nodes`)).status).toBe(404);
});

test('while requests of ramdisks hold their process, callers of the API are answered', async () => {
  const [api, ramdisks] = [start('api', settings()), start('api ramdisks', settings())];
  const [ours, theirs] = [await urlIn(api, 'listening'), await urlIn(ramdisks, 'listening')];
  const held = lookup(theirs, '&node_uuid=hold');
  await ramdisks.says('held');
  expect((await fetch(`${ours}/v1`)).status).toBe(200);
  expect((await fetch(`${await urlIn(api, 'health')}/metrics`)).status).toBe(200);
  release();
  // An API that ramdisks hold answers as well, but not before its process has given up by itself.
  expect(await ramdisks.says('released by')).toBe('released by the test');
  expect(await held).toBe(400);
});

test('it has health and metrics of its own', async () => {
  const ramdisks = start('api ramdisks', settings());
  expect(await lookup(await urlIn(ramdisks, 'listening'))).toBe(served);
  const health = await urlIn(ramdisks, 'health');
  const ready = await fetch(`${health}/readyz`);
  expect([ready.status, (await ready.json()).reason]).toEqual([503, expect.stringContaining('ECONNREFUSED')]);
  const lines = (await (await fetch(`${health}/metrics`)).text()).split('\n');
  expect(lines.filter((line) => line.startsWith('temper_api_request_seconds_count'))).toEqual([
    expect.stringContaining('process="api-ramdisks"'),
  ]);
});

test.each(['off', 'api', undefined, '192.0.2.7:6386'])(
  'TEMPER_RAMDISK_LISTEN=%s is a fault of its setting',
  async (at) => {
    const { status, err } = await start('api ramdisks', { ...good.api, ...(at && { TEMPER_RAMDISK_LISTEN: at }) })
      .ended;
    expect([status, err]).toEqual([78, expect.stringContaining('TEMPER_RAMDISK_LISTEN: ')]);
  },
);

test('another role is no role of the API', async () => {
  const { status, err } = await start('api ramdisk', good.api).ended;
  expect([status, err]).toEqual([64, 'usage: api [ramdisks]\n']);
});
