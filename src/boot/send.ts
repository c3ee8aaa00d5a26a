/** Sends contents over HTTP: whole or in ranges, conditionally, as fast as the client takes them and no slower than it must. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { overlaid, type Patch, type Readable as Source } from './overlay';
import { spanOf } from './ranges';

/** What is sent for a URL. */
export type Content = {
  readonly file: Source;
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

/** Whether a list of entity tags, as If-None-Match and If-Range have them, holds this one. */
const holdsTag = (header: string, etag: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);

/** Sends bytes as the client takes them. A client that takes none for too long is cut off, and so is a dripping one. */
const send = async (
  response: ServerResponse,
  { file, patches }: Content,
  span: { readonly from: number; readonly to: number },
  pieceMs: number,
): Promise<void> => {
  const slow = setTimeout(() => response.destroy(), pieceMs);
  const pieces = async function* (): AsyncGenerator<Buffer> {
    for await (const piece of overlaid(file, span, patches)) {
      slow.refresh();
      yield piece;
    }
    slow.refresh();
  };
  try {
    await pipeline(Readable.from(pieces(), { objectMode: true, highWaterMark: 1 }), response);
  } finally {
    clearTimeout(slow);
  }
};

/**
 * Answers GET and HEAD for a content.
 * @param pieceMs how long a client may take to read one piece of 64 KiB
 */
export const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  content: Content,
  pieceMs: number,
): Promise<void> => {
  const { size, etag } = content;
  const shared = { 'accept-ranges': 'bytes', etag, 'cache-control': 'private, no-store' };
  const ifNoneMatch = request.headers['if-none-match'];
  if (ifNoneMatch !== undefined && holdsTag(ifNoneMatch, etag)) return answerEmpty(response, 304, { etag });
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
