/** The driver contract against sushy-emulator, an emulator that other projects wrote. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDrivers } from '../../src/bmc';
import type { ActName } from '../../src/model/lifecycle/steps';
import { driverContract } from '../bmc/contract';
import { contextWith, intentsOf, nodeWith, quiet } from '../bmc/support/context';
import { startRelay } from '../bmc/support/relay';
import { clientCommand, clientsMissing } from '../support/clients';

/** One system per test: they keep what was done to them. */
const systems = 40;

/** What `--fake` has no answer for: openstack/sushy-tools, fakedriver.py. */
const lacks: Partial<Record<ActName, string>> = {
  read_bios: 'no BIOS resource (501)',
  stage_bios: 'no BIOS resource (501)',
  confirm_bios: 'no BIOS resource (501)',
  stage_bios_reset: 'no BIOS resource (501)',
  confirm_bios_reset: 'no BIOS resource (501)',
  reset_secure_boot_keys: 'no keys to reset',
  clear_secure_boot_keys: 'no keys to clear',
  reset_bmc: 'no Manager.Reset action',
  read_subscriptions: 'no EventService',
  create_subscription: 'no EventService',
  delete_subscription: 'no EventService',
};

const uuidOf = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Serves an image, because the emulator really downloads what it is asked to insert. */
const startImages = async () => {
  const server = http.createServer((_, res) => {
    res.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'inline; filename=boot.iso',
    });
    res.end('not much of an image');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/boot.iso` };
};

/** Python's repr for the few values in here. */
const settingsFile = (port: number, dir: string): string =>
  [
    'SUSHY_EMULATOR_FAKE_DRIVER = True',
    "SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'",
    `SUSHY_EMULATOR_LISTEN_PORT = ${port}`,
    `SUSHY_EMULATOR_STATE_DIR = ${JSON.stringify(dir)}`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = ${JSON.stringify(
      Array.from({ length: systems }, (_, index) => ({
        uuid: uuidOf(index),
        name: `fake-${index}`,
        power_state: 'Off',
        nics: [{ mac: `00:5c:52:31:3a:${index.toString(16).padStart(2, '0')}`, ip: '192.0.2.10' }],
      })),
    )}`,
  ].join('\n');

const missing = clientsMissing() ?? (existsSync(clientCommand('sushy-emulator')) ? undefined : 'no sushy-emulator');

if (missing) test.skip(`the driver contract on sushy-emulator: ${missing}`, () => undefined);
else {
  let emulator: ChildProcess;
  let dir: string;
  let url: string;
  let images: Awaited<ReturnType<typeof startImages>>;
  let used = 0;

  const answers = async (): Promise<void> => {
    for (;;) {
      if (emulator.exitCode !== null) throw new Error(`sushy-emulator ended with ${emulator.exitCode}`);
      const ok = await fetch(`${url}/redfish/v1/`).then(
        (reply) => reply.ok,
        () => false,
      );
      if (ok) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'sushy-'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    images = await startImages();
    const config = join(dir, 'emulator.conf');
    await writeFile(config, settingsFile(port, dir));
    emulator = spawn(clientCommand('sushy-emulator'), ['--config', config], { stdio: 'ignore', cwd: dir });
    await answers();
  });

  afterAll(async () => {
    const ended = new Promise((resolve) => emulator.once('exit', resolve));
    emulator.kill('SIGKILL');
    await ended;
    images.server.close();
    await rm(dir, { recursive: true, force: true });
  });

  driverContract(
    'redfish on sushy-emulator --fake',
    async () => {
      const proxy = await startRelay(url);
      const drivers = createDrivers({ log: quiet, networks: ['127.0.0.0/8'] });
      return {
        driver: drivers.get('redfish'),
        node: nodeWith('redfish', {
          redfish_address: proxy.url,
          redfish_system_id: `/redfish/v1/Systems/${uuidOf(used++)}`,
        }),
        // Its power changes land up to eleven seconds later.
        timing: { powerTimeoutMs: 40_000, softPowerTimeoutMs: 40_000, settleMs: 15_000, pollMs: 50 },
        proxy,
        settings: [{ name: 'Any', value: 'thing' }],
        image: images.url,
        async close() {
          await drivers.close();
          await proxy.close();
        },
      };
    },
    lacks,
    ['send_raw'],
  );

  describe('looks at sushy-emulator --fake', () => {
    const look = async (act: ActName, properties: Record<string, unknown> = {}, kind?: string) => {
      const drivers = createDrivers({ log: quiet, networks: ['127.0.0.0/8'] });
      const info = { redfish_address: url, redfish_system_id: `/redfish/v1/Systems/${uuidOf(used++)}` };
      try {
        const node = { ...nodeWith('redfish', info), properties };
        return await drivers.get('redfish').acts[act]!(node, {}, contextWith(intentsOf(act), { kind }));
      } finally {
        await drivers.close();
      }
    };

    test('it reports its boot devices, drives, lights and firmware', async () => {
      expect((await look('list_boot_devices')).value).toEqual({
        supported_boot_devices: expect.arrayContaining(['pxe', 'disk', 'cdrom']),
      });
      expect((await look('read_boot_device')).value).toMatchObject({ boot_device: expect.any(String) });
      expect((await look('read_media')).value).toContainEqual(
        expect.objectContaining({ inserted: false, image: null }),
      );
      expect((await look('read_indicators')).value).toContainEqual(expect.objectContaining({ component: 'system' }));
      expect((await look('read_firmware')).seen?.firmware).toContainEqual(
        expect.objectContaining({ component: 'bmc' }),
      );
    });

    test('verify is content with what it has', async () => {
      expect((await look('verify', {}, 'verify')).seen).toMatchObject({ power_state: expect.any(String) });
    });

    test('it can be inspected where the operator has said what it does not tell: its processors', async () => {
      await expect(look('inspect')).rejects.toMatchObject({ message: expect.stringContaining('cpu_arch') });
      const { seen } = await look('inspect', { cpu_arch: 'x86_64', memory_mb: 1024, local_gb: 10 });
      expect(seen?.macs).toEqual([expect.stringMatching(/^00:5c:52:31:3a:/)]);
    });
  });
}
