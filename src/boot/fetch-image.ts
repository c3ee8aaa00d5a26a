/** Fetches an image from its origin into a file, and reports what is wrong with the response. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type Dispatcher, request } from 'undici';
import type { ServedImage } from '../inventory/nodes/image-capabilities';
import type { GlanceFile } from '../model/boot/glance-images';
import type { HashAlgorithm } from '../model/boot/images';

export type Wanted = ServedImage['image'];

/** Address of the bytes; with headers and a renewal of the token if the origin is Glance. */
export type Place = Pick<GlanceFile, 'url'> & Partial<GlanceFile>;

/** `again`: another try may succeed. */
export class FetchFault extends Error {
  constructor(
    readonly again: boolean,
    message: string,
  ) {
    super(message);
  }
}

const final = (message: string): never => {
  throw new FetchFault(false, message);
};

const typeOf = (headers: Dispatcher.ResponseData['headers']): string => {
  const type = headers['content-type'];
  return /^[\w.+/-]{1,80}/.exec(String(type ?? ''))?.[0] ?? 'no content type';
};

/** Throws FetchFault if the response cannot be this image. */
const checkAnswer = ({ statusCode, headers }: Dispatcher.ResponseData, bytes: number, { renew }: Place): void => {
  if (statusCode === 401 && renew) {
    renew();
    throw new FetchFault(true, 'Glance refuses the token of the boot service');
  }
  if (statusCode >= 300 && statusCode < 400)
    final(`its origin sends on to another place (status ${statusCode}): give the URL where the image is`);
  if (statusCode >= 500 || statusCode === 429)
    throw new FetchFault(true, `its origin answers with status ${statusCode}`);
  if (statusCode !== 200) final(`its origin answers with status ${statusCode}`);
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== bytes)
    final(`its origin has ${String(length)} bytes (${typeOf(headers)}) where the record says ${bytes}`);
};

const digestNames: Readonly<Record<HashAlgorithm, string>> = { sha256: 'SHA-256', sha512: 'SHA-512' };

/** One write may take only part of a chunk. */
const writeAll = async (file: FileHandle, chunk: Buffer, at: number): Promise<void> => {
  for (let written = 0; written < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, written, chunk.length - written, at + written);
    written += bytesWritten;
  }
};

const receive = async (
  answer: Dispatcher.ResponseData,
  file: FileHandle,
  { bytes, algorithm, digest: expected }: Wanted,
  came: (size: number) => void,
): Promise<void> => {
  const hash = createHash(algorithm);
  let size = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    if (size + chunk.length > bytes)
      final(`its origin sends more (${typeOf(answer.headers)}) than the ${bytes} bytes of the record`);
    hash.update(chunk);
    await writeAll(file, chunk, size);
    size += chunk.length;
    came(chunk.length);
  }
  if (size < bytes) throw new FetchFault(true, `its origin ended after ${size} of ${bytes} bytes`);
  const digest = hash.digest('hex');
  if (digest !== expected)
    final(
      `what its origin sends (${typeOf(answer.headers)}) has the ${digestNames[algorithm]} digest ${digest}, not that of the record: it was changed there`,
    );
};

/** Minimum per interval. With less, a deployment would wait days for its image. */
const leastBytes = 2 ** 20;

/** Aborts a fetch that is too slow, even if it never pauses. */
const pacing = (quietMs: number) => {
  const ending = new AbortController();
  const fault = new FetchFault(true, `its origin sends less than ${leastBytes} bytes in ${quietMs} ms`);
  const timer = setTimeout(() => ending.abort(fault), quietMs);
  let since = 0;
  return {
    signal: ending.signal,
    came(size: number): void {
      since += size;
      if (since < leastBytes) return;
      since = 0;
      timer.refresh();
    },
    end: () => clearTimeout(timer),
  };
};

export type Fetching = {
  readonly signal: AbortSignal;
  /** Time limit for the start of the response and for each MiB, in milliseconds. */
  readonly quietMs: number;
};

/**
 * Fetches into an empty file. Follows no redirects: the operator has allowed one origin. Throws FetchFault, or the
 * system's error for the file.
 */
export const fetchInto = async (
  file: FileHandle,
  wanted: Wanted,
  place: Place,
  { signal, quietMs }: Fetching,
): Promise<void> => {
  const pace = pacing(quietMs);
  try {
    const answer = await request(place.url, {
      headers: { ...place.headers, 'accept-encoding': 'identity' },
      maxRedirections: 0,
      signal: AbortSignal.any([signal, pace.signal]),
    });
    try {
      checkAnswer(answer, wanted.bytes, place);
      await receive(answer, file, wanted, pace.came);
    } finally {
      answer.body.on('error', () => {}).destroy();
    }
  } finally {
    pace.end();
  }
};
