/** A boot image made by the tools themselves, and what is refused before or after they run. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileIn } from '../../emulator/rack/iso';
import { storeImage } from '../../src/boot';
import { areaMarks } from '../../src/model/boot/ramdisks';
import { makeBootImage } from '../../src/process/command/ramdisks';
import { foundBy } from '../support/found';

const { programs, missing } = foundBy<{ programs: Record<string, string> }>('ramdisk-tools.js');
const searched = [...new Set(Object.values(programs ?? {}).map(dirname)), process.env.PATH ?? ''].join(delimiter);
const made = programs ? it : it.skip;
const why = programs ? '' : ` (skipped: ${missing})`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'build-'));
  writeFileSync(join(folder, 'kernel'), Buffer.alloc(300_000, 1));
  writeFileSync(join(folder, 'initrd'), Buffer.alloc(500_000, 2));
});
afterEach(() => rmSync(folder, { recursive: true }));

const given = () => ({ kernel: join(folder, 'kernel'), initrd: join(folder, 'initrd'), arch: 'x86_64' });

made(`makes one hybrid image with room for arguments and files${why}`, async () => {
  const images = join(folder, 'images');
  const stored = await storeImage(images, given(), searched);
  const path = join(images, `${stored.iso_sha256}.iso`);
  expect(readdirSync(images).sort()).toEqual(
    [`${stored.iso_sha256}.iso`, `${stored.kernel_sha256}.kernel`, `${stored.initrd_sha256}.initrd`].sort(),
  );
  // Machines that boot by the network load these.
  expect(readFileSync(join(images, `${stored.initrd_sha256}.initrd`)).equals(readFileSync(given().initrd))).toBe(true);
  const bytes = readFileSync(path);
  expect(bytes).toHaveLength(stored.iso_bytes);
  expect(stored).toMatchObject({ arguments_bytes: 2_048, files_bytes: 65_536 });
  const area = bytes.subarray(stored.arguments_at, stored.arguments_at + stored.arguments_bytes).toString();
  expect(area).toBe(areaMarks.arguments.padEnd(2_048));
  // What stands right before and after is the rest of the line: a boot's arguments are laid within it.
  expect(bytes.subarray(stored.arguments_at - 20, stored.arguments_at).toString()).toContain('linux /boot/vmlinuz ');
  expect(bytes.subarray(stored.arguments_at + 2_048, stored.arguments_at + 2_049).toString()).toBe('\n');
  // An emulated host reads it as firmware would, by the file system that the tool has made.
  const config = await fileIn(async (at, length) => bytes.subarray(at, at + length), 'boot/grub/grub.cfg');
  expect(config.toString()).toContain(areaMarks.arguments);
  const report = execFileSync(programs!.xorriso!, ['-indev', path, '-report_el_torito', 'plain'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  expect(report).toMatch(/El Torito boot img[^\n]*BIOS/);
  expect(report).toMatch(/El Torito boot img[^\n]*UEFI/);
});

made(`has what GRUB asks for as it starts: every scheme of partitions, and a screen for the kernel${why}`, async () => {
  const images = join(folder, 'images');
  const { iso_sha256 } = await storeImage(images, given(), searched);
  const path = join(images, `${iso_sha256}.iso`);
  const found = execFileSync(programs!.xorriso!, ['-indev', path, '-find', '/boot/grub', '-name', '*.mod'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for (const firmware of ['x86_64-efi', 'i386-pc'])
    for (const scheme of readFileSync(
      join(dirname(programs!['grub-mkrescue']!), '..', 'lib', 'grub', firmware, 'partmap.lst'),
      'utf8',
    )
      .trim()
      .split('\n'))
      expect(found).toContain(`/boot/grub/${firmware}/${scheme}.mod'`);
  const bytes = readFileSync(path);
  const config = await fileIn(async (at, length) => bytes.subarray(at, at + length), 'boot/grub/grub.cfg');
  expect(config.toString()).toMatch(/^insmod all_video\n(.*\n)*linux /m);
});

it('names the packages of what is missing', async () => {
  const building = storeImage(join(folder, 'images'), given(), '/nonexistent');
  await expect(building).rejects.toThrow(/install grub-common, xorriso, mtools/);
});

it('takes an image that has its room already, and leaves it where it was', async () => {
  const iso = join(folder, 'own.iso');
  const bytes = Buffer.alloc(300_000, 7);
  bytes.write(areaMarks.arguments.padEnd(1_024), 5_000);
  bytes.fill(0, 100_000, 110_000);
  bytes.write(areaMarks.files, 100_000);
  writeFileSync(iso, bytes);
  const stored = await storeImage(join(folder, 'images'), { iso }, searched);
  expect(stored).toEqual({
    kernel_sha256: null,
    initrd_sha256: null,
    iso_sha256: stored.iso_sha256,
    iso_bytes: 300_000,
    arguments_at: 5_000,
    arguments_bytes: 1_024,
    files_at: 100_000,
    files_bytes: 10_000,
  });
  expect(existsSync(iso)).toBe(true);
});

it.each([
  ['no room', Buffer.alloc(3_000_000), /holds no @@TEMPER-KERNEL-ARGUMENTS@@/],
  [
    'its room twice',
    Buffer.concat([Buffer.from(areaMarks.arguments), Buffer.alloc(1 << 20), Buffer.from(areaMarks.arguments)]),
    /holds more than one/,
  ],
  ['no room for files', Buffer.from(areaMarks.arguments.padEnd(4_000)), /holds no @@TEMPER-SMALL-FILES@@/],
])('refuses an image with %s, and stores nothing', async (_, bytes, says) => {
  writeFileSync(join(folder, 'own.iso'), bytes);
  await expect(storeImage(join(folder, 'images'), { iso: join(folder, 'own.iso') }, searched)).rejects.toThrow(says);
  expect(readdirSync(join(folder, 'images'))).toEqual([]);
});

it('finds a mark that lies across two pieces of what it reads', async () => {
  const bytes = Buffer.alloc(3 << 20, 7);
  bytes.write(areaMarks.arguments.padEnd(1_024), (1 << 20) - 5);
  bytes.fill(0, (2 << 20) - 3, (2 << 20) + 2_000);
  bytes.write(areaMarks.files, (2 << 20) - 3);
  writeFileSync(join(folder, 'own.iso'), bytes);
  const stored = await storeImage(join(folder, 'images'), { iso: join(folder, 'own.iso') }, searched);
  expect(stored).toMatchObject({ arguments_at: (1 << 20) - 5, files_at: (2 << 20) - 3, files_bytes: 2_003 });
});

it('says in one sentence what the command cannot use', async () => {
  const missing = { iso: join(folder, 'missing.iso'), dir: join(folder, 'images') };
  await expect(makeBootImage({ PATH: searched }, missing)).rejects.toMatchObject({
    exit: 'refused',
    message: `${missing.iso} could not be used (ENOENT).`,
  });
  await expect(makeBootImage({ PATH: searched }, { iso: missing.iso })).rejects.toMatchObject({
    exit: 'usage',
    message: 'Give --dir, or set TEMPER_BOOT_DIR: the folder that the boot service reads.',
  });
  const unequipped = makeBootImage({ PATH: '' }, { ...given(), dir: missing.dir });
  await expect(unequipped).rejects.toMatchObject({
    exit: 'refused',
    message: expect.stringContaining('apt-get install'),
  });
});
