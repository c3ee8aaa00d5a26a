/** Images of records over real HTTP: one fetch for many readers, nothing unchecked, bounded on the disk, refusals that say why. */
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootListener, createImageCache } from '../../src/boot';
import type { ServedImage } from '../../src/inventory/nodes/image-capabilities';
import { hashOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const mb = 2 ** 20;

let dir: string;
let origin: Server;
let originUrl: string;
let serve: RequestListener;
let fetches: number;
let service: Server;
let url: string;
let cache: ReturnType<typeof createImageCache>;
let kept: string[];
let valid: Map<string, ServedImage['image']>;
let warned: Record<string, unknown>[];
/** Emits `warn` and `info` as the service logs. */
let logged: EventEmitter;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'images-'));
  [fetches, kept, valid, warned, logged] = [0, [], new Map(), [], new EventEmitter()];
  origin = createServer((req, res) => {
    fetches += 1;
    serve(req, res);
  });
  await once(origin.listen(0, '127.0.0.1'), 'listening');
  originUrl = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
});
afterEach(async () => {
  for (const server of [origin, service]) server?.closeAllConnections();
  await Promise.all([origin, service].map((server) => new Promise((done) => server.close(done))));
  await cache.close();
  rmSync(dir, { recursive: true, force: true });
});

const start = async (more: { mostBytes?: number; origins?: string[]; quietMs?: number } = {}) => {
  const log = {
    info: (message: string) => void logged.emit('info', message),
    warn: (message: string, facts: Record<string, unknown> = {}) => {
      warned.push(facts);
      logged.emit('warn', message);
    },
  };
  cache = createImageCache({
    dir,
    mostBytes: 64 * mb,
    origins: [],
    ...more,
    inventory: { imageCapabilities: { kept: async () => kept } },
    log,
    retryMs: 1,
    refusedMs: 60_000,
  });
  const listener = bootListener({
    inventory: {
      bootCapabilities: { served: async () => undefined },
      networkBoots: { give: async () => ({ is: 'none' }) },
      imageCapabilities: {
        served: async (hash) => {
          const image = valid.get(hash);
          return image && { node_uuid: 'n' as never, run_id: 'r' as never, image };
        },
      },
    },
    images: { find: async () => undefined },
    imageCache: cache,
    files: [],
    log,
    trusts: () => false,
    pieceMs: 30_000,
  });
  service = createServer(listener).listen(0, '127.0.0.1');
  await once(service, 'listening');
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
};

/** A record of an image, with a URL for a node. */
const recordOf = (bytes: Buffer, over: Partial<ServedImage['image']> = {}) => {
  const of = { algorithm: 'sha256', digest: sha256Of(bytes), glance_id: null } as const;
  const image = { name: 'debian', url: `${originUrl}/x.raw`, bytes: bytes.length, ...of, ...over };
  const give = (): string => {
    const token = newUrlToken();
    valid.set(hashOf(token), image);
    return `${url}/boot/${token}/image`;
  };
  return { image, give };
};

const get = async (at: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(at, { headers });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
};

/** Asks until the image is there or refused, as a worker does. */
const settled = async (at: string) => {
  for (;;) {
    const answer = await get(at, { range: 'bytes=0-0' });
    if (answer.status !== 503) return { status: answer.status, says: answer.bytes.toString() };
    await new Promise((done) => setTimeout(done, 5));
  }
};
const sending =
  (bytes: Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_, res) =>
    res.writeHead(200, { 'content-length': String(bytes.length), ...headers }).end(bytes);
const inFolder = () => readdirSync(join(dir, 'images')).toSorted();

it('fetches an image once for many readers, who get its bytes by ranges', async () => {
  await start();
  const bytes = randomBytes(3 * mb);
  // The origin waits until all of them have asked.
  const gate = new EventEmitter();
  serve = (req, res) => void gate.once('open', () => sending(bytes)(req, res));
  const { image, give } = recordOf(bytes);
  const urls = Array.from({ length: 20 }, give);
  const first = await Promise.all(urls.map((one) => get(one)));
  expect(first.every(({ status }) => status === 503)).toBe(true);
  expect(first[0]!.headers.get('retry-after')).toBe('5');
  expect(first[0]!.bytes.toString()).toBe('image debian is being fetched and checked');
  while (fetches === 0) await new Promise((done) => setImmediate(done));
  gate.emit('open');
  expect((await Promise.all(urls.map(settled))).every(({ status }) => status === 206)).toBe(true);
  const read = await Promise.all(urls.map((one) => get(one)));
  expect(read.every(({ status, bytes: got }) => status === 200 && got.equals(bytes))).toBe(true);
  const part = await get(urls[0]!, { range: 'bytes=100000-200000' });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 100000-200000/${bytes.length}`]);
  expect(part.bytes.equals(bytes.subarray(100_000, 200_001))).toBe(true);
  expect((await get(urls[0]!, { range: `bytes=${bytes.length}-` })).status).toBe(416);
  expect(fetches).toBe(1);
  expect(inFolder()).toEqual([`${image.digest}.img`]);
});

it('knows its images again after a restart, checks them, and fetches none of them', async () => {
  const bytes = randomBytes(mb);
  serve = sending(bytes);
  await start();
  const { image, give } = recordOf(bytes);
  expect((await settled(give())).status).toBe(206);
  await cache.close();
  service.closeAllConnections();
  await new Promise((done) => service.close(done));
  await start();
  expect((await settled(give())).status).toBe(206);
  expect(fetches).toBe(1);
  // What was changed on the disk is fetched anew.
  await cache.close();
  service.closeAllConnections();
  await new Promise((done) => service.close(done));
  const file = join(dir, 'images', `${image.digest}.img`);
  writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, mb - 1), Buffer.from([bytes[mb - 1]! ^ 1])]));
  await start();
  expect((await settled(give())).status).toBe(206);
  expect(fetches).toBe(2);
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

const real = randomBytes(100_000);
const page = Buffer.from('<html>Please log in</html>');
const chunked =
  (bytes: Buffer, type = 'application/octet-stream'): RequestListener =>
  (_, res) => {
    res.writeHead(200, { 'content-type': type });
    res.end(bytes);
  };
it.each<[string, RequestListener, number, RegExp, number]>([
  [
    'answers HTML',
    sending(page, { 'content-type': 'text/html' }),
    502,
    /has 26 bytes \(text\/html\) where the record says 100000/,
    1,
  ],
  ['answers HTML without its length', chunked(page, 'text/html'), 502, /ended after 26 of 100000 bytes/, 3],
  [
    'was changed',
    sending(randomBytes(100_000)),
    502,
    /has the SHA-256 digest \w{64}, not that of the record: it was changed/,
    1,
  ],
  [
    'never ends',
    (_, res) => {
      const more = () => void (res.destroyed || res.write(real, more));
      res.writeHead(200);
      more();
    },
    502,
    /sends more \(no content type\) than the 100000 bytes/,
    1,
  ],
  ['is another size', sending(randomBytes(100_001)), 502, /has 100001 bytes/, 1],
  [
    'sends on',
    (_, res) => res.writeHead(302, { location: 'http://192.0.2.1/' }).end(),
    502,
    /status 302\): give the URL/,
    1,
  ],
  ['has it no more', (_, res) => res.writeHead(404).end(), 502, /status 404/, 1],
  ['fails', (_, res) => res.writeHead(500).end(), 502, /status 500/, 3],
  [
    'breaks off',
    (_, res) => {
      res.writeHead(200, { 'content-length': '100000' });
      res.write(real.subarray(0, 50_000), () => res.destroy());
    },
    502,
    /could not be fetched/,
    3,
  ],
])('an origin that %s is refused plainly, and leaves nothing on the disk', async (_, listener, status, says, tries) => {
  await start();
  serve = listener;
  const { give } = recordOf(real);
  expect(await settled(give())).toEqual({ status, says: expect.stringMatching(says) });
  // Readers after it do not make it ask the origin again at once.
  expect((await settled(give())).status).toBe(status);
  expect([fetches, inFolder()]).toEqual([tries, []]);
});

it.each<[string, RequestListener]>([
  [
    'sends a byte now and then',
    (_, res) => {
      res.writeHead(200, { 'content-length': '100000' });
      const sending = setInterval(() => res.write('x'), 10);
      res.once('close', () => clearInterval(sending));
    },
  ],
  ['answers nothing', () => {}],
])('an origin that %s is left, so that no deployment waits for it for days', async (_, listener) => {
  await start({ quietMs: 200 });
  serve = listener;
  expect(await settled(recordOf(real).give())).toEqual({
    status: 502,
    says: 'its origin sends less than 1048576 bytes in 200 ms',
  });
  expect(inFolder()).toEqual([]);
});

it('does not say where an origin is that cannot be reached, for a tenant may read it', async () => {
  await start();
  const unreachable = recordOf(real, { url: 'http://127.0.0.1:1/debian.raw' });
  expect(await settled(unreachable.give())).toEqual({ status: 502, says: 'it could not be fetched (ECONNREFUSED)' });
});

it('goes on where an origin fails in passing', async () => {
  await start();
  serve = (req, res) => (fetches < 3 ? res.destroy() : sending(real)(req, res));
  expect((await settled(recordOf(real).give())).status).toBe(206);
  expect(fetches).toBe(3);
});

it('asks no origin that the operator does not allow', async () => {
  await start({ origins: ['https://images.example.org'] });
  const answer = await settled(recordOf(real).give());
  expect(answer).toEqual({ status: 502, says: expect.stringContaining('TEMPER_IMAGE_ORIGINS') });
  expect(answer.says).not.toContain('127.0.0.1');
  expect(fetches).toBe(0);
});

it('makes room by what is longest unused, and never by what a run writes or has no origin', async () => {
  await start({ mostBytes: 4 * mb });
  const images = Array.from({ length: 4 }, () => randomBytes(mb));
  const records = images.map((bytes, index) => recordOf(bytes, { name: `i${index}`, url: `${originUrl}/${index}` }));
  serve = (req, res) => sending(images[Number(req.url!.slice(1))] ?? images[0]!)(req, res);
  for (const [index, { give, image }] of records.entries()) {
    expect((await settled(give())).status).toBe(206);
    const at = new Date(2020, 1, index + 1);
    utimesSync(join(dir, 'images', `${image.digest}.img`), at, at);
  }
  kept = [records[0]!.image.digest];
  const big = randomBytes(2 * mb);
  const old = serve;
  serve = (req, res) => (req.url === '/big' ? sending(big) : old)(req, res);
  const large = recordOf(big, { name: 'big', url: `${originUrl}/big` });
  expect((await settled(large.give())).status).toBe(206);
  const left = [records[0]!, records[3]!, large].map(({ image }) => `${image.digest}.img`);
  expect(inFolder()).toEqual(left.toSorted());

  kept = [records[0]!, records[3]!, large].map(({ image }) => image.digest);
  const further = recordOf(randomBytes(mb), { name: 'further' });
  expect(await settled(further.give())).toEqual({
    status: 507,
    says: expect.stringContaining('TEMPER_BOOT_IMAGES_MB'),
  });
  const huge = recordOf(randomBytes(5 * mb), { name: 'huge' });
  expect(await settled(huge.give())).toEqual({
    status: 507,
    says: expect.stringContaining('all images may take 4 MiB'),
  });
  expect(inFolder()).toEqual(left.toSorted());
});

it('says that the disk is full, and goes on serving what it has', async () => {
  await start();
  serve = sending(real);
  const before = recordOf(real);
  expect((await settled(before.give())).status).toBe(206);
  const other = randomBytes(200_000);
  serve = sending(other);
  const { FileHandle } = { FileHandle: Object.getPrototypeOf(await files.open(__filename).then(closed)) };
  const full = jest.spyOn(FileHandle, 'write').mockImplementation(async () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'write' });
  });
  try {
    const answer = await settled(recordOf(other, { name: 'other' }).give());
    expect(answer).toEqual({ status: 507, says: 'the disk of the boot service is full' });
  } finally {
    full.mockRestore();
  }
  expect((await get(before.give())).bytes.equals(real)).toBe(true);
  expect(inFolder()).toEqual([`${before.image.digest}.img`]);
});
const closed = async (handle: files.FileHandle) => {
  await handle.close();
  return handle;
};

it('fetches nothing for a record without a URL, whose file is the operator’s to put there', async () => {
  await start();
  const { give, image } = recordOf(real, { url: null });
  expect(await settled(give())).toEqual({ status: 502, says: expect.stringContaining('temper image add') });
  await cache.close();
  service.closeAllConnections();
  await new Promise((done) => service.close(done));
  writeFileSync(join(dir, 'images', `${image.digest}.img`), real);
  await start();
  expect((await settled(give())).status).toBe(206);
  expect(fetches).toBe(0);
});

it('knows a URL of a run that has ended no more', async () => {
  await start();
  serve = sending(real);
  const { give } = recordOf(real);
  const at = give();
  valid.clear();
  expect((await get(at)).status).toBe(404);
  expect((await get(`${url}/boot/${'a'.repeat(43)}/image`)).status).toBe(404);
  expect(fetches).toBe(0);
});
