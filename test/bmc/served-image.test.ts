/** A ramdisk is sent to the boot service for its image only once that has it. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { untilServed } from '../../src/bmc/agent/served-image';
import { contextWith, intentsOf } from './support/context';
import { type RamdiskBench, startRamdiskBench } from './support/ramdisk';

let service: Server;
let url: string;
let asked: (string | undefined)[];
let serve: RequestListener;
let ramdisks: RamdiskBench;
beforeAll(async () => {
  service = createServer((req, res) => {
    asked.push(req.headers.range);
    serve(req, res);
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  ramdisks = await startRamdiskBench();
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  service.closeAllConnections();
  await new Promise((done) => service.close(done));
  await ramdisks.close();
});

const wait = (signal = new AbortController().signal) =>
  untilServed({ name: 'debian', url: `${url}/boot/t/image` }, contextWith(intentsOf('agent_write_image'), { signal }));

test('waits while the image is fetched, by one byte at a time', async () => {
  serve = (_, res) => res.writeHead(asked.length < 3 ? 503 : 206).end('x');
  await wait();
  expect(asked).toEqual(['bytes=0-0', 'bytes=0-0', 'bytes=0-0']);
});

test('goes on where the boot service is away for a moment', async () => {
  serve = (_, res) => (asked.length < 3 ? res.destroy() : res.writeHead(206).end('x'));
  await wait();
  expect(asked).toHaveLength(3);
});

test.each([
  [502, 'its origin was changed', /Image debian cannot be written: its origin was changed/],
  [507, 'the disk of the boot service is full', /disk of the boot service is full/],
  [404, '', /does not know its URL/],
  [500, '', /status 500/],
])('status %i is the end of the act, with its reason', async (status, reason, says) => {
  serve = (_, res) => res.writeHead(status).end(reason);
  await expect(wait()).rejects.toMatchObject({ code: 'ImageNotServed', message: expect.stringMatching(says) });
  expect(asked).toHaveLength(1);
});

test.each([
  [410, 'InvalidImage', 'has other bytes now', /^InvalidImage: image debian of Glance has other bytes now/],
  [504, 'GlanceUnavailable', 'it answered 500', /at Glance: it answered 500/],
])('status %i is %s, with its reason', async (status, code, reason, says) => {
  serve = (_, res) => res.writeHead(status).end(reason);
  await expect(wait()).rejects.toMatchObject({ code, message: expect.stringMatching(says) });
});

test('an act that is stopped stops the waiting', async () => {
  const stop = new AbortController();
  serve = (_, res) => {
    res.writeHead(503).end();
    if (asked.length === 2) stop.abort(new Error('stopped'));
  };
  await expect(wait(stop.signal)).rejects.toThrow('stopped');
});

test('the ramdisk is sent no command before, and one write is one command though each attempt has another URL', async () => {
  const order: string[] = [];
  serve = (_, res) => {
    order.push('asked');
    res.writeHead(asked.length < 2 ? 503 : 206).end('x');
  };
  const info = (token: string) => ({
    image_source: 'image:debian',
    image_url: `${url}/boot/${token}/image`,
    image_os_hash_algo: 'sha256',
    image_os_hash_value: 'c'.repeat(64),
    image_disk_format: 'raw',
  });
  const intents = intentsOf('agent_write_image');
  const attempt = (token: string) => ({
    intents,
    node: { instance_info: info(token), served_image: { name: 'debian', url: `${url}/boot/${token}/image` } },
  });
  const { run, destructive } = await ramdisks.bench(info('one'));
  await run('agent_write_image', {}, attempt('one'));
  expect(order).toEqual(['asked', 'asked']);
  expect(destructive()).toMatchObject([{ command: 'standby.prepare_image', format: 'raw' }]);
  await run('agent_write_image', {}, attempt('two'));
  expect(destructive()).toHaveLength(1);
});
