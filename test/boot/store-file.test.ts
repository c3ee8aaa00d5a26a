/** `temper image add` where the folder is: a file is kept by its digest, as the boot service finds it, or not at all. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createImageCache } from '../../src/boot';
import { storeImage } from '../../src/process/command/ramdisks';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'stored-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const bootable = (): Buffer => {
  const bytes = randomBytes(100_000);
  bytes.writeUInt16LE(0xaa55, 510);
  bytes[0] = 0;
  return bytes;
};

test('a file is copied by its digest, and sent by a boot service that reads the folder', async () => {
  const bytes = bootable();
  writeFileSync(join(dir, 'own.raw'), bytes);
  const folder = join(dir, 'boot');
  const stored = await storeImage({ TEMPER_BOOT_DIR: folder }, { file: join(dir, 'own.raw') });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect(stored).toEqual({ sha256, bytes: 100_000, disk_format: 'raw' });
  expect(readdirSync(join(folder, 'images'))).toEqual([`${sha256}.img`]);
  expect(readFileSync(join(folder, 'images', `${sha256}.img`)).equals(bytes)).toBe(true);
  const cache = createImageCache({
    dir: folder,
    mostBytes: 2 ** 30,
    origins: [],
    inventory: { imageCapabilities: { kept: async () => [] } },
    log: { info() {}, warn() {} },
  });
  const of = { algorithm: 'sha256', digest: sha256, glance_id: null } as const;
  const image = { name: 'own', url: null, bytes: 100_000, ...of };
  while ((await cache.find(image)).is === 'fetching') await new Promise((done) => setImmediate(done));
  expect(await cache.find(image)).toMatchObject({ is: 'ready', bytes: 100_000 });
  await cache.close();
});

test('a file whose first bytes show no format has none', async () => {
  writeFileSync(join(dir, 'x'), 'text');
  expect(await storeImage({}, { file: join(dir, 'x'), dir })).not.toHaveProperty('disk_format');
});

test('a file that is not there is refused, and so is a folder that is not named', async () => {
  const missing = { exit: 'refused', message: expect.stringContaining('could not be used') };
  await expect(storeImage({}, { file: join(dir, 'none'), dir })).rejects.toMatchObject(missing);
  expect(readdirSync(join(dir, 'images'))).toEqual([]);
  await expect(storeImage({}, { file: join(dir, 'none') })).rejects.toMatchObject({
    message: 'Give --dir, or set TEMPER_BOOT_DIR: the folder that the boot service reads.',
  });
});
