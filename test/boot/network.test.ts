/** What machines that boot by the network are sent: their script once, then kernel, initramfs and small files under its URL. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createImages } from '../../src/boot';
import { cpioOf } from '../../src/boot/cpio';
import type { Served } from '../../src/inventory/nodes/boot-capabilities';
import type { Asking, GrantedBoot } from '../../src/inventory/nodes/network-boots';
import { agentTokenOf, inspectionTokenOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { sha256Of } from './support/digests';
import { networkListener } from './support/network-listener';

const folder = mkdtempSync(join(tmpdir(), 'network-'));
const [kernel, initrd] = [randomBytes(200_000), randomBytes(300_000)];
const files = [{ path: 'etc/ironic-python-agent.d/temper.conf', content: Buffer.from('[DEFAULT]\n') }];
const mac = '52:54:00:77:00:01';
const token = newUrlToken();
const boot = { node_uuid: 'n' as Served['node_uuid'], run_id: 'r' as Served['run_id'], arch: 'x86_64' };
const served: Served = {
  node_uuid: boot.node_uuid,
  run_id: boot.run_id,
  arguments: 'console=ttyS0 ipa-api-url=http://192.0.2.1:6387',
  inspection_url: null,
  network: true,
  ramdisk: {
    iso_sha256: 'a'.repeat(64),
    iso_bytes: 1,
    arguments_at: 0,
    arguments_bytes: 1,
    files_at: 0,
    files_bytes: 1,
    kernel_sha256: sha256Of(kernel),
    initrd_sha256: sha256Of(initrd),
  },
};

let server: Server;
let base: string;
let answers: GrantedBoot[];
let asked: Asking[];
let now: Served | undefined;
let warned: string[];
/** What the store waits for before it answers. */
let held = async (): Promise<void> => {};
const images = createImages(folder, () => {});

beforeAll(() => {
  writeFileSync(join(folder, `${sha256Of(kernel)}.kernel`), kernel);
  writeFileSync(join(folder, `${sha256Of(initrd)}.initrd`), initrd);
  writeFileSync(join(folder, 'snponly.efi'), 'MZ');
});
afterAll(async () => {
  await images.close();
  rmSync(folder, { recursive: true });
});
const start = async (smallFiles = files, trusts = (_: string) => false) => {
  [answers, asked, now, warned] = [[], [], served, []];
  const listener = networkListener({
    images,
    token,
    served: () => now,
    answers: () => answers,
    held: () => held(),
    asked,
    files: smallFiles,
    loaders: folder,
    trusts,
    warn: (message) => void warned.push(message),
  });
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

/** What the kernel calls the other end of every connection from here on. */
const comingFrom = (value: string) =>
  server.prependListener('connection', (socket) => Object.defineProperty(socket, 'remoteAddress', { value }));

const get = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(base + path, init);
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()), headers: answer.headers };
};
const scriptOf = async (query = '', loader = 'boot.ipxe') =>
  (await get(`/boot/network/52-54-00-77-00-01/${loader}${query}`)).bytes.toString();

it('the first script asks for the machine’s own, by the port that it came from', async () => {
  await start();
  const { bytes, headers } = await get('/boot/network/boot.ipxe');
  expect(bytes.toString()).toMatch(/^#!ipxe\n/);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: iPXE's own settings
  expect(bytes.toString()).toContain('/boot/network/${netX/mac:hexhyp}/boot.ipxe?arch=${buildarch}');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(asked).toEqual([]);
});

it.each([
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['fe80::1%eth0', 'fe80::1'],
])('a machine at %s is the one at %s', async (address, peer) => {
  await start();
  comingFrom(address);
  await scriptOf();
  expect(asked).toMatchObject([{ mac, peer }]);
});

it('gives a boot’s script with its arguments and token, and what it loads', async () => {
  await start();
  answers = [{ is: 'given', secret: token, ...boot }];
  const script = await scriptOf('?arch=i386');
  expect(asked).toMatchObject([{ mac, peer: '127.0.0.1', arch: 'x86_64' }]);
  expect(script.split('\n')).toContain(
    `kernel --name kernel /boot/${token}/kernel initrd=initrd initrd=files.img BOOTIF=${mac} ${served.arguments} ipa-agent-token=${agentTokenOf(token)} || goto wait`,
  );
  expect((await get(`/boot/${token}/kernel`)).bytes.equals(kernel)).toBe(true);
  expect((await get(`/boot/${token}/initrd`)).bytes.equals(initrd)).toBe(true);
  expect((await get(`/boot/${token}/files.img`)).bytes.equals(cpioOf(files))).toBe(true);
  const part = await get(`/boot/${token}/initrd`, { headers: { range: 'bytes=100-199' } });
  expect([part.status, part.bytes.equals(initrd.subarray(100, 200))]).toEqual([206, true]);
  expect((await get(`/boot/${token}/ramdisk.iso`)).status).toBe(404);
});

it('an inspection has its callback in the script, and a boot without small files loads none', async () => {
  await start([]);
  now = { ...served, inspection_url: 'http://192.0.2.1:6387/v1/continue_inspection' };
  answers = [{ is: 'given', secret: token, ...boot }];
  const script = await scriptOf();
  expect(script).toContain(
    `ipa-inspection-callback-url=${now.inspection_url}?boot=${inspectionTokenOf(token)} || goto wait`,
  );
  expect(script).not.toContain('files.img');
});

it('GRUB gets the same in its own words', async () => {
  await start();
  answers = [{ is: 'given', secret: token, ...boot }];
  expect((await get(`/boot/network/${mac}/grub.cfg`)).bytes.toString()).toBe(
    [
      'set timeout=0',
      `linux $temper/boot/${token}/kernel BOOTIF=${mac} ${served.arguments} ipa-agent-token=${agentTokenOf(token)}`,
      `initrd $temper/boot/${token}/initrd $temper/boot/${token}/files.img`,
      'boot',
      '',
    ].join('\n'),
  );
});

it('a machine that asks before its run has powered it on asks again, and gets nothing secret', async () => {
  await start();
  answers = [{ is: 'early', ...boot }];
  const script = await scriptOf();
  expect(script).toMatch(/sleep \d+\n/);
  expect(script).toContain('boot.ipxe?arch=');
  expect(script).not.toContain(token);
});

it.each([
  ['each says for whom it asks', { 'x-forwarded-for': '192.0.2.10' }, { 'x-forwarded-for': '192.0.2.66' }],
  ['it does not say for whom it asks', {}, {}],
])('behind a proxy (%s), a second machine is not given the token of the first', async (_, first, second) => {
  await start(files, (address) => address === '127.0.0.1');
  answers = [
    { is: 'given', secret: token, ...boot },
    { is: 'again', ...boot },
  ];
  const path = '/boot/network/52-54-00-77-00-01/boot.ipxe';
  const [one, other] = [await get(path, { headers: first }), await get(path, { headers: second })];
  expect(one.bytes.toString()).toContain(agentTokenOf(token));
  expect(other.bytes.toString()).not.toContain(agentTokenOf(token));
  expect(asked.map(({ peer }) => peer)).toEqual(
    [first, second].map((they) => (they as Record<string, string>)['x-forwarded-for'] ?? '127.0.0.1'),
  );
});

it('has only so many requests of one machine under way', async () => {
  await start();
  const release: (() => void)[] = [];
  held = () => new Promise((done) => release.push(done));
  const statuses: Promise<number>[] = [];
  const path = '/boot/network/52-54-00-77-00-01/boot.ipxe';
  // The sixteen that are let in wait for the store, the next one does not.
  for (let at = 1; at <= 16; at += 1) {
    statuses.push(get(path).then(({ status }) => status));
    while (release.length < at) await new Promise((done) => setImmediate(done));
  }
  expect((await get(path)).status).toBe(503);
  held = async () => {};
  for (const done of release) done();
  expect(await Promise.all(statuses)).toEqual(Array.from({ length: 16 }, () => 200));
});

it('a loader whose connection broke gets its script again at the same address, while its boot lasts', async () => {
  await start();
  answers = [
    { is: 'given', secret: token, ...boot },
    { is: 'again', ...boot },
    { is: 'again', ...boot },
  ];
  const first = await scriptOf();
  expect(await scriptOf()).toBe(first);
  now = undefined;
  expect(await scriptOf()).toMatch(/exit 1/);
});

it.each(['none', 'again', 'taken', 'contested', 'architecture'] as const)(
  'a machine that is answered "%s" boots its next device',
  async (is) => {
    await start();
    answers = [is === 'none' ? { is } : { is, ...boot }];
    const script = await scriptOf();
    expect(script).toMatch(/^#!ipxe\necho [A-Z][^\n]+\nexit 1\n$/);
    expect(script).not.toContain(token);
    expect(warned).toHaveLength(is === 'contested' || is === 'architecture' ? 1 : 0);
  },
);

it('a secret that another address was given is in no answer to a later one', async () => {
  await start();
  answers = [
    { is: 'given', secret: token, ...boot },
    { is: 'contested', ...boot },
    { is: 'taken', ...boot },
  ];
  expect(await scriptOf()).toContain(token);
  expect(await scriptOf()).not.toContain(token);
  expect(await scriptOf()).not.toContain(token);
});

it('a look at the headers takes no boot', async () => {
  await start();
  expect((await get(`/boot/network/${mac}/boot.ipxe`, { method: 'HEAD' })).status).toBe(200);
  expect(asked).toEqual([]);
});

it('firmware that fetches its loader by HTTP gets one of the folder, and no other file', async () => {
  await start();
  expect((await get('/boot/network/snponly.efi')).bytes.toString()).toBe('MZ');
  for (const path of ['ipxe.efi', `${sha256Of(kernel)}.kernel`, '..%2f..%2fetc%2fpasswd', 'x/boot.ipxe'])
    expect((await get(`/boot/network/${path}`)).status).toBe(404);
});

it('a URL that a BMC was given leads to no kernel', async () => {
  await start();
  now = { ...served, network: false };
  for (const part of ['kernel', 'initrd', 'files.img']) expect((await get(`/boot/${token}/${part}`)).status).toBe(404);
});
