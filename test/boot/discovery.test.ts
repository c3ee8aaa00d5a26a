/** What machines are sent that no node stands for: a script without a secret, and the installation's ramdisk. */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  type ClientRequest,
  createServer,
  get as httpGet,
  IncomingMessage,
  type Server,
  ServerResponse,
} from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createImages, type Discovery } from '../../src/boot';
import { cpioOf } from '../../src/boot/cpio';
import type { DiscoveryRamdisk } from '../../src/inventory/discovery-boots';
import type { Asking } from '../../src/inventory/nodes/network-boots';
import { newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { longestArguments } from '../../src/model/boot/kernel-arguments';
import { sha256Of } from './support/digests';
import { networkListener } from './support/network-listener';

const folder = mkdtempSync(join(tmpdir(), 'discovery-'));
const [kernel, initrd] = [randomBytes(100_000), randomBytes(150_000)];
const files = [{ path: 'etc/ironic-python-agent.d/temper.conf', content: Buffer.from('[DEFAULT]\n') }];
const mac = '52:54:00:66:00:01';
const other = '/boot/network/52-54-00-66-00-02/boot.ipxe';
const path = '/boot/network/52-54-00-66-00-01/boot.ipxe';
const discovery: Discovery = {
  ramdisk: 'debian',
  apiUrl: 'http://192.0.2.1:6386',
  store: {
    ramdiskFor: async (asked, name) => (name === 'debian' && !nodes.includes(asked) ? ramdisk : undefined),
    ramdisk: async (name, uuid = ramdisk.uuid) => (name === 'debian' && uuid === ramdisk.uuid ? ramdisk : undefined),
  },
};
const images = createImages(folder, () => {});

let server: Server | undefined;
let base: string;
let ramdisk: DiscoveryRamdisk;
let nodes: string[];
const asked: Asking[] = [];

beforeAll(() => {
  writeFileSync(join(folder, `${sha256Of(kernel)}.kernel`), kernel);
  writeFileSync(join(folder, `${sha256Of(initrd)}.initrd`), initrd);
});
beforeEach(() => {
  nodes = [];
  ramdisk = {
    uuid: randomUUID(),
    arch: 'x86_64',
    args: 'console=ttyS0 quiet',
    kernel_sha256: sha256Of(kernel),
    initrd_sha256: sha256Of(initrd),
  };
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((closed) => server?.close(closed));
});
afterAll(async () => {
  await images.close();
  rmSync(folder, { recursive: true });
});

const listenerOf = ({ on = true, small = files, readersAtOnce = 16 } = {}) =>
  networkListener({
    images,
    token: newUrlToken(),
    served: () => undefined,
    answers: () => [],
    asked,
    files: small,
    readersAtOnce,
    ...(on && { discovery }),
  });
const start = async (given: Parameters<typeof listenerOf>[0] = {}) => {
  server = createServer(listenerOf(given)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const get = async (at: string, init: RequestInit = {}) => {
  const answer = await fetch(base + at, init);
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
};
const textOf = async (at: string, init?: RequestInit) => (await get(at, init)).bytes.toString();
const exits = /^#!ipxe\necho [A-Z][^\n]+\nexit 1\n$/;

it('a machine that no node stands for loads the ramdisk, which reports what it finds and looks for no node', async () => {
  await start();
  const at = `/boot/discovery/${ramdisk.uuid}`;
  expect((await textOf(`${path}?arch=x86_64`)).split('\n')).toContain(
    `kernel --name kernel ${at}/kernel initrd=initrd initrd=files.img BOOTIF=${mac} console=ttyS0 quiet ipa-inspection-callback-url=http://192.0.2.1:6386/v1/continue_inspection || goto wait`,
  );
  expect((await get(`${at}/kernel`)).bytes.equals(kernel)).toBe(true);
  expect((await get(`${at}/initrd`)).bytes.equals(initrd)).toBe(true);
  expect((await get(`${at}/files.img`)).bytes.equals(cpioOf(files))).toBe(true);
  const part = await get(`${at}/initrd`, { headers: { range: 'bytes=100-199' } });
  expect([part.status, part.bytes.equals(initrd.subarray(100, 200))]).toEqual([206, true]);
  expect((await get(`${at}/ramdisk.iso`)).status).toBe(404);
});

it('there is no secret in it: each machine gets the same, as often as it asks, but for its MAC address', async () => {
  await start();
  const [first, again, another] = [await textOf(path), await textOf(path), await textOf(other)];
  expect(again).toBe(first);
  expect(another).toBe(first.replaceAll(mac, '52:54:00:66:00:02'));
  expect(first).not.toMatch(/token|ipa-api-url|boot=/);
});

it('GRUB gets the same in its own words', async () => {
  await start({ small: [] });
  expect(await textOf(`/boot/network/${mac}/grub.cfg`)).toBe(
    [
      'set timeout=0',
      `linux $temper/boot/discovery/${ramdisk.uuid}/kernel BOOTIF=${mac} console=ttyS0 quiet ipa-inspection-callback-url=http://192.0.2.1:6386/v1/continue_inspection`,
      `initrd $temper/boot/discovery/${ramdisk.uuid}/initrd`,
      'boot',
      '',
    ].join('\n'),
  );
});

it('a machine of a node boots its next device, and so does each without discovery', async () => {
  await start();
  nodes = [mac];
  expect(await textOf(path)).toMatch(exits);
  server!.closeAllConnections();
  await new Promise((closed) => server!.close(closed));
  await start({ on: false });
  expect(await textOf(other)).toMatch(exits);
  expect((await get(`/boot/discovery/${ramdisk.uuid}/kernel`)).status).toBe(404);
});

it('a machine of another architecture boots its next device', async () => {
  await start();
  expect(await textOf(`${path}?arch=arm64`)).toMatch(exits);
  expect(await textOf(`${path}?arch=i386`)).toContain('/kernel');
});

it('the files of another record are not served, nor those of one that was replaced', async () => {
  await start();
  const { uuid } = ramdisk;
  expect((await get(`/boot/discovery/${randomUUID()}/kernel`)).status).toBe(404);
  expect((await get(`/boot/discovery/${uuid}/kernel`)).status).toBe(200);
  ramdisk = { ...ramdisk, uuid: randomUUID() };
  expect((await get(`/boot/discovery/${uuid}/kernel`)).status).toBe(404);
});

it('arguments that do not fit are 503, and nothing is booted', async () => {
  await start();
  ramdisk = { ...ramdisk, args: 'x'.repeat(longestArguments) };
  expect((await get(path)).status).toBe(503);
});

it('one address has the readers that a URL has, and takes none of another’s', async () => {
  await start({ readersAtOnce: 2 });
  // The last one's address is mapped into IPv6: it is the first one's.
  const from = ['127.0.0.2', '127.0.0.2', '127.0.0.2', '127.0.0.3', '::ffff:127.0.0.2'];
  server?.prependListener('connection', (socket) =>
    Object.defineProperty(socket, 'remoteAddress', { value: from.shift() }),
  );
  // More than the buffers of a connection hold.
  const large = randomBytes(32_000_000);
  writeFileSync(join(folder, `${sha256Of(large)}.initrd`), large);
  ramdisk = { ...ramdisk, initrd_sha256: sha256Of(large) };
  const opened: ClientRequest[] = [];
  const reads = async (): Promise<number | undefined> => {
    const request = httpGet(`${base}/boot/discovery/${ramdisk.uuid}/initrd`, { agent: false });
    opened.push(request);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response.statusCode;
  };
  const answers = [await reads(), await reads(), await reads(), await reads(), await reads()];
  for (const request of opened) request.destroy();
  expect(answers).toEqual([200, 200, 503, 200, 503]);
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('fifty thousand MAC addresses from one machine leave nothing in memory', async () => {
  const listener = listenerOf();
  const macAt = (at: number) =>
    Buffer.from([0x52, 0x54, 1, at >> 16, at >> 8, at])
      .toString('hex')
      .replace(/..(?=.)/g, '$&-');
  const ask = async (at: number) => {
    const request = new IncomingMessage(new Socket());
    Object.assign(request, { method: 'GET', url: `/boot/network/${macAt(at)}/boot.ipxe` });
    const response = new ServerResponse(request);
    const answered = new Promise<void>((done) => void Object.assign(response, { end: () => done() }));
    listener(request, response);
    await answered;
    return response.statusCode;
  };
  const heapAfter = async (from: number, to: number): Promise<number> => {
    for (let at = from; at < to; at++) if ((await ask(at)) !== 200) throw new Error(`machine ${at} was not answered`);
    asked.length = 0;
    // What the answers put off to a later turn of the event loop holds them until then.
    await immediate();
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(0, 5_000);
  // An address alone, kept in a map, is 100 bytes.
  expect((await heapAfter(5_000, 55_000)) - before).toBeLessThan(3_000_000);
});
