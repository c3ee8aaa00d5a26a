/** Fetches an image from its origin into a file, and reports what is wrong with the response. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { type Dispatcher, request } from 'undici';
import type { ImageRow } from '../inventory/images';

export type Wanted = Pick<ImageRow, 'name' | 'url' | 'sha256' | 'bytes'>;

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
const checkAnswer = ({ statusCode, headers }: Dispatcher.ResponseData, bytes: number): void => {
  if (statusCode >= 300 && statusCode < 400)
    final(`its origin sends on to another place (status ${statusCode}): give the URL where the image is`);
  if (statusCode >= 500 || statusCode === 429)
    throw new FetchFault(true, `its origin answers with status ${statusCode}`);
  if (statusCode !== 200) final(`its origin answers with status ${statusCode}`);
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== bytes)
    final(`its origin has ${String(length)} bytes (${typeOf(headers)}) where the record says ${bytes}`);
};

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
  { bytes, sha256 }: Wanted,
  came: (size: number) => void,
): Promise<void> => {
  const hash = createHash('sha256');
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
  if (digest !== sha256)
    final(
      `what its origin sends (${typeOf(answer.headers)}) has the SHA-256 digest ${digest}, not that of the record: it was changed there`,
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
  wanted: Wanted & { readonly url: string },
  { signal, quietMs }: Fetching,
): Promise<void> => {
  const pace = pacing(quietMs);
  try {
    const answer = await request(wanted.url, {
      headers: { 'accept-encoding': 'identity' },
      maxRedirections: 0,
      signal: AbortSignal.any([signal, pace.signal]),
    });
    try {
      checkAnswer(answer, wanted.bytes);
      await receive(answer, file, wanted, pace.came);
    } finally {
      answer.body.on('error', () => {}).destroy();
    }
  } finally {
    pace.end();
  }
};
