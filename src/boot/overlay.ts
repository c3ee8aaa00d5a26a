/** An image with some bytes replaced, without a copy: the pieces are patched when they are sent. */

export type Patch = { readonly at: number; readonly bytes: Uint8Array };

/** An open file, or bytes in memory. */
export type Readable = {
  read(into: Buffer, offset: number, length: number, at: number): Promise<{ readonly bytesRead: number }>;
};

export const readableBytes = (bytes: Buffer): Readable => ({
  read: async (into, offset, length, at) => ({ bytesRead: bytes.copy(into, offset, at, at + length) }),
});

/** Patches in place a piece that starts at `from`; later patches win. */
const layOver = (piece: Uint8Array, from: number, patches: readonly Patch[]): void => {
  for (const { at, bytes } of patches) {
    const begin = Math.max(at, from);
    const end = Math.min(at + bytes.length, from + piece.length);
    if (begin < end) piece.set(bytes.subarray(begin - at, end - at), begin - from);
  }
};

/** BMCs request as many at once. */
export const pieceBytes = 64 * 1024;

export type Span = { readonly from: number; readonly to: number };

/**
 * Reads a file with its patches, from `from` to at most `to`, both inclusive. Returns the filled part of `buffer`.
 * Throws if the file ends before `to`.
 */
export const readOverlaid = async (
  file: Readable,
  { from, to }: Span,
  patches: readonly Patch[],
  buffer: Buffer,
): Promise<Buffer> => {
  const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to + 1 - from), from);
  if (bytesRead === 0) throw new Error('the image has fewer bytes than its record says');
  const read = buffer.subarray(0, bytesRead);
  layOver(read, from, patches);
  return read;
};
