/** The format of an image, by its first bytes: what the ramdisk is sent, and of which servers a worker asks it. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sampledFormat } from '../../src/bmc/agent/image-format';
import { formatOf } from '../../src/model/boot/images';
import { quiet } from './support/context';
import { type RamdiskBench, startRamdiskBench } from './support/ramdisk';

const bootable = Buffer.alloc(2_048);
bootable.writeUInt16LE(0xaa55, 510);
const qcow2 = Buffer.concat([Buffer.from('QFI\xfb', 'latin1'), Buffer.alloc(1_020)]);
const page = Buffer.from(`<html>${'no such image '.repeat(100)}</html>`);

let server: Server;
let origin: string;
let serve: RequestListener;
const asked: (string | undefined)[] = [];
beforeAll(async () => {
  server = createServer((req, res) => {
    asked.push(req.headers.range);
    serve(req, res);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked.length = 0;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const answering =
  (bytes: Buffer, status = 206): RequestListener =>
  (_, res) =>
    res.writeHead(status).end(bytes);
const sample = (origins = [origin], signal = new AbortController().signal) =>
  sampledFormat(`${origin}/debian.img`, { origins, signal, log: quiet });

test.each([
  ['a disk with an MBR', bootable, 'raw'],
  ['qcow2', qcow2, 'qcow2'],
  ['a page of text', page, undefined],
  ['a file system without a partition table', Buffer.alloc(2_048), undefined],
  ['fewer bytes than a sector', Buffer.from('QF'), undefined],
  ['nothing', Buffer.alloc(0), undefined],
])('%s', (_, bytes, format) => expect(formatOf(bytes)).toBe(format));

test.each([
  ['by a range', answering(bootable.subarray(0, 1_024)), 'raw'],
  ['where ranges are not known', answering(Buffer.concat([bootable, Buffer.alloc(8 << 20)]), 200), 'raw'],
  ['not where there is no image', answering(bootable, 404), undefined],
  ['not by a redirect', (_, res) => res.writeHead(302, { location: `${origin}/other` }).end(), undefined],
  ['not where the connection ends early', (_, res) => res.destroy(), undefined],
] satisfies [string, RequestListener, string | undefined][])('is read %s', async (_, answer, format) => {
  serve = answer;
  expect(await sample()).toBe(format);
  expect(asked).toEqual(['bytes=0-1023']);
});

test('a server that never ends is left after the first kilobyte', async () => {
  let closed: Promise<unknown> = Promise.resolve();
  serve = (_, res) => {
    closed = once(res, 'close');
    res.writeHead(200).write(bootable);
  };
  expect(await sample()).toBe('raw');
  await closed;
});

test('an act that is stopped stops the reading', async () => {
  const stop = new AbortController();
  serve = () => stop.abort(new Error('stopped'));
  await expect(sample([origin], stop.signal)).rejects.toThrow('stopped');
});

test.each([
  ['no origins are named', [] as string[]],
  ['another is named', ['https://images.example.org']],
])('no server is asked where %s', async (_, origins) => {
  serve = answering(bootable);
  expect(await sample(origins)).toBeUndefined();
  expect(asked).toEqual([]);
});

describe('the ramdisk', () => {
  let ramdisks: RamdiskBench;
  beforeAll(async () => {
    ramdisks = await startRamdiskBench();
  });
  afterAll(() => ramdisks.close());

  test.each([
    ['is sent what the first bytes are', {}, 'raw'],
    ['is sent what instance_info says, where it says it', { image_disk_format: 'qcow2' }, 'qcow2'],
  ])('%s', async (_, more, format) => {
    serve = answering(bootable);
    const info = { image_source: `${origin}/debian.img`, image_checksum: 'ab'.repeat(32), ...more };
    const { run, destructive } = await ramdisks.bench(info);
    await run('agent_write_image', {}, { deps: { imageOrigins: [origin] } });
    expect(destructive()).toMatchObject([{ command: 'standby.prepare_image', format }]);
  });
});
