/** The boot service over real HTTP: ranges, capabilities, slow readers and connections that say nothing. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootListener, createImages } from '../../src/boot';
import type { Images } from '../../src/boot/images';
import { patchesOf } from '../../src/boot/patches';
import type { Served } from '../../src/inventory/nodes/boot-capabilities';
import { agentTokenOf, hashOf, inspectionTokenOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { guardedServer } from '../../src/process/guarded-server';
import { noImages } from './support/no-images';

const size = 4 * 1024 * 1024;
const image = randomBytes(size);
const iso_sha256 = createHash('sha256').update(image).digest('hex');
const room = { arguments_at: 70_000, arguments_bytes: 1_024, files_at: 300_001, files_bytes: 4_096 };
const token = newUrlToken();
const served: Served = {
  node_uuid: '11111111-2222-4333-8444-555555555555' as Served['node_uuid'],
  run_id: '11111111-2222-4333-8444-666666666666' as Served['run_id'],
  arguments: 'console=ttyS0 ipa-api-url=http://192.0.2.1:6387',
  inspection_url: 'http://192.0.2.1:6387/v1/continue_inspection',
  network: false,
  ramdisk: { iso_sha256, iso_bytes: size, ...room, kernel_sha256: null, initrd_sha256: null },
};

const folder = mkdtempSync(join(tmpdir(), 'boot-'));
/** Larger than all that the kernel keeps for a connection whose client does not read; nothing but zeros, and served under any digest. */
const large = { iso_sha256: 'e'.repeat(64), iso_bytes: 2 ** 28 };
let largeFile: FileHandle;
/** What a read of it waits for. */
let reading = async (): Promise<void> => {};
const waitingFile = {
  read: async (into: Buffer, ...where: [number, number, number]) => {
    await reading();
    return largeFile.read(into, ...where);
  },
} as FileHandle;
const checked = createImages(folder, () => {});
const images: Images = {
  ...checked,
  find: async (sha256, kind) => (sha256 === large.iso_sha256 ? waitingFile : checked.find(sha256, kind)),
};
const valid = new Map<string, Served>();
let server: Server;
let base: string;
let failing = false;
let lookedUp = 0;

const start = async (limits: { pieceMs?: number; headersMs?: number; perAddress?: number; guesses?: number } = {}) => {
  const listener = bootListener({
    inventory: {
      bootCapabilities: {
        async served(hash) {
          lookedUp += 1;
          if (failing) throw new Error('the store is away');
          return valid.get(hash);
        },
      },
      networkBoots: { give: async () => ({ is: 'none' }) },
      imageCapabilities: noImages.capabilities,
    },
    imageCache: noImages.cache,
    images,
    files: [{ path: 'etc/ironic-python-agent.d/temper.conf', content: Buffer.from('[DEFAULT]\n') }],
    log: { info: () => {}, warn: () => {} },
    trusts: () => false,
    ...(limits.guesses !== undefined && { guesses: limits.guesses }),
    pieceMs: limits.pieceMs ?? 30_000,
    readersAtOnce: 4,
  });
  const { headersMs = 30_000 } = limits;
  const patience = { headersMs, requestMs: headersMs, keepAliveMs: 5_000, connections: 100 };
  server = guardedServer({ ...patience, ofSender: limits.perAddress ?? 50 }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

beforeAll(async () => {
  writeFileSync(join(folder, `${iso_sha256}.iso`), image);
  largeFile = await open(join(folder, 'large'), 'w+');
  await largeFile.truncate(large.iso_bytes);
});
afterAll(async () => {
  await images.close();
  await largeFile.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  failing = false;
  lookedUp = 0;
  valid.clear();
  valid.set(hashOf(token), served);
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const changed = (): Buffer => {
  const whole = Buffer.from(image);
  const files = [{ path: 'etc/ironic-python-agent.d/temper.conf', content: Buffer.from('[DEFAULT]\n') }];
  for (const { at, bytes } of patchesOf(served, token, files)) whole.set(bytes, at);
  return whole;
};
const urlOf = (of = token) => `${base}/boot/${of}/ramdisk.iso`;
const read = async (headers: Record<string, string> = {}, method = 'GET') => {
  const answer = await fetch(urlOf(), { headers, method });
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
};

it('sends the image with the arguments, the token and the small files of this boot in it', async () => {
  await start();
  const { answer, bytes } = await read();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('accept-ranges')).toBe('bytes');
  expect(bytes.equals(changed())).toBe(true);
  const line = bytes.subarray(room.arguments_at, room.arguments_at + room.arguments_bytes).toString('latin1');
  expect(line.trimEnd()).toBe(
    `${served.arguments} ipa-agent-token=${agentTokenOf(token)} ipa-inspection-callback-url=${served.inspection_url}?boot=${inspectionTokenOf(token)}`,
  );
  expect(bytes.subarray(room.files_at, room.files_at + 6).toString()).toBe('070701');
  expect(bytes.includes(token)).toBe(false);
});

it('takes the place back of a client that has gone while the last piece for it was read', async () => {
  await start();
  const of = newUrlToken();
  valid.set(hashOf(of), { ...served, ramdisk: { ...served.ramdisk, ...large } });
  const ends: (() => void)[] = [];
  reading = () => new Promise((end) => ends.push(end));
  const gone: Promise<unknown>[] = [];
  server.on('connection', (side: Socket) => gone.push(once(side, 'close')));
  const range = 'range: bytes=0-9\r\n';
  const clients = [1, 2, 3, 4].map(() => connect((server.address() as AddressInfo).port, '127.0.0.1'));
  for (const one of clients) one.write(`GET /boot/${of}/ramdisk.iso HTTP/1.1\r\nhost: x\r\n${range}\r\n`);
  while (ends.length < 4) await new Promise((done) => setImmediate(done));
  for (const one of clients) one.destroy();
  await Promise.all(gone);
  reading = async () => {};
  for (const end of ends) end();
  const ask = async (): Promise<number> => (await fetch(urlOf(of), { headers: { range: 'bytes=0-9' } })).status;
  let status = await ask();
  for (let tries = 0; status === 503 && tries < 50; tries += 1) status = await ask();
  expect(status).toBe(206);
});

it('answers ranges as RFC 9110 says, and several connections read as one', async () => {
  await start();
  const whole = changed();
  const parts = [
    ['bytes=0-99', 206, [0, 99]],
    [`bytes=${room.arguments_at - 5}-${room.arguments_at + 5}`, 206, [room.arguments_at - 5, room.arguments_at + 5]],
    [`bytes=${size - 10}-`, 206, [size - 10, size - 1]],
    ['bytes=-10', 206, [size - 10, size - 1]],
    [`bytes=${size - 10}-${size * 2}`, 206, [size - 10, size - 1]],
    ['bytes=0-9,20-29', 200, [0, size - 1]],
    ['bytes=9-3', 200, [0, size - 1]],
  ] as const;
  await Promise.all(
    parts.slice(0, 4).map(async ([range, status, [from, to]]) => {
      const { answer, bytes } = await read({ range });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('content-range')).toBe(`bytes ${from}-${to}/${size}`);
      expect(bytes.equals(whole.subarray(from, to + 1))).toBe(true);
    }),
  );
  for (const [range, status, [from, to]] of parts.slice(4)) {
    const { answer, bytes } = await read({ range });
    expect([range, answer.status]).toEqual([range, status]);
    expect(bytes.equals(whole.subarray(from, to + 1))).toBe(true);
  }
  const beyond = await read({ range: `bytes=${size}-` });
  expect(beyond.answer.status).toBe(416);
  expect(beyond.answer.headers.get('content-range')).toBe(`bytes */${size}`);
});

it('says of HEAD what GET would send, and knows a range by its tag', async () => {
  await start();
  const head = await read({ range: 'bytes=0-9' }, 'HEAD');
  expect(head.answer.status).toBe(200);
  expect(head.answer.headers.get('content-length')).toBe(String(size));
  expect(head.bytes).toHaveLength(0);
  const etag = head.answer.headers.get('etag')!;
  expect((await read({ range: 'bytes=0-9', 'if-range': etag })).answer.status).toBe(206);
  expect((await read({ range: 'bytes=0-9', 'if-range': '"other"' })).answer.status).toBe(200);
  expect((await read({ 'if-none-match': etag })).answer.status).toBe(304);
  expect((await read({}, 'DELETE')).answer.status).toBe(405);
});

it.each([
  '/',
  '/boot',
  '/boot/x/ramdisk.iso',
  `/boot/${'a'.repeat(43)}/ramdisk.iso`,
  `/boot/${'a'.repeat(43)}/../x`,
  '/boot/%2e%2e/x',
])('answers 404 with nothing for %s', async (path) => {
  await start();
  const answer = await fetch(`${base}${path}`);
  expect([answer.status, await answer.text()]).toEqual([404, '']);
});

it('answers 404 once the run no longer waits, 503 while the store is away, 404 for an image that is not in its folder', async () => {
  await start();
  const gone = newUrlToken();
  expect((await fetch(urlOf(gone))).status).toBe(404);
  const lost = newUrlToken();
  valid.set(hashOf(lost), { ...served, ramdisk: { ...served.ramdisk, iso_sha256: 'a'.repeat(64) } });
  expect((await fetch(urlOf(lost))).status).toBe(404);
  failing = true;
  const away = await fetch(urlOf(newUrlToken()));
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
});

it('looks only so many made-up tokens of a sender up, each once, and one that was good always', async () => {
  await start({ guesses: 3 });
  const range = { range: 'bytes=0-9' };
  expect((await read(range)).answer.status).toBe(206);
  const guess = newUrlToken();
  for (const of of [guess, guess, ...Array.from({ length: 20 }, () => newUrlToken())])
    expect((await fetch(urlOf(of))).status).toBe(404);
  expect(lookedUp).toBe(1 + 3);
  expect((await read(range)).answer.status).toBe(206);
  // Another sender is not its neighbour.
  const other = newUrlToken();
  valid.set(hashOf(other), served);
  const socket = await opened('127.0.0.2');
  socket.write(`GET /boot/${other}/ramdisk.iso HTTP/1.1\r\nhost: x\r\nrange: bytes=0-9\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 206 /);
  socket.destroy();
});

it('sends nothing whose arguments do not keep to the grammar, whatever the store says', async () => {
  await start();
  const bad = newUrlToken();
  valid.set(hashOf(bad), { ...served, arguments: 'quiet\ninsmod evil' });
  expect((await fetch(urlOf(bad))).status).toBe(503);
});

it('does not serve a file that was changed under its digest', async () => {
  await start();
  const other = 'b'.repeat(64);
  writeFileSync(join(folder, `${other}.iso`), 'not these bytes');
  const changedFile = newUrlToken();
  valid.set(hashOf(changedFile), { ...served, ramdisk: { ...served.ramdisk, iso_sha256: other } });
  expect((await fetch(urlOf(changedFile))).status).toBe(404);
});

const opened = async (localAddress = '127.0.0.1'): Promise<Socket> => {
  const socket = connect({ port: Number(new URL(base).port), host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

it('cuts off who reads nothing, so that no reader holds its connection for ever', async () => {
  await start({ pieceMs: 300 });
  valid.set(hashOf(token), { ...served, ramdisk: { ...served.ramdisk, ...large } });
  const socket = await opened();
  socket.pause();
  socket.write(`GET /boot/${token}/ramdisk.iso HTTP/1.1\r\nhost: x\r\n\r\n`);
  // The service ends the connection while the client has read nothing: what is read then is less than the image.
  await new Promise<void>((done) => {
    const look = setInterval(() => {
      server.getConnections((_, count) => {
        if (count > 0) return;
        clearInterval(look);
        done();
      });
    }, 50);
  });
  let bytes = 0;
  let head = '';
  socket.on('data', (piece: Buffer) => {
    head ||= piece.toString('latin1', 0, 20);
    bytes += piece.length;
  });
  socket.resume();
  await once(socket, 'close');
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(bytes).toBeLessThan(large.iso_bytes);
});

it('closes connections that never ask, and lets one address have only so many', async () => {
  await start({ headersMs: 2_000, perAddress: 3 });
  const silent = await Promise.all([opened(), opened(), opened()]);
  const fourth = await opened();
  await once(fourth.resume(), 'close');
  await Promise.all(silent.map((socket) => once(socket.resume(), 'close')));
  expect((await read({ range: 'bytes=0-9' })).answer.status).toBe(206);
});

it('counts one address as one, in whichever spelling its connections have it', async () => {
  await start({ perAddress: 2, headersMs: 2_000 });
  const spellings = ['::ffff:192.0.2.7', '192.0.2.7', '::ffff:c000:207', '192.0.2.8'];
  server.prependListener('connection', (socket) =>
    Object.defineProperty(socket, 'remoteAddress', { value: spellings.shift() }),
  );
  const [first, second, third] = [await opened(), await opened(), await opened()];
  for (const socket of [first, second]) socket.resume();
  await once(third.resume(), 'close');
  // All three are closed where they were silent for too long, in this order.
  expect([first.closed, second.closed]).toEqual([false, false]);
  const other = await opened();
  other.write(`GET /boot/${token}/ramdisk.iso HTTP/1.1\r\nhost: x\r\nrange: bytes=0-9\r\n\r\n`);
  const [head] = (await once(other, 'data')) as [Buffer];
  expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 206 /);
  for (const socket of [first, second, other]) socket.destroy();
});

it('lets one URL have only so many readers at once', async () => {
  await start();
  valid.set(hashOf(token), { ...served, ramdisk: { ...served.ramdisk, ...large } });
  const ask = () =>
    new Promise<{ status: number; end(): void }>((done, fail) => {
      const asked = request(urlOf(), (answer) => {
        answer.pause();
        done({ status: answer.statusCode!, end: () => asked.destroy() });
      });
      asked.on('error', fail);
      asked.end();
    });
  const first = await Promise.all([ask(), ask(), ask(), ask()]);
  const fifth = await ask();
  expect([...first.map(({ status }) => status), fifth.status]).toEqual([200, 200, 200, 200, 503]);
  for (const one of [...first, fifth]) one.end();
});

it('a thousand half-open connections of one machine keep no other machine from its image', async () => {
  await start({ perAddress: 20 });
  const sockets = await Promise.all(Array.from({ length: 1_000 }, () => opened()));
  for (const socket of sockets) socket.write('GET /boot/');
  const other = await opened('127.0.0.2');
  other.write(`GET /boot/${token}/ramdisk.iso HTTP/1.1\r\nhost: x\r\nrange: bytes=0-9\r\n\r\n`);
  const [head] = (await once(other, 'data')) as [Buffer];
  expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 206 /);
  const count = await new Promise<number>((done) => server.getConnections((_, open) => done(open)));
  expect(count).toBeLessThanOrEqual(21);
  for (const socket of [...sockets, other]) socket.destroy();
});

it('a reader that goes away in the middle leaves its place to another, and the next gets every byte right', async () => {
  await start();
  for (let at = 0; at < 12; at++) {
    const socket = await opened();
    socket.write(`GET /boot/${token}/ramdisk.iso HTTP/1.1\r\nhost: x\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    await once(socket, 'close');
  }
  const whole = changed();
  const pieces = await Promise.all(
    [0, 1, 2, 3].map(async (at) => {
      for (;;) {
        const { answer, bytes } = await read({ range: `bytes=${at * 1_000_000}-${at * 1_000_000 + 299_999}` });
        if (answer.status === 206) return bytes.equals(whole.subarray(at * 1_000_000, at * 1_000_000 + 300_000));
      }
    }),
  );
  expect(pieces).toEqual([true, true, true, true]);
});
