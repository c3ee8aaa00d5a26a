/** Processes with good settings start, say so, and end cleanly when they are asked to. */
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
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
