/** Requests of one sender begin in turn, whatever it sends, and no other sender waits for them. */
import { type EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as round } from 'node:timers/promises';
import { createTurns } from '../../src/model/turnstile';
import { guardedServer } from '../../src/process/guarded-server';
import { gentleEnd } from '../../src/process/listen';
import { inTurn, roundsWhileAccepting, underWayAtMost } from '../../src/process/request-turns';

const aMinute = 60_000;
const patience = {
  headersMs: aMinute,
  requestMs: aMinute,
  keepAliveMs: aMinute,
  connections: 1_000,
  ofSender: 500,
  trusts: (address: string) => address === '198.51.100.1',
};

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

type Begun = { readonly url: string; readonly response: ServerResponse };

/** Listens, and keeps what has begun. @returns asks from an address, and waits until so many have begun */
const hold = async (made: (answer: RequestListener) => Server = (answer) => guardedServer(patience, answer)) => {
  const begun: Begun[] = [];
  let news = () => {};
  const server = made((request, response) => {
    begun.push({ url: request.url!, response });
    news();
  });
  servers.push(server);
  const senders: string[] = [];
  const connections: Socket[] = [];
  server.prependListener('connection', (socket) =>
    connections.push(Object.defineProperty(socket, 'remoteAddress', { value: senders.shift() })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    server,
    begun,
    connections,
    /** On a connection of its own. @returns it, once the server has read all of the requests */
    ask: async (sender: string, urls: readonly string[], headers = ''): Promise<Socket> => {
      senders.push(sender);
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket.resume());
      await once(socket, 'connect');
      let left = urls.length;
      const read = new Promise<void>((done) => {
        const count = ({ url }: { url?: string }) => {
          if (urls.includes(url!)) left -= 1;
          if (left > 0) return;
          server.off('request', count);
          done();
        };
        server.on('request', count);
      });
      socket.write(urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`).join(''));
      await read;
      return socket;
    },
    until: async (count: number): Promise<string[]> => {
      while (begun.length < count)
        await new Promise<void>((done) => {
          news = done;
        });
      return begun.map(({ url }) => url);
    },
  };
};

const one = '192.0.2.7';
const other = '192.0.2.8';
const many = Array.from({ length: underWayAtMost + 3 }, (_, at) => `/${at}`);
const first = many.slice(0, underWayAtMost);

test('of all that one sender asks on many connections a few are under way, in order, and another sender is served at once', async () => {
  const { ask, until, begun } = await hold();
  for (const url of many) await ask(one, [url]);
  await ask(other, ['/other']);
  const seen = await until(underWayAtMost + 1);
  expect(seen.filter((url) => url !== '/other')).toEqual(first);
  begun[0]!.response.end();
  expect((await until(underWayAtMost + 2)).at(-1)).toBe(many[underWayAtMost]);
});

test('requests of one connection begin one after another', async () => {
  const { ask, until, begun } = await hold();
  await ask(one, ['/1', '/2', '/3']);
  await ask(one, ['/next']);
  expect(await until(2)).toEqual(['/1', '/next']);
  begun[0]!.response.end();
  expect(await until(3)).toEqual(['/1', '/next', '/2']);
});

test('a request that waits leaves the line when its connection ends', async () => {
  const { ask, until, begun, connections } = await hold();
  for (const url of first) await ask(one, [url]);
  const leaves = await ask(one, ['/left', '/left-too']);
  const gone = once(connections.at(-1)!, 'close');
  await ask(one, ['/stays']);
  leaves.destroy();
  await gone;
  begun[0]!.response.end();
  expect((await until(underWayAtMost + 1)).at(-1)).toBe('/stays');
});

test('a stream keeps no place once its answer has begun', async () => {
  const { ask, until, begun } = await hold();
  for (const url of first) await ask(one, [url]);
  await ask(one, ['/next']);
  await until(underWayAtMost);
  begun[3]!.response.flushHeaders();
  expect((await until(underWayAtMost + 1)).at(-1)).toBe('/next');
});

test('what waits for long keeps no place', async () => {
  const { ask, until } = await hold((answer) => createServer(inTurn(answer, { busyMs: 50 })));
  for (const url of many) await ask(one, [url]);
  expect(await until(many.length)).toEqual(many);
});

test('a request whose body is still being sent keeps its place, so that one sender has few bodies in memory', async () => {
  const { ask, until, begun } = await hold((answer) => createServer(inTurn(answer, { busyMs: 20 })));
  const slow: Socket[] = [];
  for (const url of first) slow.push(await ask(one, [url], 'Content-Length: 2\r\n'));
  await ask(one, ['/next']);
  await new Promise((done) => setTimeout(done, 200));
  expect(begun.map(({ url }) => url)).toEqual(first);
  slow[5]!.write('{}');
  expect((await until(underWayAtMost + 1)).at(-1)).toBe('/next');
});

test('behind a trusted proxy each sender has its own, and a proxy that names none is one sender', async () => {
  const { ask, until } = await hold();
  for (const url of many) await ask('198.51.100.1', [url], `X-Forwarded-For: ${one}\r\n`);
  await ask('198.51.100.1', ['/other'], `X-Forwarded-For: ${one}, ${other}\r\n`);
  await ask('198.51.100.1', ['/unnamed']);
  const seen = await until(underWayAtMost + 2);
  expect(seen.filter((url) => first.includes(url))).toEqual(first);
  expect(seen).toEqual(expect.arrayContaining(['/other', '/unnamed']));
});

test('an end waits for what is in line, as far as it is answered', async () => {
  const { ask, until, begun, server } = await hold();
  const end = gentleEnd(server, aMinute);
  for (const url of many) await ask(one, [url]);
  const ended = end();
  for (let at = 0; at < many.length; at += 1) {
    await until(at + 1);
    begun[at]!.response.end();
  }
  await ended;
});

test('of one key no more begins in a slice of time than fits, and the rest later, in order', () => {
  let now = 0;
  let slice = 2;
  const later: (() => void)[] = [];
  const begun: number[] = [];
  const turns = createTurns<string>(10, { now: () => now, slice: () => slice, later: (call) => later.push(call) });
  const work = (number: number) => (leave: () => void) => {
    begun.push(number);
    now += 1;
    leave();
  };
  for (let number = 1; number <= 5; number += 1) turns.take('one', work(number));
  expect(begun).toEqual([1, 2]);
  turns.take('other', work(0));
  expect(begun).toEqual([1, 2, 0]);
  for (const call of later.splice(0)) call();
  expect(begun).toEqual([1, 2, 0, 3, 4]);
  slice = 0;
  turns.take('one', work(6));
  for (const call of later.splice(0)) call();
  expect(begun).toEqual([1, 2, 0, 3, 4, 5]);
  for (const call of later.splice(0)) call();
  expect(begun).toEqual([1, 2, 0, 3, 4, 5, 6]);
  for (const call of later.splice(0)) call();
  expect(later).toEqual([]);
});

test('while connections come, some are accepted before the next request of a sender begins', async () => {
  let begun = 0;
  const count = (): void => {
    begun += 1;
  };
  const answer = inTurn(count, { isAccepting: () => true });
  const ended: EventEmitter[] = [];
  for (let at = 0; at < 2; at += 1) {
    const request = { socket: { remoteAddress: '192.0.2.1' }, headers: {}, method: 'GET', complete: true };
    const response = new ServerResponse(request as IncomingMessage);
    ended.push(response);
    answer(request as IncomingMessage, response as never);
  }
  expect(begun).toBe(1);
  let rounds = 0;
  for (; begun < 2; rounds += 1) await round();
  expect(rounds).toBeGreaterThanOrEqual(roundsWhileAccepting);
  for (const response of ended) response.emit('close');
});
