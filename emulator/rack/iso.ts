/** ISO 9660 as an emulated host needs it: finds a file in an image that is read by pieces. Made here, too, for racks without tools. */

const sector = 2_048;
/** The primary volume descriptor, ECMA-119 section 8.4. */
const descriptorAt = 16 * sector;
const rootRecordAt = 156;

/** Reads bytes of an image, from an offset on. */
export type ReadAt = (at: number, length: number) => Promise<Buffer>;

type Extent = { readonly at: number; readonly length: number };
type Entry = Extent & { readonly name: string; readonly folder: boolean };

/** A directory record, ECMA-119 section 9.1. */
const entryOf = (record: Buffer): Entry => ({
  at: record.readUInt32LE(2) * sector,
  length: record.readUInt32LE(10),
  folder: (record[25]! & 2) !== 0,
  name: record.subarray(33, 33 + record[32]!).toString('latin1'),
});

/** Records of a folder; none goes from one sector into the next. */
const entriesOf = (folder: Buffer): Entry[] => {
  const entries: Entry[] = [];
  for (let at = 0; at < folder.length; ) {
    const length = folder[at]!;
    if (length === 0) at = (Math.floor(at / sector) + 1) * sector;
    else {
      entries.push(entryOf(folder.subarray(at, at + length)));
      at += length;
    }
  }
  return entries;
};

/** Names are in capitals, and those of files end in a version. */
const isNamed = (entry: Entry, name: string): boolean =>
  entry.name.replace(/\.?;\d+$/, '').toLowerCase() === name.toLowerCase();

/** The content of a file of an image. Throws where it is none, or has no such file. */
export const fileIn = async (read: ReadAt, path: string): Promise<Buffer> => {
  const descriptor = await read(descriptorAt, sector);
  if (descriptor.subarray(1, 6).toString('latin1') !== 'CD001') throw new Error('no ISO 9660 image');
  let found: Extent = entryOf(descriptor.subarray(rootRecordAt, rootRecordAt + 34));
  for (const name of path.split('/')) {
    const next = entriesOf(await read(found.at, found.length)).find((entry) => isNamed(entry, name));
    if (!next) throw new Error(`no ${name} in the image`);
    found = next;
  }
  return read(found.at, found.length);
};

const bothEndian = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value, 0);
  bytes.writeUInt32BE(value, 4);
  return bytes;
};

const recordOf = (name: string, { at, length }: Extent, folder: boolean): Buffer => {
  const size = 33 + name.length + ((name.length + 1) % 2);
  const record = Buffer.alloc(size);
  record[0] = size;
  bothEndian(at / sector).copy(record, 2);
  bothEndian(length).copy(record, 10);
  record[25] = folder ? 2 : 0;
  record.writeUInt16LE(1, 28);
  record.writeUInt16BE(1, 30);
  record[32] = name.length;
  record.write(name, 33, 'latin1');
  return record;
};

/** An image with one folder of files, such as `boot/grub` with `grub.cfg`; not bootable by any firmware. */
export const plainImage = (folders: readonly string[], files: Readonly<Record<string, Buffer>>): Buffer => {
  const pieces = new Map<number, Buffer>();
  let next = 18;
  const place = (content: Buffer): Extent => {
    const extent = { at: next * sector, length: content.length };
    pieces.set(extent.at, content);
    next += Math.max(1, Math.ceil(content.length / sector));
    return extent;
  };
  const folderOf = (records: readonly Buffer[]): Buffer => {
    const whole = Buffer.alloc(sector);
    Buffer.concat(records).copy(whole);
    return whole;
  };
  const inner = Object.entries(files).map(([name, content]) =>
    recordOf(`${name.toUpperCase()};1`, place(content), false),
  );
  let extent = place(folderOf(inner));
  for (const name of [...folders].reverse()) extent = place(folderOf([recordOf(name.toUpperCase(), extent, true)]));
  const descriptor = Buffer.alloc(sector);
  descriptor[0] = 1;
  descriptor.write('CD001', 1, 'latin1');
  descriptor[6] = 1;
  recordOf('\0', extent, true).copy(descriptor, rootRecordAt);
  pieces.set(descriptorAt, descriptor);
  const image = Buffer.alloc(next * sector);
  for (const [at, piece] of pieces) piece.copy(image, at);
  return image;
};
