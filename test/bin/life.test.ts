/** Processes with good settings start, say so, and end cleanly when they are asked to. */
import { once } from 'node:events';
import { createServer, get, request } from 'node:http';
import { type AddressInfo, connect, createServer as createSilentServer } from 'node:net';
import { until } from '../../demo/nodes';
import { gentleEnd } from '../../src/process/listen';
import { type Env, endAll, good, start } from './support/entries';

afterEach(endAll);

test.each<[string, string, Env]>([
  ['api', 'api', good.api],
  ['api on localhost', 'api', { ...good.api, TEMPER_API_HOST: 'localhost' }],
  [
    'api for others, on demand',
    'api',
    { ...good.api, TEMPER_API_HOST: '0.0.0.0', TEMPER_NOAUTH_BEYOND_LOOPBACK: 'true' },
  ],
  ['boot', 'boot', good.boot],
  ['console', 'console', good.console],
  ['demo-identity', 'demo-identity', good['demo-identity']],
])('%s becomes ready, and ends with status 0 at SIGTERM', async (_, command, env) => {
  const { child, ended, says } = start(command, { ...env, TEMPER_HEALTH_PORT: '0' });
  await says('"message":"ready"');
  const { port } = JSON.parse(await says('"message":"health"'));
  expect(await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()).toEqual({ alive: true });
  child.kill('SIGTERM');
  const { status, out, err } = await ended;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toContain('"why":"SIGTERM"');
});

test.each([
  ['says nothing', ''],
  ['stops amid its headers', 'GET /v1 HTTP/1.1\r\nHost: x\r\n'],
])('a client that %s does not keep the api from ending', async (_, words) => {
  const { child, ended, says } = start('api', good.api);
  await says('"message":"ready"');
  const { port } = JSON.parse(await says('"message":"listening"'));
  const client = connect(port, '127.0.0.1').on('error', () => {});
  await once(client, 'connect');
  client.write(words);
  // A connection is known to be served when one that came later was answered.
  await fetch(`http://127.0.0.1:${port}/`);
  child.kill('SIGTERM');
  expect((await ended).status).toBe(0);
  client.destroy();
});

test('an API whose database is away is alive, and says why it is not ready; its metrics count what it answers', async () => {
  const { says } = start('api', { ...good.api, TEMPER_HEALTH_PORT: '0' });
  await says('"message":"ready"');
  const { port } = JSON.parse(await says('"message":"listening"'));
  const health = `http://127.0.0.1:${JSON.parse(await says('"message":"health"')).port}`;
  const ready = await fetch(`${health}/readyz`);
  expect([ready.status, (await ready.json()).reason]).toEqual([503, expect.stringContaining('ECONNREFUSED')]);
  expect((await fetch(`${health}/healthz`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/v1`)).status).toBe(200);
  // A request is counted when its answer has left, which its reader may know first.
  const counted = /^temper_api_request_seconds_count\{.*process="api".*\} 1$/m;
  await until(
    'the request to be counted',
    60_000,
    async () => counted.test(await (await fetch(`${health}/metrics`)).text()) || undefined,
  );
});

test('SIGTERM ends an API that waits for its database before it listens', async () => {
  const silent = createSilentServer().listen(0, '127.0.0.1');
  try {
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const waits = once(silent, 'connection');
    const { child, ended } = start('api', {
      ...good.api,
      TEMPER_DATABASE_URL: `postgres://temper@127.0.0.1:${port}/temper`,
      TEMPER_CLEANING_RUNBOOKS: '*=CUSTOM_ERASE',
    });
    await Promise.race([waits, ended]);
    child.kill('SIGTERM');
    const { status, err } = await ended;
    expect({ status, err }).toEqual({ status: 0, err: '' });
  } finally {
    silent.close();
  }
});

test('a request that is under way at SIGTERM is answered before the API ends', async () => {
  const { child, ended, says } = start('api', good.api);
  const { port } = JSON.parse(await says('"message":"listening"'));
  const headers = { 'content-type': 'application/json', 'content-length': '2', expect: '100-continue' };
  const asked = request({ host: '127.0.0.1', port, path: '/v1/nodes', method: 'POST', headers });
  asked.flushHeaders();
  await once(asked, 'continue');
  child.kill('SIGTERM');
  await says('"why":"SIGTERM"');
  asked.end('{}');
  const [answer] = await once(asked, 'response');
  answer.resume();
  expect([answer.statusCode, (await ended).status]).toEqual([400, 0]);
});

test('a request that is under way is answered before the server ends', async () => {
  const server = createServer();
  const end = gentleEnd(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = once(server, 'request');
  const answered = once(get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' }), 'response');
  const [, response] = await asked;
  const over = end();
  response.end('done');
  const [answer] = await answered;
  answer.resume();
  expect(answer.statusCode).toBe(200);
  await over;
});

test('a request that is never answered ends with the grace', async () => {
  const server = createServer();
  const end = gentleEnd(server, 1);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const broken = once(request, 'error');
  request.on('response', () => {});
  await once(server, 'request');
  await end();
  expect(((await broken)[0] as NodeJS.ErrnoException).code).toBe('ECONNRESET');
});

test('what is wrong at run time is logged and not called a fault of the settings', async () => {
  // Nothing answers at the store, which may be back at the next start.
  const { status, out, err } = await start('worker bmc', good.bmc).ended;
  expect(status).toBe(1);
  expect(out).toContain('"message":"failed"');
  expect(err).not.toContain('cannot start');
});
