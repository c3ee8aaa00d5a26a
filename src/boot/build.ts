/** Makes the boot image of a ramdisk, once, and finds the room that it has for a boot's own arguments and files. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, type FileHandle, link, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Area, areaMarks, type RamdiskValues } from '../model/boot/ramdisks';
import { digestOf, type FileKind, imagePath } from './images';

/** A fault that an operator can mend. */
export class BuildFault extends Error {}

const argumentsRoom = 2_048;
const filesRoom = 64 * 1024;

/** What is started, and the Debian packages that bring it; grub-mkrescue starts the others itself. */
const programs: Readonly<Record<string, string>> = {
  'grub-mkrescue': 'grub-common',
  xorriso: 'xorriso',
  mformat: 'mtools',
  xz: 'xz-utils',
};

/** The folder that a program is in. */
const folderOf = (program: string, searched: string): string | undefined =>
  searched.split(delimiter).find((folder) => folder !== '' && existsSync(join(folder, program)));

/**
 * Throws BuildFault naming the packages of every program that is missing, and of firmware that GRUB has no modules for.
 * @param searched folders of programs, as PATH has them
 */
const requirePrograms = (arch: string, searched: string): void => {
  const packages = Object.entries(programs).flatMap(([name, brings]) => (folderOf(name, searched) ? [] : [brings]));
  // GRUB's own place for them, beside the folder of its programs.
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

// What grub-mkrescue lets GRUB load as it starts: without one of them its errors stand on every boot's console.
const partitions =
  'part_acorn part_amiga part_apple part_bsd part_dfly part_dvh part_gpt part_msdos part_plan part_sun part_sunpc';
const grubModules = `linux normal iso9660 serial terminal echo search ${partitions} all_video`;

/** GRUB's configuration: no prompt, no waiting; the mark with the blanks after it is where a boot's arguments are laid over. */
const grubConfig = (): string =>
  [
    'set timeout=0',
    // Without it GRUB hands the kernel no screen, and what an operator sees through the BMC stays black.
    'insmod all_video',
    `linux /boot/vmlinuz ${areaMarks.arguments.padEnd(argumentsRoom)}`,
    'initrd /boot/initrd /boot/files.img',
    'boot',
    '',
  ].join('\n');

/** The file that the small files are laid over; the kernel passes over zeros between archives. */
const filesImage = (): Buffer => {
  const bytes = Buffer.alloc(filesRoom);
  bytes.write(areaMarks.files, 'latin1');
  return bytes;
};

const linkOrCopy = (from: string, to: string): Promise<void> => link(from, to).catch(() => copyFile(from, to));

type RamdiskParts = { readonly kernel: string; readonly initrd: string; readonly arch: string };

/** The tree of files that the image holds, in a folder. */
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

/** Makes a hybrid ISO for BIOS and UEFI at `image`. Throws BuildFault. */
const buildImage = async (work: string, image: string, given: RamdiskParts, searched: string): Promise<void> => {
  requirePrograms(given.arch, searched);
  const tree = join(work, 'tree');
  await layOut(tree, given);
  const options = ['--compress=xz', '--locales=', '--themes=', '--fonts=', `--install-modules=${grubModules}`];
  const args = [...options, '-o', image, tree, '--', '-volid', 'VMEDIA_BOOT_ISO'];
  await runProgram('grub-mkrescue', args, { PATH: searched, TMPDIR: work });
};

const scanBytes = 1 << 20;

/** Where a text stands in a file; every place, for it must be one. */
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

/** The mark and what follows it of the same filling byte, at most `most` bytes. */
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

/** The room of an image for kernel arguments and for small files. Throws BuildFault where it has none, or twice. */
const areasOf = async (file: FileHandle): Promise<{ readonly line: Area; readonly files: Area }> => ({
  line: await areaOf(file, areaMarks.arguments, 0x20, argumentsRoom),
  files: await areaOf(file, areaMarks.files, 0, filesRoom),
});

/** What the files of a ramdisk say of its record. */
type StoredRamdisk = Omit<RamdiskValues, 'name' | 'arch' | 'args'>;

const digestAt = async (path: string): Promise<string> => {
  const file = await open(path);
  try {
    return await digestOf(file);
  } finally {
    await file.close();
  }
};

/** Stores a copy of a file by its digest, for machines that load it by the network. @returns the digest */
const keep = async (folder: string, work: string, path: string, kind: FileKind): Promise<string> => {
  const copied = join(work, kind);
  await copyFile(path, copied);
  const sha256 = await digestAt(copied);
  await rename(copied, imagePath(folder, sha256, kind));
  return sha256;
};

/**
 * Stores a boot image in the data folder, by its digest: made of a kernel and its initramfs, or an ISO that has the marks
 * already. @returns what its record holds. Throws BuildFault, or the system's error where a file cannot be read or written
 * @param searched folders of the programs that make it, as PATH has them
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
