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

/** One piece in memory at a time, and another on its way to the client. */
const pieceBytes = 64 * 1024;

/**
 * The bytes from `from` to `to`, both included, of a file with patches laid over it. Read as they are asked for, so that a
 * slow reader holds one piece in memory and no more. Throws where the file ends before `to`.
 */
export async function* overlaid(
  file: Readable,
  { from, to }: { readonly from: number; readonly to: number },
  patches: readonly Patch[],
): AsyncGenerator<Buffer> {
  for (let at = from; at <= to; ) {
    const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, to + 1 - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error('the image has fewer bytes than its record says');
    const read = piece.subarray(0, bytesRead);
    layOver(read, at, patches);
    yield read;
    at += bytesRead;
  }
}
