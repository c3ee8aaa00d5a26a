/** What a host does with a disc whose image it can fetch: reads it by ranges as firmware does, and boots with its kernel arguments. */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { fileIn, type ReadAt } from './iso';

/** By which a ramdisk knows whom to call and who it is. */
export type BootArguments = {
  readonly apiUrl: string;
  readonly token?: string;
  readonly inspectionUrl?: string;
};

/** Images of the boot service; of others only the URL is known, and nothing is fetched. */
export const isServed = (image: string): boolean => /^https?:\/\/[^/]+\/boot\/[^/]+\/ramdisk\.iso$/.test(image);

/** Firmware and GRUB read in small pieces. */
const pieceBytes = 16 * 1_024;

const readerOf =
  (url: string, signal: AbortSignal): ReadAt =>
  async (at, length) => {
    const pieces: Buffer[] = [];
    for (let from = at; from < at + length; from += pieceBytes) {
      const to = Math.min(from + pieceBytes, at + length) - 1;
      const answer = await request(url, { signal, headers: { range: `bytes=${from}-${to}` } });
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      if (answer.statusCode !== 206) throw new Error(`the image’s server answered ${answer.statusCode} to a range`);
      pieces.push(bytes);
    }
    return Buffer.concat(pieces);
  };

const argumentOf = (words: readonly string[], name: string): string | undefined =>
  words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);

/** The arguments on the kernel's line of a GRUB configuration; undefined where they name no API. */
export const argumentsIn = (config: string): BootArguments | undefined => {
  const words = /^\s*linux\s+\S+\s+(.*)$/m.exec(config)?.[1]?.trim().split(/\s+/) ?? [];
  const apiUrl = argumentOf(words, 'ipa-api-url');
  const token = argumentOf(words, 'ipa-agent-token');
  const inspectionUrl = argumentOf(words, 'ipa-inspection-callback-url');
  return apiUrl === undefined
    ? undefined
    : { apiUrl, ...(token !== undefined && { token }), ...(inspectionUrl !== undefined && { inspectionUrl }) };
};

const attempts = 5;
const betweenMs = 1_000;

/** Reads the arguments of an image; tried again where its server is away. Undefined where the host cannot boot from it. */
export const bootArguments = async (url: string, signal: AbortSignal): Promise<BootArguments | undefined> => {
  for (let attempt = 1; ; attempt++) {
    try {
      const head = await request(url, { method: 'HEAD', signal });
      await head.body.dump();
      if (head.statusCode === 404) return undefined;
      return argumentsIn((await fileIn(readerOf(url, signal), 'boot/grub/grub.cfg')).toString('latin1'));
    } catch {
      if (signal.aborted || attempt === attempts) return undefined;
      await sleep(betweenMs, undefined, { signal }).catch(() => {});
    }
  }
};
