/** Image format by its first bytes, so that the ramdisk streams a raw image to the disk. */

import { request } from 'undici';
import { requireOrigin } from '../../model/access/origins';
import { type DiskFormat, formatOf } from '../../model/boot/images';
import type { Log } from '../../model/log';
import { endingWithin } from '../../model/signals';

const sampleBytes = 1_024;
const sampleMs = 10_000;

const firstBytes = async (url: string, signal: AbortSignal): Promise<Buffer | undefined> => {
  const answer = await request(url, {
    headers: { range: `bytes=0-${sampleBytes - 1}`, 'accept-encoding': 'identity' },
    signal,
    maxRedirections: 0,
  });
  // A server without ranges sends everything, so the connection is closed early.
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (![200, 206].includes(answer.statusCode)) return undefined;
    for await (const chunk of answer.body) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= sampleBytes) break;
    }
  } finally {
    answer.body.on('error', () => {}).destroy();
  }
  return Buffer.concat(chunks).subarray(0, sampleBytes);
};

/**
 * Returns undefined if the format is another one or unreadable. Throws only the reason of `signal`.
 *
 * @param origins allowed origins; empty: none
 */
export const sampledFormat = async (
  url: string,
  { origins, signal, log }: { readonly origins: readonly string[]; readonly signal: AbortSignal; readonly log: Log },
): Promise<DiskFormat | undefined> => {
  if (origins.length === 0) return undefined;
  try {
    requireOrigin(origins, url);
    const bytes = await firstBytes(url, endingWithin(signal, sampleMs));
    return bytes && formatOf(bytes);
  } catch (thrown) {
    signal.throwIfAborted();
    log.warn('the format of an image could not be read from its first bytes', { reason: (thrown as Error).message });
    return undefined;
  }
};
