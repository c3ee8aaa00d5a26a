/** Clients of the boot service that take or send a few bytes at a time: cut off, whatever they hold is bounded, and others are served. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootListener } from '../../src/boot';
import { pieceBytes } from '../../src/boot/overlay';
import { hashOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { guardedServer } from '../../src/process/guarded-server';
import { noImages } from './support/no-images';

// Larger than all that the kernel keeps for a connection whose client does not read.
const bytes = 2 ** 28;
const readers = 6;
const folder = mkdtempSync(join(tmpdir(), 'dripping-'));
const tokens = Array.from({ length: readers + 1 }, newUrlToken);
const known = new Set(tokens.map(hashOf));
const ramdisk = {
  ...{ iso_sha256: 'e'.repeat(64), iso_bytes: bytes, kernel_sha256: null, initrd_sha256: null },
  ...{ arguments_at: 70_000, arguments_bytes: 1_024, files_at: 300_000, files_bytes: 4_096 },
};
const node = { node_uuid: 'n' as never, run_id: 'r' as never };
const served = { ...node, arguments: 'quiet', inspection_url: null, network: false, ramdisk };

let file: FileHandle;
let server: Server;
/** Buffers that the service has read into: what readers hold of its memory. */
const buffers = new Set<ArrayBufferLike>();

beforeAll(async () => {
  const path = join(folder, 'image');
  writeFileSync(path, '');
  truncateSync(path, bytes);
  file = await open(path);
});
afterAll(async () => {
  await file.close();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const start = async (limits: { readonly pieceMs: number; readonly headersMs: number }): Promise<void> => {
  buffers.clear();
  const watched = {
    read(into: Buffer, ...where: [number, number, number]) {
      buffers.add(into.buffer);
      return file.read(into, ...where);
    },
  };
  const listener = bootListener({
    inventory: {
      bootCapabilities: { served: async (hash) => (known.has(hash) ? served : undefined) },
      networkBoots: { give: async () => ({ is: 'none' }) },
      imageCapabilities: noImages.capabilities,
    },
    imageCache: noImages.cache,
    images: { find: async () => watched as FileHandle },
    files: [],
    log: { info() {}, warn() {} },
    trusts: () => false,
    pieceMs: limits.pieceMs,
  });
  const patience = {
    headersMs: limits.headersMs,
    requestMs: limits.headersMs,
    keepAliveMs: 60_000,
    connections: 100,
    ofSender: 100,
  };
  server = guardedServer(patience, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
};

/** A client, and the end of the service's side of its connection. */
const opened = async (): Promise<{ readonly socket: Socket; readonly cut: Promise<unknown> }> => {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  const [side] = await accepted;
  return { socket, cut: new Promise((done) => side.once('close', done)) };
};

const asking = (token: string, more = ''): string =>
  `GET /boot/${token}/ramdisk.iso HTTP/1.1\r\nhost: x\r\n${more}\r\n`;

it('cuts off who takes a few bytes at a time, holds one piece for each, and serves others meanwhile', async () => {
  await start({ pieceMs: 1_500, headersMs: 60_000 });
  const [other, ...dripping] = tokens;
  const clients: { readonly socket: Socket; readonly cut: Promise<unknown>; taken: number }[] = [];
  for (const token of dripping) {
    const client = { ...(await opened()), taken: 0 };
    clients.push(client);
    client.socket.pause();
    client.socket.write(asking(token));
  }
  const taking = setInterval(() => {
    for (const client of clients) client.taken += (client.socket.read(512) as Buffer | null)?.length ?? 0;
  }, 20);
  const { socket } = await opened();
  socket.write(asking(other!, 'range: bytes=0-9\r\n'));
  const [head] = (await once(socket, 'data')) as [Buffer];
  expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 206 /);
  await Promise.all(clients.map(({ cut }) => cut));
  clearInterval(taking);
  for (const { taken } of clients) expect([taken > 0, taken < bytes]).toEqual([true, true]);
  expect(buffers.size).toBeLessThanOrEqual(readers + 1);
  expect([...buffers].every(({ byteLength }) => byteLength === pieceBytes)).toBe(true);
  for (const one of [socket, ...clients.map((client) => client.socket)]) one.destroy();
});

it('cuts off who sends a few bytes of a request at a time, before it has read anything for it', async () => {
  await start({ pieceMs: 60_000, headersMs: 500 });
  const { socket, cut } = await opened();
  socket.resume();
  let sent = 0;
  const sending = setInterval(() => socket.write(asking(tokens[0]!, 'x: y\r\n')[sent++] ?? 'z'), 20);
  await cut;
  clearInterval(sending);
  expect(buffers.size).toBe(0);
  socket.destroy();
});
