/** How the API serves: it cuts slow clients off, drains before it ends, and gives ramdisks an address of their own. */
import { once } from 'node:events';
import { get, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import express, { type Express } from 'express';
import { guardedServer, type ServerTimeouts, unansweredAtMost } from '../../src/process/guarded-server';
import { gentleEnd } from '../../src/process/listen';
import { endAll, good, start } from './support/entries';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await endAll();
});

const aMinute = 60_000;
const patient: ServerTimeouts = {
  headersMs: aMinute,
  requestMs: aMinute,
  keepAliveMs: aMinute,
  connections: 100,
  ofSender: 50,
};

/** Reads the body and answers. */
const answering: RequestListener = (request, response) => {
  request.on('error', () => {}).on('end', () => response.end('done'));
  request.resume();
};

const serve = async (patience: Partial<ServerTimeouts>, answer = answering): Promise<number> => {
  const server = guardedServer({ ...patient, ...patience }, answer);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const client = async (port: number): Promise<{ socket: Socket; heard: Promise<string> }> => {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  const heard = once(socket, 'close').then(() => text);
  await once(socket, 'connect');
  return { socket, heard };
};

describe('a client that', () => {
  test('sends its headers too slowly is cut off', async () => {
    const { socket, heard } = await client(await serve({ headersMs: 200 }));
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 20);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    expect(await heard).toMatch(/^HTTP\/1.1 408 /);
    clearInterval(drip);
  });

  test('sends its body too slowly is cut off', async () => {
    const { socket, heard } = await client(await serve({ headersMs: 100, requestMs: 200 }));
    const drip = setInterval(() => socket.write(' '), 20);
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    expect(await heard).not.toContain('200 OK');
    clearInterval(drip);
  });

  test('goes away ends the answers that wait behind another, each once', async () => {
    const answers: ServerResponse[] = [];
    const ended: ServerResponse[] = [];
    const port = await serve({}, () => {});
    servers.at(-1)!.on('request', (_, response) => {
      answers.push(response);
      response.on('close', () => ended.push(response));
    });
    const { socket } = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(4));
    while (answers.length < 4) await new Promise((done) => setImmediate(done));
    // The second one has its turn, the others wait on.
    answers[0]!.end();
    await once(answers[0]!, 'close');
    answers[3]!.end('said already');
    const closed = once(answers[1]!, 'close');
    socket.destroy();
    await closed;
    expect(ended.map((one) => answers.indexOf(one)).sort()).toEqual([0, 1, 2, 3]);
    expect(answers.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true]);
  });

  test('sends more requests than it waits for answers of loses its connection, and what it sent beyond is not looked at', async () => {
    let handed = 0;
    const ended: Promise<unknown>[] = [];
    const port = await serve({}, (_, response) => {
      handed += 1;
      ended.push(once(response, 'close'));
    });
    let parsed = 0;
    servers.at(-1)!.on('request', () => {
      parsed += 1;
    });
    const { socket, heard } = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000));
    expect(await heard).toBe('');
    await Promise.all(ended);
    expect(handed).toBe(1);
    expect(parsed).toBe(unansweredAtMost + 1);
  });

  test('waits for its answers now and then is served on one connection as long as it likes', async () => {
    const port = await serve({}, (_, response) => response.end('done'));
    const { socket } = await client(port);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    for (let round = 1; round <= 20; round += 1) {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(unansweredAtMost));
      while (text.split('done').length <= round * unansweredAtMost) await once(socket, 'data');
    }
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });

  test('sends two Host headers is answered 400', async () => {
    const port = await serve({});
    const { socket, heard } = await client(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n');
    expect(await heard).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('asks nothing more is let go', async () => {
    const { socket, heard } = await client(await serve({ keepAliveMs: 100 }));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await heard).toContain('200 OK');
  });

  test('is one too many is turned away, and served when another has left', async () => {
    const port = await serve({ connections: 1 });
    const first = await client(port);
    first.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(first.socket, 'data');
    expect(await (await client(port)).heard).toBe('');
    first.socket.destroy();
    await first.heard;
    const third = await client(port);
    third.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await third.heard).toContain('200 OK');
  });
});

test.each([
  ['IPv4', ['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207'], '192.0.2.8'],
  ['IPv6, a network of a household', ['2001:db8:1:2::1', '2001:db8:1:3::2', '2001:db8:1:4::3'], '2001:db8:2::1'],
])(
  'one sender (%s) does not take the connections of another, and a trusted proxy may have more',
  async (_, own, other) => {
    const trusts = (address: string) => address === '198.51.100.1';
    const server = guardedServer({ ...patient, ofSender: 2, trusts }, (_request, response) => response.end('done'));
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const senders = [...own, other, ...Array.from({ length: 3 }, () => '198.51.100.1')];
    server.prependListener('connection', (socket) =>
      Object.defineProperty(socket, 'remoteAddress', { value: senders.shift() }),
    );
    const served = [];
    while (senders.length > 0) {
      const { socket, heard } = await client(port);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      served.push(await Promise.race([once(socket, 'data').then(() => true), heard.then(() => false)]));
    }
    expect(served).toEqual([true, true, false, true, true, true, true]);
  },
);

test('Express leaves the prototypes of requests and responses as they are', async () => {
  const app: Express = express();
  const seen: unknown[] = [];
  const note = (...messages: object[]) => seen.push(...messages.map((one) => Object.getPrototypeOf(one)));
  app.get('/:word', (request, response) => {
    note(request, response);
    response.send(`${request.get('x-asked')} ${request.path} ${request.query.a} ${request.params.word}`);
  });
  const answer: RequestListener = (request, response) => {
    note(request, response);
    app(request, response);
  };
  const server = guardedServer(patient, answer, app);
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/one?a=b`;
  expect(await (await fetch(url, { headers: { 'x-asked': 'this' } })).text()).toBe('this /one b one');
  expect(seen).toHaveLength(4);
  expect(seen.slice(2)).toEqual(seen.slice(0, 2));
  expect([seen[0] === app.request, seen[1] === app.response]).toEqual([true, true]);
});

describe('a server that gets a request to end', () => {
  test('goes on answering while it drains, each connection to its end, and then closes', async () => {
    const server = guardedServer(patient, answering);
    const end = gentleEnd(server, aMinute, 3_000);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const over = end();
    const [reply] = await once(get({ port, host: '127.0.0.1', headers: { connection: 'keep-alive' } }), 'response');
    reply.resume();
    expect([reply.statusCode, reply.headers.connection]).toEqual([200, 'close']);
    await over;
    const [refused] = await once(get({ port, host: '127.0.0.1' }), 'error');
    expect(refused.code).toBe('ECONNREFUSED');
  });

  test('says so at /readyz before it stops to answer', async () => {
    const api = start('api', { ...good.api, TEMPER_HEALTH_PORT: '0', TEMPER_DRAIN_MS: '30000' });
    await api.says('"message":"ready"');
    const [port, health] = [
      portIn(await api.says('"message":"listening"')),
      portIn(await api.says('"message":"health"')),
    ];
    api.child.kill('SIGTERM');
    await api.says('"why":"SIGTERM"');
    const ready = await fetch(`http://127.0.0.1:${health}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, reason: 'starting or ending' }]);
    const reply = await fetch(`http://127.0.0.1:${port}/v1`);
    expect([reply.status, reply.headers.get('connection')]).toEqual([200, 'close']);
  });
});

const portIn = (line: string): number => JSON.parse(line).port;

// The store is away in these tests: 503 is answered by the handler.
test.each([
  [undefined, 403],
  ['off', 403],
  ['127.0.0.1:9', 403],
  ['api', 503],
])('a ramdisk is served by the API with TEMPER_RAMDISK_LISTEN=api, and with %s it gets %i', async (setting, status) => {
  const api = start('api', { ...good.api, ...(setting && { TEMPER_RAMDISK_LISTEN: setting }) });
  const port = portIn(await api.says('"message":"listening"'));
  const reply = await fetch(`http://127.0.0.1:${port}/v1/lookup?addresses=52:54:00:00:00:01`, {
    headers: { 'x-openstack-ironic-api-version': '1.22' },
  });
  expect(reply.status).toBe(status);
});
