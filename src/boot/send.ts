/** Sends contents over HTTP: ranges, conditional requests, the client's pace with a minimum. */
import type { ServerResponse } from 'node:http';
import pLimit from 'p-limit';
import { namesTag } from '../model/entity-tags';
import { type Patch, pieceBytes, type Readable, readOverlaid, type Span } from './overlay';
import { spanOf } from './ranges';

export type Content = {
  readonly file: Readable;
  readonly size: number;
  readonly patches: readonly Patch[];
  readonly etag: string;
};

/** `reason` is for the operator. The worker reads from 410 that the image is gone or changed, from 504 that a later try may succeed. */
export type Wait = { readonly status: 410 | 502 | 503 | 504 | 507; readonly reason: string };

export const answerEmpty = (response: ServerResponse, status: number, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-length': '0', ...headers }).end();
};

/** No cache may keep the text. */
export const answerText = (response: ServerResponse, method: string | undefined, text: string): void => {
  const length = String(Buffer.byteLength(text));
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': length,
    'cache-control': 'no-store',
  });
  response.end(method === 'HEAD' ? undefined : text);
};

/** Reason for the worker that requests an image. */
export const answerReason = (response: ServerResponse, status: number, reason: string): void => {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '5' };
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(reason)) }).end(reason);
};

/** Reused, because garbage of a thousand readers of small ranges would fill the memory. */
const spare: Buffer[] = [];
const mostSpare = 64;
const takeBuffer = (): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes);
const keepBuffer = (buffer: Buffer): void => {
  if (spare.length < mostSpare) spare.push(buffer);
};

// More reads would only wait for libuv's threads, each with a buffer.
const readLimit = pLimit(16);

/** True if the piece was sent, false if the client has disconnected. */
const sent = (response: ServerResponse, piece: Buffer, last: boolean): Promise<boolean> =>
  new Promise((done) => {
    // A write to a destroyed response may never call back.
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
 * Sends at the client's pace, with one piece in memory. Disconnects a client that takes too long for a piece. Throws
 * if the file cannot be read to the end.
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
    // A broken connection may still reference the buffer.
    if (whole && buffer) keepBuffer(buffer);
  }
};

/**
 * Answers GET and HEAD.
 * @param pieceMs time limit of the client per piece of 64 KiB
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
