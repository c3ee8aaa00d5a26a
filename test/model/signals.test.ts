/** Waits on an answer whose body comes to no end are ended, also once the garbage collector has run. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { request } from 'undici';
import { cutOffBy, doneWithin, endingWithin } from '../../src/model/signals';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

let server: Server;
let url: string;
beforeAll(async () => {
  server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': the beginning of what has no end\n\n');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

/** Garbage is collected until then, as a long wait has it. */
const collectedUntil = async (passed: Promise<unknown>): Promise<void> => {
  let is = false;
  void passed
    .catch(() => {})
    .finally(() => {
      is = true;
    });
  while (!is) {
    collect();
    await sleep(20);
  }
};

const readAll = async (body: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of body);
};

test('a stream is let go by its signal, however often garbage was collected meanwhile', async () => {
  const [command, until] = [new AbortController(), new AbortController()];
  const open = async (signal: AbortSignal) => {
    const reply = await fetch(url, { signal, redirect: 'error' });
    return cutOffBy(reply, signal);
  };
  const read = async (signal: AbortSignal) => {
    const reply = await open(AbortSignal.any([command.signal, signal]));
    await readAll(reply.body as unknown as AsyncIterable<unknown>);
  };
  const reading = read(until.signal);
  await collectedUntil(sleep(500));
  until.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});

test('a time runs out, however often garbage was collected meanwhile', async () => {
  const command = new AbortController();
  const ask = async () => (await request(url, { signal: endingWithin(command.signal, 1_000) })).body;
  const reading = ask().then(readAll);
  await collectedUntil(reading);
  await expect(reading).rejects.toMatchObject({ name: 'TimeoutError' });
});

test('what is given up ends before its time, with the reason', () => {
  const command = new AbortController();
  const signal = endingWithin(command.signal, 60_000);
  expect(signal.aborted).toBe(false);
  command.abort('given up');
  expect(signal).toMatchObject({ aborted: true, reason: 'given up' });
  expect(endingWithin(command.signal, 60_000)).toMatchObject({ aborted: true, reason: 'given up' });
});

test('an answer without a body stays as it is', () => {
  const reply = new Response(null, { status: 204, headers: { etag: 'x' } });
  expect(cutOffBy(reply, new AbortController().signal)).toBe(reply);
});

test('an answer keeps its status, its headers and what it says', async () => {
  const reply = cutOffBy(new Response('text', { status: 418, headers: { etag: 'x' } }), new AbortController().signal);
  expect(reply).toMatchObject({ status: 418, ok: false });
  expect(reply.headers.get('etag')).toBe('x');
  expect(await reply.text()).toBe('text');
});

describe('work that is done within a time', () => {
  const aborted = (within: AbortSignal) =>
    new Promise<never>((_, reject) => within.addEventListener('abort', () => reject(within.reason)));

  test('is ended by it, whatever garbage was collected meanwhile', async () => {
    const late = doneWithin(new AbortController().signal, 200, aborted);
    const ended = expect(late).rejects.toMatchObject({ name: 'TimeoutError' });
    await collectedUntil(late);
    await ended;
  });

  test('is ended by its signal, with the reason', async () => {
    const stop = new AbortController();
    const stopped = doneWithin(stop.signal, 60_000, aborted);
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
  });

  test('leaves nothing behind that ends anything later', async () => {
    let kept: AbortSignal | undefined;
    const work = async (within: AbortSignal) => {
      kept = within;
      return 'done';
    };
    expect(await doneWithin(new AbortController().signal, 20, work)).toBe('done');
    await sleep(60);
    expect(kept?.aborted).toBe(false);
  });
});
