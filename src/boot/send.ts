/** Sends contents over HTTP: whole or in ranges, conditionally, as fast as the client takes them and no slower than it must. */
import type { ServerResponse } from 'node:http';
import pLimit from 'p-limit';
import { namesTag } from '../model/entity-tags';
import { type Patch, pieceBytes, type Readable, readOverlaid, type Span } from './overlay';
import { spanOf } from './ranges';

/** What is sent for a URL. */
export type Content = {
  readonly file: Readable;
  readonly size: number;
  readonly patches: readonly Patch[];
  readonly etag: string;
};

export const answerEmpty = (response: ServerResponse, status: number, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-length': '0', ...headers }).end();
};

/** A text that is made for this request and kept by nothing on its way. */
export const answerText = (response: ServerResponse, method: string | undefined, text: string): void => {
  const length = String(Buffer.byteLength(text));
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': length,
    'cache-control': 'no-store',
  });
  response.end(method === 'HEAD' ? undefined : text);
};

/** Why something is not sent now, for the worker that asks. */
export const answerReason = (response: ServerResponse, status: number, reason: string): void => {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '5' };
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(reason)) }).end(reason);
};

/** Buffers of pieces, used again: what a thousand readers of small ranges left behind would else fill the memory first. */
const spare: Buffer[] = [];
const mostSpare = 64;
const takeBuffer = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
const keepBuffer = (buffer: Buffer): void => {
  if (spare.length < mostSpare) spare.push(buffer);
};

// More would only wait for the threads that read files, each with a buffer of its own.
const readLimit = pLimit(16);

/** Resolves true once the client has been sent the piece, false where it is gone. */
const sent = (response: ServerResponse, piece: Buffer, last: boolean): Promise<boolean> =>
  new Promise((done) => {
    // Of what is written after its end an answer says nothing.
    if (response.destroyed) return done(false);
    const gone = () => done(false);
    response.once('close', gone);
    const flushed = (error?: Error | null) => {
      response.off('close', gone);
      done(!error);
    };
    if (last) response.end(piece, () => flushed());
    else response.write(piece, flushed);
  });

/**
 * Sends bytes as the client takes them: a reader holds one piece in memory and no more. A client that takes none for too long is
 * cut off, and so is a dripping one. Throws where the file cannot be read to the end.
 */
const send = async (
  response: ServerResponse,
  { file, patches }: Content,
  { from, to }: Span,
  pieceMs: number,
): Promise<void> => {
  const slow = setTimeout(() => response.destroy(), pieceMs);
  let buffer: Buffer | undefined;
  let whole = false;
  const readAt = (at: number): Promise<Buffer> =>
    readLimit(() => {
      buffer ??= takeBuffer();
      return readOverlaid(file, { from: at, to }, patches, buffer);
    });
  try {
    for (let at = from; at <= to && !response.destroyed; slow.refresh()) {
      const piece = await readAt(at);
      at += piece.length;
      whole = await sent(response, piece, at > to);
      if (!whole) return;
    }
    if (from > to) response.end();
  } finally {
    clearTimeout(slow);
    // What a connection that ended in the middle still holds of it is not known.
    if (whole && buffer) keepBuffer(buffer);
  }
};

/**
 * Answers GET and HEAD for a content.
 * @param pieceMs how long a client may take to read one piece of 64 KiB
 */
export const answer = async (response: ServerResponse, content: Content, pieceMs: number): Promise<void> => {
  const { req: request } = response;
  const { size, etag } = content;
  const shared = { 'accept-ranges': 'bytes', etag, 'cache-control': 'private, no-store' };
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag)) return answerEmpty(response, 304, { etag });
  const ifRange = request.headers['if-range'];
  const ranged = request.method === 'GET' && (ifRange === undefined || ifRange === etag);
  const span = ranged ? spanOf(request.headers.range, size) : ({ is: 'all' } as const);
  if (span.is === 'none') return answerEmpty(response, 416, { ...shared, 'content-range': `bytes */${size}` });
  const { from, to } = span.is === 'part' ? span : { from: 0, to: size - 1 };
  response.writeHead(span.is === 'part' ? 206 : 200, {
    ...shared,
    'content-type': 'application/octet-stream',
    'content-length': String(to - from + 1),
    ...(span.is === 'part' && { 'content-range': `bytes ${from}-${to}/${size}` }),
  });
  if (request.method === 'HEAD') response.end();
  else await send(response, content, { from, to }, pieceMs);
};
