/** An image with some of its bytes replaced, without a copy of it: the replacement happens in the pieces that are sent. */

/** Bytes that take the place of those of the file, from an offset on. */
export type Patch = { readonly at: number; readonly bytes: Uint8Array };

/** What pieces are read from: an open file, or bytes in memory. */
export type Readable = {
  read(into: Buffer, offset: number, length: number, at: number): Promise<{ readonly bytesRead: number }>;
};

/** Bytes in memory, read as a file is. */
export const readableBytes = (bytes: Buffer): Readable => ({
  read: async (into, offset, length, at) => ({ bytesRead: bytes.copy(into, offset, at, at + length) }),
});

/** Lays patches over a piece of the file that begins at `from`; later patches win. Changes the piece. */
const layOver = (piece: Uint8Array, from: number, patches: readonly Patch[]): void => {
  for (const { at, bytes } of patches) {
    const begin = Math.max(at, from);
    const end = Math.min(at + bytes.length, from + piece.length);
    if (begin < end) piece.set(bytes.subarray(begin - at, end - at), begin - from);
  }
};

/** Bytes that are read and sent at once: BMCs ask for as many. */
export const pieceBytes = 64 * 1024;

export type Span = { readonly from: number; readonly to: number };

/**
 * Reads the bytes from `from` on, and at most to `to`, both included, of a file with patches laid over it: as many as fit into
 * `buffer`, of which it returns a part. Throws where the file ends before `to`.
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
