/** Builds a ramdisk's boot image and finds its areas for kernel arguments and files. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Area, areaMarks, type RamdiskValues } from '../model/boot/ramdisks';
import { digestOf, type FileKind, imagePath } from './images';

export class BuildFault extends Error {}

const argumentsRoom = 2_048;
const filesRoom = 64 * 1024;

/** Required programs and their Debian packages. grub-mkrescue runs the other three. */
const programs: Readonly<Record<string, string>> = {
  'grub-mkrescue': 'grub-common',
  xorriso: 'xorriso',
  mformat: 'mtools',
  xz: 'xz-utils',
};

const folderOf = (program: string, searched: string): string | undefined =>
  searched.split(delimiter).find((folder) => folder !== '' && existsSync(join(folder, program)));

/**
 * Throws BuildFault with the missing Debian packages.
 * @param searched program folders, as in PATH
 */
const requirePrograms = (arch: string, searched: string): void => {
  const packages = Object.entries(programs).flatMap(([name, brings]) => (folderOf(name, searched) ? [] : [brings]));
  // GRUB keeps its modules beside the folder of its programs.
  const grub = join(folderOf('grub-mkrescue', searched) ?? '/usr/bin', '../lib/grub');
  const modules = arch === 'aarch64' ? ['arm64-efi'] : ['x86_64-efi', 'i386-pc'];
  const packagesOf: Readonly<Record<string, string>> = {
    'arm64-efi': 'grub-efi-arm64-bin',
    'x86_64-efi': 'grub-efi-amd64-bin',
    'i386-pc': 'grub-pc-bin',
  };
  const missing = [
    ...packages,
    ...modules.filter((name) => !existsSync(join(grub, name))).map((name) => packagesOf[name]!),
  ];
  if (missing.length > 0)
    throw new BuildFault(
      `A boot image cannot be made here; install ${missing.join(', ')} (Debian: apt-get install ${missing.join(' ')}).`,
    );
};

// GRUB loads these at start. If one is missing, each boot's console shows errors.
const partitions =
  'part_acorn part_amiga part_apple part_bsd part_dfly part_dvh part_gpt part_msdos part_plan part_sun part_sunpc';
const grubModules = `linux normal iso9660 serial terminal echo search ${partitions} all_video`;

/** A boot's arguments overwrite the mark and the blanks after it. */
const grubConfig = (): string =>
  [
    'set timeout=0',
    // Without it GRUB sets no video mode for the kernel, and the BMC's remote screen stays black.
    'insmod all_video',
    `linux /boot/vmlinuz ${areaMarks.arguments.padEnd(argumentsRoom)}`,
    'initrd /boot/initrd /boot/files.img',
    'boot',
    '',
  ].join('\n');

/** The area for small files. The kernel skips zeros between archives. */
const filesImage = (): Buffer => {
  const bytes = Buffer.alloc(filesRoom);
  bytes.write(areaMarks.files, 'latin1');
  return bytes;
};

const linkOrCopy = (from: string, to: string): Promise<void> => link(from, to).catch(() => copyFile(from, to));

type RamdiskParts = { readonly kernel: string; readonly initrd: string; readonly arch: string };

const layOut = async (tree: string, { kernel, initrd }: Pick<RamdiskParts, 'kernel' | 'initrd'>): Promise<void> => {
  await mkdir(join(tree, 'boot/grub'), { recursive: true });
  await linkOrCopy(kernel, join(tree, 'boot/vmlinuz'));
  await linkOrCopy(initrd, join(tree, 'boot/initrd'));
  await writeFile(join(tree, 'boot/files.img'), filesImage());
  await writeFile(join(tree, 'boot/grub/grub.cfg'), grubConfig());
};

type Environment = { readonly PATH: string; readonly TMPDIR: string };

const runProgram = (program: string, args: readonly string[], env: Environment): Promise<void> =>
  new Promise((done, fail) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
    let said = '';
    child.stderr.on('data', (text: Buffer) => {
      said = (said + text.toString()).slice(-2_000);
    });
    child.once('error', fail);
    child.once('close', (status) =>
      status === 0 ? done() : fail(new BuildFault(`${program} failed with status ${status}: ${said.trim()}`)),
    );
  });

/** Builds a hybrid ISO for BIOS and UEFI. Throws BuildFault. */
const buildImage = async (work: string, image: string, given: RamdiskParts, searched: string): Promise<void> => {
  requirePrograms(given.arch, searched);
  const tree = join(work, 'tree');
  await layOut(tree, given);
  const options = ['--compress=xz', '--locales=', '--themes=', '--fonts=', `--install-modules=${grubModules}`];
  const args = [...options, '-o', image, tree, '--', '-volid', 'VMEDIA_BOOT_ISO'];
  await runProgram('grub-mkrescue', args, { PATH: searched, TMPDIR: work });
};

const scanBytes = 1 << 20;

/** All offsets, because the caller requires exactly one. */
const placesOf = async (file: FileHandle, text: string): Promise<number[]> => {
  const wanted = Buffer.from(text, 'latin1');
  const buffer = Buffer.alloc(scanBytes + wanted.length - 1);
  const places: number[] = [];
  for (let at = 0; ; at += scanBytes) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    const piece = buffer.subarray(0, bytesRead);
    for (let found = piece.indexOf(wanted); found >= 0 && found < scanBytes; found = piece.indexOf(wanted, found + 1))
      places.push(at + found);
    if (bytesRead < buffer.length) return places;
  }
};

/** The mark and the `filling` bytes after it. */
const areaOf = async (file: FileHandle, mark: string, filling: number, most: number): Promise<Area> => {
  const [at, ...others] = await placesOf(file, mark);
  if (at === undefined || others.length > 0)
    throw new BuildFault(
      `The image holds ${at === undefined ? 'no' : 'more than one'} ${mark}, which says where its room is.`,
    );
  const piece = Buffer.alloc(most);
  const { bytesRead } = await file.read(piece, 0, most, at);
  let end = mark.length;
  while (end < bytesRead && piece[end] === filling) end++;
  return { at, bytes: end };
};

/** Throws BuildFault if an area is missing or occurs twice. */
const areasOf = async (file: FileHandle): Promise<{ readonly line: Area; readonly files: Area }> => ({
  line: await areaOf(file, areaMarks.arguments, 0x20, argumentsRoom),
  files: await areaOf(file, areaMarks.files, 0, filesRoom),
});

type StoredRamdisk = Omit<RamdiskValues, 'name' | 'arch' | 'args'>;

const digestAt = async (path: string): Promise<string> => {
  const file = await open(path);
  try {
    return await digestOf(file);
  } finally {
    await file.close();
  }
};

/**
 * Stores a copy for network boot.
 * @returns the digest
 */
const keep = async (folder: string, work: string, path: string, kind: FileKind): Promise<string> => {
  const copied = join(work, kind);
  await copyFile(path, copied);
  const sha256 = await digestAt(copied);
  await rename(copied, imagePath(folder, sha256, kind));
  return sha256;
};

/**
 * Stores a boot image in the data folder by digest: built from a kernel and an initramfs, or an ISO with the marks.
 * Throws BuildFault, or the system's error for a file.
 * @returns the values of its record
 * @param searched program folders, as in PATH
 */
export const storeImage = async (
  folder: string,
  given: RamdiskParts | { readonly iso: string },
  searched: string,
): Promise<StoredRamdisk> => {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, '.making-'));
  try {
    const image = join(work, 'image.iso');
    if ('iso' in given) await copyFile(given.iso, image);
    else await buildImage(work, image, given, searched);
    const file = await open(image, 'r+');
    try {
      const { line, files } = await areasOf(file);
      const iso_sha256 = await digestOf(file);
      await file.sync();
      await rename(image, imagePath(folder, iso_sha256));
      return {
        kernel_sha256: 'iso' in given ? null : await keep(folder, work, given.kernel, 'kernel'),
        initrd_sha256: 'iso' in given ? null : await keep(folder, work, given.initrd, 'initrd'),
        iso_sha256,
        iso_bytes: (await file.stat()).size,
        arguments_at: line.at,
        arguments_bytes: line.bytes,
        files_at: files.at,
        files_bytes: files.bytes,
      };
    } finally {
      await file.close();
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
};
