/** Any range of an overlaid image equals the same slice of the image that was changed as a whole. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type Patch, pieceBytes, readOverlaid, type Span } from '../../src/boot/overlay';
import { spanOf } from '../../src/boot/ranges';

const size = 200_000; // some pieces long
const original = Buffer.from(Array.from({ length: size }, (_, at) => (at * 31 + (at >> 8)) & 0xff));
const folder = mkdtempSync(join(tmpdir(), 'overlay-'));
const path = join(folder, 'image');

beforeAll(() => writeFileSync(path, original));
afterAll(() => rmSync(folder, { recursive: true }));

const patch = fc
  .tuple(fc.nat(size - 1), fc.uint8Array({ minLength: 0, maxLength: 3_000 }))
  .map(([at, bytes]): Patch => ({ at, bytes: bytes.subarray(0, size - at) }));
const range = fc
  .tuple(fc.nat(size - 1), fc.nat(size - 1))
  .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

const readAll = async (file: FileHandle, { from, to }: Span, patches: readonly Patch[]): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for (let at = from; at <= to; at += pieces.at(-1)!.length)
    pieces.push(await readOverlaid(file, { from: at, to }, patches, Buffer.alloc(pieceBytes)));
  return Buffer.concat(pieces);
};

const wholly = (patches: readonly Patch[]): Buffer => {
  const changed = Buffer.from(original);
  for (const { at, bytes } of patches) changed.set(bytes, at);
  return changed;
};

it('is the slice of the whole overlaid file, for any range and any patches', async () => {
  const file = await open(path);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(patch, { maxLength: 4 }), range, async (patches, span) => {
        expect((await readAll(file, span, patches)).equals(wholly(patches).subarray(span.from, span.to + 1))).toBe(
          true,
        );
      }),
      { numRuns: 200 },
    );
  } finally {
    await file.close();
  }
});

it('fails where the file is shorter than its record says, and sends nothing in its place', async () => {
  const file = await open(path);
  try {
    await expect(readAll(file, { from: size - 10, to: size + 10 }, [])).rejects.toThrow('fewer bytes');
  } finally {
    await file.close();
  }
});

describe('a Range header', () => {
  it.each([
    ['bytes=0-0', { is: 'part', from: 0, to: 0 }],
    ['bytes=10-19', { is: 'part', from: 10, to: 19 }],
    ['bytes=90-', { is: 'part', from: 90, to: 99 }],
    ['bytes=90-1000', { is: 'part', from: 90, to: 99 }],
    ['bytes=-7', { is: 'part', from: 93, to: 99 }],
    ['bytes=-700', { is: 'part', from: 0, to: 99 }],
    ['BYTES=1-2', { is: 'part', from: 1, to: 2 }],
    ['bytes=100-', { is: 'none' }],
    ['bytes=100-200', { is: 'none' }],
    ['bytes=-0', { is: 'none' }],
    ['bytes=5-4', { is: 'all' }],
    ['bytes=-', { is: 'all' }],
    ['bytes=0-1,5-6', { is: 'all' }],
    ['lines=1-2', { is: 'all' }],
    ['bytes=one-two', { is: 'all' }],
    [`bytes=0-${'9'.repeat(40)}`, { is: 'all' }],
    [undefined, { is: 'all' }],
  ])('%s', (header, span) => expect(spanOf(header, 100)).toEqual(span));

  it('never leads out of the file', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(10_000), (text, length) => {
        const span = spanOf(`bytes=${text}`, length);
        if (span.is === 'part') expect(0 <= span.from && span.from <= span.to && span.to < length).toBe(true);
      }),
    );
  });
});
