/** `temper image`: what is recorded of a file or of a URL, and what is refused before that. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Installation } from '../../src/cli';
import { temper } from './support/command';
import { type Double, startDouble } from './support/double';

const sha256 = 'a'.repeat(64);
const record = {
  uuid: 'u',
  name: 'debian',
  url: null,
  sha256,
  bytes: 10 * 2 ** 20,
  disk_format: 'raw',
  kind: 'whole-disk',
  created_at: 'now',
};
const bootable = Buffer.alloc(4_096);
bootable.writeUInt16LE(0xaa55, 510);

let api: Double;
let place: Server;
let url: string;
let status: number;
let first: Buffer;
beforeAll(async () => {
  api = await startDouble(({ method }) => ({ json: method === 'GET' ? { images: [record] } : record }));
  place = createServer((req, res) => {
    const [, to] = /^bytes=0-(\d+)$/.exec(req.headers.range ?? '') ?? [];
    const piece = first.subarray(0, Number(to) + 1);
    res
      .writeHead(status, { 'content-range': `bytes 0-${to}/${first.length}`, location: 'http://192.0.2.1/' })
      .end(piece);
  });
  await once(place.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(place.address() as AddressInfo).port}/x.raw`;
});
beforeEach(() => {
  api.asked.length = 0;
  [status, first] = [206, bootable];
});
afterAll(async () => {
  await api.close();
  place.closeAllConnections();
  await new Promise((done) => place.close(done));
});

const stored = { sha256, bytes: 4_096, disk_format: 'raw' as const };
const does = (line: readonly string[], storeImage: Installation['storeImage'] = async () => stored) =>
  temper(['image', ...line], { env: { TEMPER_URL: api.url, TEMPER_TOKEN: 't' }, storeImage });
const posted = () => api.asked.filter(({ method }) => method === 'POST').map(({ body }) => body);

test('a file is stored first, and its digest is what is recorded', async () => {
  const store = jest.fn(async () => stored);
  const { status: ended, out } = await does(
    ['add', 'debian', '/x.raw', '--dir', '/d', '--checksum', `sha256:${sha256}`],
    store,
  );
  expect([ended, out]).toEqual([0, expect.stringContaining(`sha256: ${sha256}`)]);
  expect(store).toHaveBeenCalledWith({ file: '/x.raw', dir: '/d' });
  expect(posted()).toEqual([{ name: 'debian', kind: 'whole-disk', url: null, ...stored }]);
});

test('size and format of a URL are what its place shows', async () => {
  expect((await does(['add', 'debian', url, '--checksum', sha256, '--partition'])).status).toBe(0);
  expect(posted()).toEqual([{ name: 'debian', kind: 'partition', url, sha256, bytes: 4_096, disk_format: 'raw' }]);
});

test('a place that is not asked needs both', async () => {
  const given = ['--checksum', sha256, '--bytes', '99', '--format', 'qcow2'];
  expect((await does(['add', 'debian', 'http://192.0.2.1:1/x', ...given])).status).toBe(0);
  expect(posted()).toMatchObject([{ bytes: 99, disk_format: 'qcow2' }]);
});

test('the list shows names, formats and sizes', async () => {
  expect((await does(['list'])).out).toMatch(/debian\s+raw\s+whole-disk\s+10\s+aaaaaaaaaaaaaaaa/);
});

test('an image is removed by its name', async () => {
  await does(['remove', 'debian']);
  expect(api.asked).toMatchObject([{ method: 'DELETE', path: '/temper/v1/images/debian' }]);
});

test.each([
  ['a URL without a digest', ['add', 'x', 'http://192.0.2.1/x'], 2, /Give --checksum/],
  ['a digest that is none', ['add', 'x', '/x', '--checksum', 'md5:1'], 2, /64 hexadecimal/],
  ['an unknown format', ['add', 'x', '/x', '--format', 'vmdk'], 2, /raw, qcow2/],
  ['a size that is none', ['add', 'x', 'http://192.0.2.1/x', '--checksum', sha256, '--bytes', '-1'], 2, /whole number/],
  ['a file with another digest', ['add', 'x', '/x', '--checksum', 'b'.repeat(64)], 1, /has the SHA-256 digest a{64}/],
])('%s is refused, and nothing recorded', async (_, line, ended, says) => {
  const { status: code, err } = await does(line);
  expect([code, err]).toEqual([ended, expect.stringMatching(says)]);
  expect(posted()).toEqual([]);
});

test.each([
  ['a place that sends on', 302, bootable, /status 302/],
  ['a page', 206, Buffer.from('<html></html>'), /no format/],
])('%s is no image', async (_, code, bytes, says) => {
  [status, first] = [code, bytes];
  const { status: ended, err } = await does(['add', 'x', url, '--checksum', sha256]);
  expect([ended, err]).toEqual([1, expect.stringMatching(says)]);
  expect(posted()).toEqual([]);
});
