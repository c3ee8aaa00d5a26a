/** A cpio archive in `newc` format, which the kernel unpacks with its initramfs. */

/** `path` is relative to the ramdisk's root. */
export type SmallFile = {
  readonly path: string;
  readonly content: Uint8Array;
  /** Readable for all users of the ramdisk; otherwise only for root. */
  readonly readable?: boolean;
};

// Linux, Documentation/driver-api/early-userspace/buffer-format.rst: fields of eight hexadecimal digits, names end
// with NUL, names and contents are padded to four bytes.
const entry = (index: number, name: string, mode: number, content: Uint8Array): Buffer => {
  const nameBytes = Buffer.from(`${name}\0`, 'utf8');
  const fields = [index, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, nameBytes.length, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`;
  return Buffer.concat([padded(Buffer.concat([Buffer.from(header, 'latin1'), nameBytes])), padded(content)]);
};

const padded = (bytes: Uint8Array): Buffer => {
  const whole = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  whole.set(bytes);
  return whole;
};

const privateFile = 0o100600;
const readableFile = 0o100644;
const folder = 0o040755;

/** Outermost first. */
const foldersOf = (path: string): string[] => {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
};

/** Packs files after their parent folders. */
export const cpioOf = (files: readonly SmallFile[]): Buffer => {
  const folders = [...new Set(files.flatMap(({ path }) => foldersOf(path)))];
  const none = new Uint8Array();
  return Buffer.concat([
    ...folders.map((path, at) => entry(at + 1, path, folder, none)),
    ...files.map(({ path, content, readable }, at) =>
      entry(folders.length + at + 1, path, readable ? readableFile : privateFile, content),
    ),
    entry(0, 'TRAILER!!!', 0, none),
  ]);
};
