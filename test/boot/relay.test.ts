/** What the boot service passes on to the API's listener for ramdisks, and what it keeps to itself: byte by byte, over real sockets. */
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { createRelay, isRelayed } from '../../src/boot';
import { linesAMinute } from '../../src/model/bounded-lines';
import { guardedServer } from '../../src/process/guarded-server';
import { listenOn } from '../support/listening';

type Received = { method: string; url: string; headers: IncomingMessage['headers']; names: string[]; body: string };

let received: Received[];
/** Requests whose headers have reached the API. */
let arrived: number;
let answering: (request: IncomingMessage, response: ServerResponse) => void;
const warned: unknown[] = [];
const servers: Server[] = [];

const patience = { headersMs: 60_000, requestMs: 300_000, keepAliveMs: 0, connections: 100, ofSender: 100 };
const bootServer = (listener: RequestListener): Server => guardedServer(patience, listener);

let apiPort: number;
beforeEach(async () => {
  received = [];
  arrived = 0;
  warned.length = 0;
  answering = (_, response) => response.writeHead(202, { 'x-from': 'api' }).end('taken');
  apiPort = await listenOn(servers, async (request, response) => {
    arrived += 1;
    const { method = '', url = '', headers, rawHeaders } = request;
    const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
    const body = await text(request).catch(() => 'cut off');
    received.push({ method, url, headers, names, body });
    answering(request, response);
  });
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

type Limits = { trusted?: boolean; atOnce?: number; ofOne?: number; answerMs?: number; api?: string };
const startRelay = async (given: Limits = {}) => {
  const { trusted = false, api = `http://127.0.0.1:${apiPort}`, ...limits } = given;
  const log = { info: () => {}, warn: (message: string) => warned.push(message) };
  const relay = createRelay({ api: new URL(api), trusts: () => trusted, log, ...limits });
  return listenOn(
    servers,
    (request, response) => {
      if (isRelayed(request.url)) return relay(request, response);
      request.resume();
      response.writeHead(404).end();
    },
    bootServer,
  );
};

/** The last request on a connection, which the server closes behind it. */
const last = 'GET /none HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

/** Sends bytes as they are, and reads until the server closes the connection. */
const raw = async (port: number, bytes: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += String(chunk);
  });
  socket.on('error', () => {});
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
};
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

test('what ramdisks ask reaches the API as they asked it, under the address that they have', async () => {
  const port = await startRelay();
  const reply = await fetch(`http://127.0.0.1:${port}/v1/heartbeat/11111111-2222-4333-8444-555555555555`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.68' },
    body: '{"agent_token":"t"}',
  });
  expect([reply.status, reply.headers.get('x-from'), await reply.text()]).toEqual([202, 'api', 'taken']);
  const [one] = received;
  expect(one).toMatchObject({ method: 'POST', body: '{"agent_token":"t"}' });
  expect(one!.url).toBe('/v1/heartbeat/11111111-2222-4333-8444-555555555555');
  expect(one!.headers).toMatchObject({
    host: `127.0.0.1:${port}`,
    'content-length': '19',
    'x-forwarded-for': '127.0.0.1',
    'x-openstack-ironic-api-version': '1.68',
    via: '1.1 temper-boot',
  });
});

test('no other path and no other method leads to the API', async () => {
  const port = await startRelay();
  const refused = {
    404: [
      'GET /v1/nodes',
      'GET /v1/lookup/',
      'GET /v1//lookup',
      'GET /v1/lookup/../nodes',
      'GET /v1/lookup%2f..%2fnodes',
      'GET /v1/lookup#/v1/nodes',
      'GET /v1/lookup?a=<b>',
      'POST /v1/heartbeat/',
      'POST /v1/heartbeat/..',
      'POST /v1/heartbeat/.?x=1',
      'POST /v1/heartbeat/a/b',
      'POST /v1/heartbeat/a%2fb',
      'POST /v1/continue_inspection/x',
      'GET http://127.0.0.1/v1/lookup',
      'GET //v1/lookup',
      'GET /temper/v1/runs',
      'GET /v1/lookup?\u00e9',
    ],
    405: [
      'POST /v1/lookup',
      'DELETE /v1/lookup',
      'GET /v1/heartbeat/a',
      'PUT /v1/heartbeat/a',
      'POST /v1',
      'OPTIONS /',
    ],
  };
  for (const [status, lines] of Object.entries(refused))
    for (const line of lines) {
      const answer = await raw(port, `${line} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      // What the parser of HTTP refuses itself is 400.
      expect([line, [Number(status), 400].includes(statusOf(answer))]).toEqual([line, true]);
    }
  expect(received).toEqual([]);
});

test('a sender names no other address, and no header that the API does not look at', async () => {
  const port = await startRelay();
  const headers = [
    'host: evil.example.org/path?',
    'x-forwarded-for: 192.0.2.5',
    'x-forwarded-for: 192.0.2.6',
    'forwarded: for=192.0.2.5',
    'x-forwarded-proto: https',
    'x-forwarded-host: evil.example.org',
    'x-real-ip: 192.0.2.5',
    'x-temper-ramdisk: 192.0.2.5',
    'x-auth-token: stolen',
    'cookie: a=b',
    'via: 1.1 other',
    'idempotency-key: k',
    'connection: close, x-forwarded-for',
    'te: trailers',
    'upgrade: websocket',
  ];
  const answer = await raw(
    port,
    `GET /v1/lookup?addresses=52:54:00:00:00:01 HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`,
  );
  expect(statusOf(answer)).toBe(202);
  expect(received[0]!.headers['x-forwarded-for']).toBe('127.0.0.1');
  expect(received[0]!.names.sort()).toEqual(['connection', 'host', 'via', 'x-forwarded-for', 'x-temper-ramdisk']);
  expect(received[0]!.headers['x-temper-ramdisk']).toBe('127.0.0.1');
  expect(received[0]!.headers.host).toBe(`127.0.0.1:${apiPort}`);
});

test('behind a proxy of the boot service the address is the one that the proxy gives', async () => {
  const port = await startRelay({ trusted: true });
  await fetch(`http://127.0.0.1:${port}/v1/lookup`, { headers: { 'x-forwarded-for': '198.51.100.1, 192.0.2.5' } });
  expect(received[0]!.headers['x-forwarded-for']).toBe('198.51.100.1, 192.0.2.5, 127.0.0.1');
});

test.each([
  ['two lengths', 'content-length: 4\r\ncontent-length: 40'],
  ['a length and chunks', 'content-length: 4\r\ntransfer-encoding: chunked'],
  ['chunks under another name', 'transfer-encoding: chunked, identity'],
  ['a length that is none', 'content-length: +4'],
  ['a folded header', 'x-a: b\r\n content-length: 4'],
])('a body whose end is given in two ways (%s) brings no second request', async (_, lines) => {
  const port = await startRelay();
  const hidden = 'GET /v1/nodes HTTP/1.1\r\nhost: a\r\n\r\n';
  await raw(port, `POST /v1/heartbeat/a HTTP/1.1\r\nhost: a\r\n${lines}\r\n\r\n0\r\n\r\n${hidden}${last}`);
  expect(received.map(({ url }) => url).filter((url) => url !== '/v1/heartbeat/a')).toEqual([]);
});

test('bytes behind a request are none of it, and bytes of a lookup that has a body stay with the boot service', async () => {
  const port = await startRelay();
  const hidden = 'GET /v1/nodes HTTP/1.1\r\nhost: a\r\n\r\n';
  await raw(port, `GET /v1/lookup HTTP/1.1\r\nhost: a\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}${last}`);
  await raw(port, `POST /v1/heartbeat/a HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}${hidden}${last}`);
  expect(received.map(({ url, body }) => [url, body])).toEqual([
    ['/v1/lookup', ''],
    ['/v1/heartbeat/a', '{}'],
  ]);
});

test('a body of unknown length is passed on in chunks, its trailers are not', async () => {
  const port = await startRelay();
  const chunks = '2\r\n{}\r\n0\r\nx-forwarded-for: 192.0.2.9\r\n\r\n';
  await raw(
    port,
    `POST /v1/continue_inspection HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n${chunks}${last}`,
  );
  expect(received[0]).toMatchObject({ body: '{}', headers: { 'transfer-encoding': 'chunked' } });
  expect(received[0]!.headers['x-forwarded-for']).toBe('127.0.0.1');
});

test('one sender holds its places and no others, and gets them back', async () => {
  const port = await startRelay({ ofOne: 2 });
  const slow = [1, 2].map(() => connect(port, '127.0.0.1'));
  for (const socket of slow) {
    socket.on('error', () => {});
    socket.write('POST /v1/heartbeat/a HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n{');
  }
  const beat = () => fetch(`http://127.0.0.1:${port}/v1/heartbeat/a`, { method: 'POST', body: '{}' });
  while (arrived < 2) await new Promise((done) => setImmediate(done));
  const third = await beat();
  expect([third.status, third.headers.get('retry-after'), arrived]).toEqual([503, '1', 2]);
  // Another kind of request has places of its own.
  expect((await fetch(`http://127.0.0.1:${port}/v1/lookup`)).status).toBe(202);
  for (const socket of slow) socket.destroy();
  while ((await beat()).status === 503);
  expect((await beat()).status).toBe(202);
});

test('requests that wait on one connection for an earlier answer take no places, and the one under way gives its back when it is closed', async () => {
  const held: ServerResponse[] = [];
  answering = (_, response) => held.push(response);
  const port = await startRelay({ ofOne: 2, atOnce: 2 });
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /v1/lookup HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(3));
  while (held.length < 1) await new Promise((done) => setImmediate(done));
  const statuses: number[] = [];
  const ask = async () => statuses.push((await fetch(`http://127.0.0.1:${port}/v1/lookup`)).status);
  const second = ask();
  while (held.length < 2) await new Promise((done) => setImmediate(done));
  await ask();
  expect(statuses).toEqual([503]);
  const closed = once(held[0]!, 'close');
  socket.destroy();
  await closed;
  const third = ask();
  while (held.length + statuses.length < 4) await new Promise((done) => setImmediate(done));
  expect(statuses).toEqual([503]);
  for (const response of held) response.writeHead(202).end();
  await Promise.all([second, third]);
  expect(arrived).toBe(3);
});

test('a sender that goes away in the middle takes its request with it', async () => {
  const port = await startRelay();
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /v1/heartbeat/a HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n{');
  while (arrived === 0) await new Promise((done) => setImmediate(done));
  socket.destroy();
  while (received.length === 0) await new Promise((done) => setImmediate(done));
  expect(received[0]!.body).toBe('cut off');
});

test('an answer that comes before the body has been read arrives whole', async () => {
  const port = await startRelay();
  servers[0]!.removeAllListeners('request');
  servers[0]!.on('request', (_, response) => response.writeHead(413).end('too large'));
  const body = Buffer.alloc(8 * 1024 * 1024, 32);
  const reply = await fetch(`http://127.0.0.1:${port}/v1/continue_inspection`, { method: 'POST', body });
  expect([reply.status, await reply.text()]).toEqual([413, 'too large']);
});

test('an API that is away, or does not answer in time, is 502 with a time to ask again', async () => {
  const away = await startRelay({ api: 'http://127.0.0.1:1' });
  const reply = await fetch(`http://127.0.0.1:${away}/v1/lookup`);
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([502, '5']);
  answering = () => {};
  const silent = await startRelay({ answerMs: 50 });
  expect((await fetch(`http://127.0.0.1:${silent}/v1/heartbeat/a`, { method: 'POST', body: '{}' })).status).toBe(502);
  expect(warned).toHaveLength(2);
});

test('an API that is away is a few lines of the log, however often one ramdisk asks', async () => {
  const away = await startRelay({ api: 'http://127.0.0.1:1' });
  for (let at = 0; at < linesAMinute + 5; at += 1)
    expect((await fetch(`http://127.0.0.1:${away}/v1/lookup`)).status).toBe(502);
  expect(warned).toHaveLength(linesAMinute);
});
