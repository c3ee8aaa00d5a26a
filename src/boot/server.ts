/** GET and HEAD /boot/<token>/ramdisk.iso: the image of one boot of one node, whole or in ranges, laid over while it is sent. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { LRUCache } from 'lru-cache';
import type { Inventory } from '../inventory';
import { hashOf } from '../inventory/secrets/boot-tokens';
import type { SmallFile } from './cpio';
import type { Images } from './images';
import { overlaid, type Patch } from './overlay';
import { patchesOf } from './patches';
import { spanOf } from './ranges';

type Log = Record<'info' | 'warn', (message: string, facts?: Record<string, unknown>) => void>;

export type BootDeps = {
  readonly inventory: { readonly bootCapabilities: Pick<Inventory['bootCapabilities'], 'served'> };
  readonly images: Pick<Images, 'find'>;
  /** Laid over every image. */
  readonly files: readonly SmallFile[];
  readonly log: Log;
  /** How long a client may take to read one piece of 64 KiB, milliseconds. */
  readonly pieceMs: number;
  /** Requests under one URL at once at most; further ones are answered 503. */
  readonly readersAtOnce?: number;
};

/** What is sent for a URL. */
type Image = {
  readonly file: FileHandle;
  readonly size: number;
  readonly patches: readonly Patch[];
  readonly etag: string;
};

/** How long a URL is good beyond the end of its boot: BMCs ask for an image in thousands of ranges, and the store once a second. */
const trustedMs = 1_000;
const known = 5_000;
const defaultReaders = 16;

/** The token of a path that leads to an image; undefined for any other path. */
const tokenIn = (url: string | undefined): string | undefined =>
  /^\/boot\/([A-Za-z0-9_-]{43})\/ramdisk\.iso$/.exec(url ?? '')?.[1];

const etagOf = (sha256: string, patches: readonly Patch[]): string => {
  const hash = createHash('sha256').update(sha256);
  for (const { at, bytes } of patches) hash.update(`${at}:`).update(bytes);
  return `"${hash.digest('base64url').slice(0, 32)}"`;
};

const createLookup = ({ inventory, images, files, log }: BootDeps) => {
  const cache = new LRUCache<string, Promise<Image | undefined>>({ max: known, ttl: trustedMs });
  const seen = new LRUCache<string, true>({ max: known });
  const find = async (hash: string, token: string): Promise<Image | undefined> => {
    const served = await inventory.bootCapabilities.served(hash);
    const file = served && (await images.find(served.ramdisk.iso_sha256));
    if (!file) return undefined;
    const patches = patchesOf(served, token, files);
    if (!seen.has(hash)) log.info('boot image asked for', { node_uuid: served.node_uuid, run: served.run_id });
    seen.set(hash, true);
    const { iso_sha256, iso_bytes: size } = served.ramdisk;
    return { file, size, patches, etag: etagOf(iso_sha256, patches) };
  };
  return async (token: string): Promise<Image | undefined> => {
    const hash = hashOf(token);
    const kept = cache.get(hash);
    if (kept) return kept;
    const finding = find(hash, token);
    cache.set(hash, finding);
    const drop = () => cache.peek(hash) === finding && cache.delete(hash);
    // Only what was found is kept: neither a guess nor a failure takes room.
    finding.then((image) => image ?? drop(), drop);
    return finding;
  };
};

const answerEmpty = (response: ServerResponse, status: number, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { 'content-length': '0', ...headers }).end();
};

/** Whether a list of entity tags, as If-None-Match and If-Range have them, holds this one. */
const holdsTag = (header: string, etag: string): boolean =>
  header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);

/** Sends bytes as the client takes them. A client that takes none for too long is cut off, and so is a dripping one. */
const send = async (
  response: ServerResponse,
  { file, patches }: Image,
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

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  image: Image,
  pieceMs: number,
): Promise<void> => {
  const { size, etag } = image;
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
  else await send(response, image, { from, to }, pieceMs);
};

/** Counts what is under way by a key, and refuses more than `most`. */
const createTurnstile = (most: number) => {
  const inside = new Map<string, number>();
  return {
    enter: (key: string): boolean => {
      const now = inside.get(key) ?? 0;
      if (now >= most) return false;
      inside.set(key, now + 1);
      return true;
    },
    leave: (key: string): void => {
      const left = (inside.get(key) ?? 1) - 1;
      if (left > 0) inside.set(key, left);
      else inside.delete(key);
    },
  };
};

/** @returns the listener of the boot service; every answer but an image is empty */
export const bootListener = (deps: BootDeps): RequestListener => {
  const { log, pieceMs, readersAtOnce = defaultReaders } = deps;
  const lookUp = createLookup(deps);
  const readers = createTurnstile(readersAtOnce);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return answerEmpty(response, 405, { allow: 'GET, HEAD' });
    const token = tokenIn(request.url);
    if (token === undefined) return answerEmpty(response, 404, { connection: 'close' });
    if (!readers.enter(token)) return answerEmpty(response, 503, { 'retry-after': '1' });
    try {
      const image = await lookUp(token);
      if (!image) return answerEmpty(response, 404, { connection: 'close' });
      await answer(request, response, image, pieceMs);
    } finally {
      readers.leave(token);
    }
  };
  return (request, response) => {
    request.resume(); // a body is of no interest
    serve(request, response).catch((error: NodeJS.ErrnoException) => {
      // A client that goes away in the middle is usual: BMCs do so whenever they have read what they wanted.
      if (response.destroyed || error.code === 'ERR_STREAM_PREMATURE_CLOSE') return response.destroy();
      log.warn('boot image not sent', { reason: error.message });
      if (response.headersSent) return response.destroy();
      return answerEmpty(response, 503, { 'retry-after': '5' });
    });
  };
};

/** Closes connections of an address beyond `most` at once, so that one machine cannot take those of all others. */
export const boundConnections = (server: Server, most: number): void => {
  const turnstile = createTurnstile(most);
  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    if (!turnstile.enter(address)) return socket.destroy();
    socket.once('close', () => turnstile.leave(address));
  });
};
