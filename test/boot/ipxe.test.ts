/** A real iPXE, in a virtual machine without a disk: it reads our scripts and loads what they name. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createImages } from '../../src/boot';
import type { Served } from '../../src/inventory/nodes/boot-capabilities';
import type { Asking, GrantedBoot } from '../../src/inventory/nodes/network-boots';
import { newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { longestArguments } from '../../src/model/boot/kernel-arguments';
import { foundBy } from '../support/found';
import { sha256Of } from './support/digests';
import { networkListener } from './support/network-listener';

const { programs, missing } = foundBy<{ programs: { 'qemu-system-x86_64': string } }>('boot-programs.js', 'qemu');
const qemu = programs?.['qemu-system-x86_64'] ?? '';
// iPXE itself in the form of a Linux kernel, small and with a BIOS boot header: it stands for the ramdisk's.
const lkrn = ['/boot/ipxe.lkrn', join(dirname(qemu), '..', 'root', 'boot', 'ipxe.lkrn')].find((file) =>
  existsSync(file),
)!;
const able = programs ? it : it.skip;
const why = programs ? '' : ` (skipped: ${missing})`;

const folder = mkdtempSync(join(tmpdir(), 'ipxe-'));
const images = createImages(folder, () => {});
let machine: ChildProcess | undefined;
let server: Server | undefined;
afterAll(async () => {
  if (machine?.kill('SIGKILL')) await once(machine, 'exit');
  server?.closeAllConnections();
  server?.close();
  await images.close();
  rmSync(folder, { recursive: true });
});

able(
  `asks for its own script, waits until it is on record, and loads kernel, initramfs and small files${why}`,
  async () => {
    const [kernel, initrd] = [readFileSync(lkrn), randomBytes(500_000)];
    writeFileSync(join(folder, `${sha256Of(kernel)}.kernel`), kernel);
    writeFileSync(join(folder, `${sha256Of(initrd)}.initrd`), initrd);
    const token = newUrlToken();
    const boot = { node_uuid: 'n' as Served['node_uuid'], run_id: 'r' as Served['run_id'], arch: 'x86_64' };
    const text = 'console=ttyS0,115200 ipa-api-url=http://192.0.2.1:6387 ';
    const served: Served = {
      ...boot,
      // As long as they may be.
      arguments: text + 'x'.repeat(longestArguments - 150 - text.length),
      inspection_url: null,
      network: true,
      ramdisk: {
        kernel_sha256: sha256Of(kernel),
        initrd_sha256: sha256Of(initrd),
        iso_sha256: 'a'.repeat(64),
        iso_bytes: 1,
        arguments_at: 0,
        arguments_bytes: 1,
        files_at: 0,
        files_bytes: 1,
      },
    };
    const asked: Asking[] = [];
    const answers: GrantedBoot[] = [
      { is: 'early', ...boot },
      { is: 'given', secret: token, ...boot },
    ];
    const listener = networkListener({
      images,
      token,
      served: () => served,
      answers: () => answers,
      asked,
      files: [{ path: 'etc/x', content: Buffer.from('x') }],
    });
    const sent: string[] = [];
    const loaded = new Promise<void>((done) => {
      server = createServer((request, response) => {
        response.once('finish', () => {
          sent.push(request.url!);
          if (request.url!.endsWith('/files.img')) done();
        });
        listener(request, response);
      }).listen(0, '127.0.0.1', () => {
        const { port } = server!.address() as AddressInfo;
        const file = `http://10.0.2.2:${port}/boot/network/boot.ipxe`;
        const net = `user,id=net,restrict=off,bootfile=${file}`;
        const hardware = ['-m', '256', '-display', 'none', '-boot', 'n', '-netdev', net, '-no-reboot'];
        const port0 = ['-device', 'virtio-net-pci,netdev=net,mac=52:54:00:77:00:01'];
        machine = spawn(qemu, [...hardware, ...port0], { stdio: 'ignore' });
      });
    });
    await loaded;
    expect(asked.map(({ mac, arch }) => [mac, arch])).toEqual([
      ['52:54:00:77:00:01', 'x86_64'],
      ['52:54:00:77:00:01', 'x86_64'],
    ]);
    expect(sent.slice(-3)).toEqual(['kernel', 'initrd', 'files.img'].map((part) => `/boot/${token}/${part}`));
  },
);
