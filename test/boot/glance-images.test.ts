/** Images of Glance over real HTTP: looked up again before they are sent, fetched with our own token, checked by their own hash, and dropped. */
import { randomBytes, randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootListener, createImageCache } from '../../src/boot';
import { createImageFolder } from '../../src/boot/image-folder';
import type { ServedImage } from '../../src/inventory/nodes/image-capabilities';
import { hashOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { digestKey } from '../../src/model/boot/images';
import { raise } from '../../src/model/errors';
import { type EmulatedGlance, sha512Of, startEmulatedGlance } from '../support/glance';

const mb = 2 ** 20;

let glance: EmulatedGlance;
let dir: string;
let service: Server;
let url: string;
let cache: ReturnType<typeof createImageCache>;
/** Images by the hash of their URL, while the run of the URL has its node. */
let live: Map<string, ServedImage['image']>;
let logged: string[];
beforeAll(async () => {
  glance = await startEmulatedGlance();
});
afterAll(() => glance.close());

const start = async (more: { glance?: EmulatedGlance['client'] | undefined; mostBytes?: number } = {}) => {
  const client = 'glance' in more ? more.glance : glance.client;
  const log = {
    info: (message: string, facts: object = {}) => void logged.push(JSON.stringify({ message, ...facts })),
    warn: (message: string, facts: object = {}) => void logged.push(JSON.stringify({ message, ...facts })),
  };
  const imageCapabilities = {
    kept: async (but: string | null = null) =>
      [...live].filter(([hash]) => hash !== but).map(([, image]) => digestKey(image)),
    served: async (hash: string) => {
      const image = live.get(hash);
      return image && { node_uuid: 'n' as never, run_id: 'r' as never, image };
    },
  };
  const mostBytes = more.mostBytes ?? 64 * mb;
  // A list of origins without Glance's: it counts all the same.
  const origins = ['https://images.example.org'];
  const times = { retryMs: 1, refusedMs: 60_000, quietMs: 60_000 };
  const ours = client && { glance: client };
  cache = createImageCache({ dir, mostBytes, origins, inventory: { imageCapabilities }, log, ...ours, ...times });
  const listener = bootListener({
    inventory: {
      bootCapabilities: { served: async () => undefined },
      networkBoots: { give: async () => ({ is: 'none' }) },
      imageCapabilities,
    },
    images: { find: async () => undefined },
    imageCache: cache,
    ...ours,
    files: [],
    log,
    trusts: () => false,
    pieceMs: 30_000,
  });
  service = createServer({ keepAliveTimeout: 0 }, listener).listen(0, '127.0.0.1');
  await once(service, 'listening');
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'glance-'));
  [live, logged] = [new Map(), []];
});
afterEach(async () => {
  glance.setFault(undefined);
  service.closeAllConnections();
  service.close();
  await cache.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A URL of a run that was accepted with these bytes. */
const give = (glance_id: string, bytes: Buffer, over: Partial<ServedImage['image']> = {}) => {
  const of = { algorithm: 'sha512', digest: sha512Of(bytes), glance_id } as const;
  const token = newUrlToken();
  live.set(hashOf(token), { name: glance_id, url: null, bytes: bytes.length, ...of, ...over });
  return { at: `${url}/boot/${token}/image`, end: () => live.delete(hashOf(token)) };
};
const get = async (at: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(at, { headers });
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
};
/** Asks until the image is there or refused, as a worker does. */
const settled = async (at: string) => {
  for (;;) {
    const { status, bytes } = await get(at, { range: 'bytes=0-0' });
    if (status !== 503) return { status, says: bytes.toString() };
    await new Promise((done) => setTimeout(done, 5));
  }
};
const inFolder = () => readdirSync(join(dir, 'images')).toSorted();
const since = (from: number, part: string) => glance.asked.slice(from).filter((path) => path.endsWith(part)).length;

test('an image is fetched with our own token, once for two ids of the same bytes, and no reader sees the token', async () => {
  await start();
  const bytes = randomBytes(3 * mb);
  const ids = [glance.add(bytes), glance.add(bytes)];
  const from = glance.asked.length;
  const urls = ids.map((id) => give(id, bytes).at);
  for (const at of urls) expect((await settled(at)).status).toBe(206);
  for (const at of urls) expect((await get(at)).bytes.equals(bytes)).toBe(true);
  expect([since(from, '/file'), inFolder()]).toEqual([1, [`sha512-${sha512Of(bytes)}.img`]]);
  expect(glance.tokens.slice(from).every((token) => /^token-\d+$/.test(String(token)))).toBe(true);
  expect(logged.join('')).not.toMatch(/token-\d/);
  const answer = await fetch(urls[0]!, { method: 'HEAD' });
  expect([...answer.headers].flat().join(' ')).not.toMatch(/token-\d/);
});

test('an image is looked up once for each URL, also if its bytes are there, and not for each range', async () => {
  await start();
  const bytes = randomBytes(mb);
  const id = glance.add(bytes);
  expect((await settled(give(id, bytes).at)).status).toBe(206);
  const from = glance.asked.length;
  const { at } = give(id, bytes);
  await settled(at);
  for (let offset = 0; offset < 10; offset += 1) await get(at, { range: `bytes=${offset}-` });
  expect(glance.asked.slice(from)).toEqual([`/v2/images/${id}`]);
});

test('a changed image under the same id is not sent, and neither are the bytes that were accepted', async () => {
  await start();
  const [bytes, other] = [randomBytes(mb), randomBytes(mb)];
  const id = glance.add(bytes);
  const { at } = give(id, bytes);
  glance.change(id, { os_hash_value: sha512Of(other) }, other);
  const from = glance.asked.length;
  expect(await settled(at)).toEqual({ status: 410, says: expect.stringContaining('has other bytes now') });
  expect(since(from, '/file')).toBe(0);
});

test.each([
  ['deactivated', { status: 'deactivated' }, 'is deactivated, and only an active image can be written'],
  ['emptied', { size: 0 }, 'has no bytes'],
  ['of another size', { size: 7 }, 'has other bytes now'],
  ['without a hash', { os_hash_algo: null, os_hash_value: null }, 'has no os_hash_value'],
])('an image that is %s since is not sent', async (_, over, says) => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  glance.change(id, over);
  expect(await settled(give(id, bytes).at)).toEqual({ status: 410, says: expect.stringContaining(says) });
});

test('bytes that are not those of the hash are not sent, however Glance describes them', async () => {
  await start();
  const [bytes, other] = [randomBytes(mb), randomBytes(mb)];
  const id = glance.add(bytes);
  glance.change(id, {}, other);
  const from = glance.asked.length;
  expect(await settled(give(id, bytes).at)).toEqual({ status: 502, says: expect.stringContaining('SHA-512 digest') });
  expect([since(from, '/file'), inFolder()]).toEqual([1, []]);
});

test('a deleted image is not sent, and its bytes leave the disk unless another run writes them', async () => {
  await start();
  const bytes = randomBytes(mb);
  const [id, same] = [glance.add(bytes), glance.add(bytes)];
  const first = give(id, bytes);
  await settled(first.at);
  const second = give(same, bytes);
  glance.remove(id);
  // The first run goes on with the URL that it has.
  expect((await get(first.at)).bytes.equals(bytes)).toBe(true);
  first.end();
  const again = give(id, bytes);
  expect(await settled(again.at)).toEqual({ status: 410, says: expect.stringContaining('is gone since') });
  expect(inFolder()).toHaveLength(1);
  expect((await settled(second.at)).status).toBe(206);
  for (const one of [again, second]) one.end();
  expect((await settled(give(id, bytes).at)).status).toBe(410);
  expect(inFolder()).toEqual([]);
});

test('the refusal of one id is not that of another one of the same bytes', async () => {
  await start();
  const bytes = randomBytes(mb);
  const [id, same] = [glance.add(bytes), glance.add(bytes)];
  const { client } = glance;
  // Deleted between the look-up and the download.
  const file = jest.spyOn(client, 'file').mockImplementationOnce(async (wanted) => {
    glance.remove(id);
    file.mockRestore();
    return client.file(wanted);
  });
  expect(await settled(give(id, bytes).at)).toEqual({ status: 502, says: 'its origin answers with status 404' });
  expect((await settled(give(same, bytes).at)).status).toBe(206);
});

test('a Glance that does not answer is reported as such, and a later URL may succeed', async () => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  glance.setFault(glance.status(500));
  expect(await settled(give(id, bytes).at)).toEqual({ status: 504, says: 'it answered 500' });
  glance.setFault(undefined);
  expect((await settled(give(id, bytes).at)).status).toBe(206);
});

test('a Keystone that does not answer before the download is no refusal of the image', async () => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  const file = jest
    .spyOn(glance.client, 'file')
    .mockImplementation(async (image) => raise('GlanceUnavailable', { image, reason: 'as the test wants it' }));
  try {
    expect(await settled(give(id, bytes).at)).toEqual({ status: 504, says: 'as the test wants it' });
    expect(file).toHaveBeenCalledTimes(3);
  } finally {
    file.mockRestore();
  }
});

test('a look-up that breaks is logged and begun again', async () => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  const find = jest.spyOn(glance.client, 'find').mockRejectedValueOnce(new Error('broken by the test'));
  try {
    expect((await settled(give(id, bytes).at)).status).toBe(206);
    expect(find).toHaveBeenCalledTimes(2);
  } finally {
    find.mockRestore();
  }
  expect(logged.filter((line) => line.includes('broken by the test'))).toHaveLength(1);
});

test.each(['../../outside', 'sha512-../../outside', `${'a'.repeat(64)}/../x`, 'a'.repeat(63), 'A'.repeat(64), ''])(
  'no file of the folder is named by %j',
  async (key) => {
    await start();
    const folder = createImageFolder(dir);
    expect(() => folder.pathOf(key)).toThrow('no digest');
    expect(() => folder.partOf(key, 'x')).toThrow('no digest');
  },
);

test('an image whose digest is a path is refused', async () => {
  await start();
  const { at } = give(randomUUID(), randomBytes(10), { glance_id: null, digest: '../../outside' });
  expect(await settled(at)).toEqual({ status: 502, says: 'it could not be fetched (Error)' });
});

test.each([
  [500, 3, 'its origin answers with status 500'],
  [403, 1, 'its origin answers with status 403'],
  [302, 1, 'its origin sends on to another place'],
  [204, 1, 'its origin answers with status 204'],
])('an answer of %i to the download is tried %i times, and said', async (status, tries, says) => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  const from = glance.asked.length;
  glance.setFault((request, response) => {
    if (!request.url!.endsWith('/file')) glance.answer(request, response);
    else response.writeHead(status, { location: 'http://169.254.169.254/latest/meta-data' }).end();
  });
  expect(await settled(give(id, bytes).at)).toEqual({ status: 502, says: expect.stringContaining(says) });
  expect(since(from, '/file')).toBe(tries);
});

test('a token that Glance refuses for the download is renewed', async () => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  const refused = new Set<unknown>();
  glance.setFault((request, response) => {
    const token = request.headers['x-auth-token'];
    if (!request.url!.endsWith('/file') || refused.size > 0) return glance.answer(request, response);
    refused.add(token);
    response.writeHead(401).end();
  });
  expect((await settled(give(id, bytes).at)).status).toBe(206);
  expect(refused.has(glance.tokens.at(-1))).toBe(false);
});

test('an image that is larger than all images may be is refused before it is fetched', async () => {
  await start({ mostBytes: mb });
  const bytes = randomBytes(10);
  const id = glance.add(bytes, { size: 100 * 2 ** 30 });
  const from = glance.asked.length;
  const reply = await settled(give(id, bytes, { bytes: 100 * 2 ** 30 }).at);
  expect(reply).toEqual({ status: 507, says: expect.stringContaining('102400 MiB') });
  expect(since(from, '/file')).toBe(0);
});

test('a body that goes on after the size of the image is cut off', async () => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  const ended = new EventEmitter();
  glance.setFault((request, response) => {
    if (!request.url!.endsWith('/file')) return glance.answer(request, response);
    response.on('close', () => ended.emit('cut'));
    response.writeHead(200);
    const more = (): void => void (response.destroyed || response.write(randomBytes(2 ** 16), more));
    more();
  });
  const cut = once(ended, 'cut');
  expect(await settled(give(id, bytes).at)).toEqual({ status: 502, says: expect.stringContaining('sends more') });
  await cut;
  expect(inFolder()).toEqual([]);
});

test('a boot service without the setting says so', async () => {
  await start({ glance: undefined });
  const reply = await settled(give(randomUUID(), randomBytes(10)).at);
  expect(reply).toEqual({ status: 502, says: 'TEMPER_GLANCE_IMAGES is not set on the boot service' });
});

test('a ramdisk gets the image of its own run alone', async () => {
  await start();
  const bytes = randomBytes(1_000);
  const id = glance.add(bytes);
  const mine = give(id, bytes);
  expect((await settled(mine.at)).status).toBe(206);
  for (const path of [`/v2/images/${id}/file`, `/boot/${id}/image`, `/boot/${newUrlToken()}/image`])
    expect([path, (await get(`${url}${path}`)).status]).toEqual([path, 404]);
});
