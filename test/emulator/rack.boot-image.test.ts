/** A host of the rack boots from a boot service as a real one: it reads the image by ranges, and its ramdisk does as the arguments say. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Rack, startRack } from '../../emulator/rack';
import { argumentsIn } from '../../emulator/rack/boot-image';
import { emulatedImage } from '../../emulator/rack/emulated-image';
import { fileIn } from '../../emulator/rack/iso';
import { bootListener, createImages, storeImage } from '../../src/boot';
import { agentTokenOf, hashOf, inspectionTokenOf, newUrlToken } from '../../src/inventory/secrets/boot-tokens';
import { areaMarks } from '../../src/model/boot/ramdisks';
import { noImages } from '../boot/support/no-images';
import { foundBy } from '../support/found';
import { type RamdiskApi, startRamdiskApi } from '../support/ramdisk-api';
import { accepted } from './rack-client';

const made = emulatedImage();
const slice = async (at: number, length: number) => made.subarray(at, at + length);

test('a file is found in an image made here', async () => {
  expect((await fileIn(slice, 'boot/grub/grub.cfg')).toString()).toContain(
    `linux /boot/vmlinuz ${areaMarks.arguments}`,
  );
  await expect(fileIn(slice, 'boot/grub/none.cfg')).rejects.toThrow('no none.cfg');
  await expect(fileIn(async (_, length) => Buffer.alloc(length), 'boot')).rejects.toThrow('no ISO 9660');
});

const makers = foundBy<{ programs: Readonly<Record<string, string>> }>('iso.js');
const [mkisofs] = Object.values(makers.programs ?? {});
(mkisofs ? test : test.skip)(
  `a file is found in an image of another's tool${mkisofs ? '' : ` (skipped: ${makers.missing})`}`,
  async () => {
    const work = await mkdtemp(join(tmpdir(), 'iso-'));
    await mkdir(join(work, 'tree/boot/grub'), { recursive: true });
    const config = Buffer.from('linux /boot/vmlinuz quiet\n');
    await writeFile(join(work, 'tree/boot/grub/grub.cfg'), config);
    execFileSync(mkisofs!, ['-quiet', '-r', '-J', '-o', join(work, 'x.iso'), join(work, 'tree')], { stdio: 'ignore' });
    const bytes = await readFile(join(work, 'x.iso'));
    const found = await fileIn(async (at, length) => bytes.subarray(at, at + length), 'boot/grub/grub.cfg');
    expect(found.equals(config)).toBe(true);
    await rm(work, { recursive: true });
  },
);

test.each([
  ['linux /boot/vmlinuz quiet ipa-api-url=http://x ipa-agent-token=t\n', { apiUrl: 'http://x', token: 't' }],
  [
    'linux /boot/vmlinuz ipa-inspection-callback-url=http://y?boot=z ipa-api-url=http://x  \n',
    { apiUrl: 'http://x', inspectionUrl: 'http://y?boot=z' },
  ],
  ['linux /boot/vmlinuz quiet\n', undefined],
  ['', undefined],
])('%j is read as a kernel reads it', (text, found) => expect(argumentsIn(text)).toEqual(found));

describe('a host', () => {
  let api: RamdiskApi;
  let rack: Rack;
  let service: Server;
  let work: string;
  let closeImages: () => Promise<void>;
  const token = newUrlToken();
  const ranges: (string | undefined)[] = [];
  let inspects: boolean;
  const url = () => `http://127.0.0.1:${(service.address() as AddressInfo).port}/boot/${token}/ramdisk.iso`;

  beforeEach(async () => {
    api = await startRamdiskApi();
    work = await mkdtemp(join(tmpdir(), 'rack-boot-'));
    inspects = false;
    await writeFile(join(work, 'own.iso'), made);
    const ramdisk = await storeImage(join(work, 'images'), { iso: join(work, 'own.iso') }, '');
    const images = createImages(join(work, 'images'), () => {});
    closeImages = images.close;
    const listener = bootListener({
      inventory: {
        bootCapabilities: {
          served: async (hash) =>
            hash === hashOf(token)
              ? {
                  node_uuid: 'n' as never,
                  run_id: 'r' as never,
                  arguments: `ipa-api-url=${api.url}`,
                  inspection_url: inspects ? `${api.url}/v1/continue_inspection` : null,
                  network: false,
                  ramdisk,
                }
              : undefined,
        },
        imageCapabilities: noImages.capabilities,
        networkBoots: { give: async () => ({ is: 'none' }) },
      },
      images,
      imageCache: noImages.cache,
      files: [],
      log: { info() {}, warn() {} },
      trusts: () => false,
      pieceMs: 10_000,
    });
    ranges.length = 0;
    service = createServer((request, response) => {
      ranges.push(request.headers.range);
      listener(request, response);
    });
    await new Promise<void>((done) => service.listen(0, '127.0.0.1', done));
    rack = await startRack({
      stateDir: join(work, 'rack'),
      bmcs: 1,
      profiles: ['openbmc'],
      timing: { powerOnMs: 10, powerOffMs: 10, gracefulOffMs: 10, postMs: 5 },
      // An API that is not there: what the arguments name is what counts.
      ramdisks: {
        apiUrl: 'http://127.0.0.1:9',
        images: ['http://images.example.org/r.iso'],
        timing: { bootMs: 1, lookupRetryMs: 5 },
      },
    });
  });
  afterEach(async () => {
    await rack.close();
    await api.close();
    service.closeAllConnections();
    await new Promise((closed) => service.close(closed));
    await closeImages();
    await rm(work, { recursive: true, force: true });
  });

  const redfish = (method: string, path: string, body: unknown) => accepted(rack.bmcs[0]!, method, path, body);
  const system = '/redfish/v1/Systems/system';
  const bootDisc = async (image: string): Promise<void> => {
    await redfish('POST', `${system}/VirtualMedia/CD1/Actions/VirtualMedia.InsertMedia`, { Image: image });
    await redfish('PATCH', system, { Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' } });
    await redfish('POST', `${system}/Actions/ComputerSystem.Reset`, { ResetType: 'On' });
  };
  const mac = () => rack.bmcs[0]!.macs[0]!;

  test('calls the API that its arguments name, with the token that they hold, whatever the lookup hands out', async () => {
    const uuid = api.know(mac());
    api.brings(mac(), agentTokenOf(token));
    await bootDisc(url());
    const { body } = await api.beat(({ node }) => node === uuid);
    expect(body.agent_token).toBe(agentTokenOf(token));
    expect(ranges[0]).toBeUndefined(); // HEAD
    expect(ranges.slice(1).every((range) => /^bytes=\d+-\d+$/.test(range ?? ''))).toBe(true);
    expect(api.inspections).toEqual([]);
  });

  test('sends what it finds where its arguments say, with the proof of its boot', async () => {
    inspects = true;
    api.know(mac());
    api.brings(mac(), agentTokenOf(token));
    await bootDisc(url());
    await api.beat(() => true);
    expect(api.inspections).toHaveLength(1);
    expect(api.proofs).toEqual([inspectionTokenOf(token)]);
  });

  test('boots nothing from a URL that is worth nothing', async () => {
    api.know(mac());
    await bootDisc(url().replace(token, newUrlToken()));
    while (ranges.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setImmediate(resolve));
    expect([rack.agents!.list(), api.lookups]).toEqual([[], []]);
  });
});
