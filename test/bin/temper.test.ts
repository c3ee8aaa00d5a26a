/** The `temper` command as a process: its exit statuses, and what it says of settings that the environment holds. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateIn } from '../../emulator/rack/certificate';
import { nowhere } from '../cli/support/double';
import { endAll, run } from './support/entries';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'temper-command-'));
});
afterAll(() => rmSync(dir, { recursive: true }));
afterEach(endAll);

test.each([
  ['temper --help', 0],
  ['temper', 2],
  ['temper runs list', 2],
  ['temper replay a.b', 2],
])('`%s` without settings ends with %d', async (command, status) => {
  expect((await run(command, {})).status).toBe(status);
});

test('says the version of its package', async () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string };
  expect(await run('temper --version', {})).toEqual({ status: 0, out: `temper ${version}\n`, err: '' });
});

test('doctor names every part that is away, without a password', async () => {
  const file = join(dir, 'policy.yaml');
  writeFileSync(file, '"temper:run:get": "nonsense"\n');
  const { host } = new URL(await nowhere());
  const { status, out } = await run('temper doctor', {
    TEMPER_URL: `http://${host}`,
    TEMPER_DATABASE_URL: `postgres://temper:hunter2@${host}/temper`,
    TEMPER_TEMPORAL_ADDRESS: host,
    TEMPER_POLICY_FILE: file,
  });
  expect(status).toBe(1);
  for (const name of ['API', 'access', 'workers', 'database', 'clock', 'Temporal', 'control workers', 'policy'])
    expect(out).toMatch(new RegExp(`^FAILED +${name}: .+\n +-> .+$`, 'm'));
  expect(out).not.toContain('hunter2');
});

test('doctor names settings that cannot be read', async () => {
  const { out } = await run('temper doctor', { TEMPER_URL: await nowhere(), TEMPER_TEMPORAL_ADDRESS: 'no port' });
  expect(out).toMatch(/^FAILED +settings: .*TEMPER_TEMPORAL_ADDRESS must be host:port/m);
});

test('a file that says whom to trust must be there', async () => {
  const { status, err } = await run('temper runs list', {
    TEMPER_URL: 'https://127.0.0.1:1',
    OS_CACERT: join(dir, 'none'),
  });
  expect(status).toBe(2);
  expect(err).toContain('whom to trust');
});

test('an API behind TLS is believed for a certificate that OS_CACERT names, and for no other', async () => {
  const { key, cert } = await certificateIn(dir, '127.0.0.1');
  const server = createServer({ key, cert }, (_, response) => response.end('{"runs": []}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const env = { TEMPER_URL: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const believing = { ...env, OS_CACERT: join(dir, 'rack-cert.pem') };
  const trusting = await run('temper runs list', believing);
  // Node 26's own fetch refuses an agent of the undici that is installed here.
  const preload = join(dir, 'newer-fetch.js');
  writeFileSync(
    preload,
    `const own = fetch;
     globalThis.fetch = (input, init) =>
       init?.dispatcher ? Promise.reject(new TypeError('invalid onRequestStart method')) : own(input, init);`,
  );
  const newer = await run('temper runs list', { ...believing, NODE_OPTIONS: `--require ${preload}` });
  const careful = await run('temper runs list', env);
  server.closeAllConnections();
  server.close();
  expect(trusting).toEqual({ status: 0, out: 'No runs.\n', err: '' });
  expect(newer).toEqual(trusting);
  expect(careful.status).toBe(3);
  expect(careful.err).toContain('SELF_SIGNED');
});
