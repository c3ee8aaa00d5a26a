/** An image with some bytes replaced, without a copy: the bytes are replaced in the pieces that are sent. */

/** Bytes that replace those of the file from an offset. */
export type Patch = { readonly at: number; readonly bytes: Uint8Array };

/** Source of pieces: an open file, or bytes in memory. */
export type Readable = {
  read(into: Buffer, offset: number, length: number, at: number): Promise<{ readonly bytesRead: number }>;
};

export const readableBytes = (bytes: Buffer): Readable => ({
  read: async (into, offset, length, at) => ({ bytesRead: bytes.copy(into, offset, at, at + length) }),
});

/** Applies patches to a piece of the file that starts at `from`; later patches win. Changes the piece in place. */
const layOver = (piece: Uint8Array, from: number, patches: readonly Patch[]): void => {
  for (const { at, bytes } of patches) {
    const begin = Math.max(at, from);
    const end = Math.min(at + bytes.length, from + piece.length);
    if (begin < end) piece.set(bytes.subarray(begin - at, end - at), begin - from);
  }
};

/** Bytes per read and send, the same as BMCs request. */
export const pieceBytes = 64 * 1024;

export type Span = { readonly from: number; readonly to: number };

/**
 * Reads a file with its patches applied, from `from` to at most `to`, both inclusive. Returns the part of `buffer`
 * that it filled. Throws if the file ends before `to`.
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
