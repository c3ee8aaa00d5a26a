/** Images of records: fetched once for all readers, checked before a byte of them is sent, and bounded in what they take of the disk. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Inventory } from '../inventory';
import { requireOrigin } from '../model/access/origins';
import { isTemperError } from '../model/errors';
import type { Log } from './contents';
import { FetchFault, fetchInto, type Wanted } from './fetch-image';
import { createImageFolder } from './image-folder';
import { digestOf } from './images';

export type ImageCacheDeps = {
  /** The data folder of the boot service. */
  readonly dir: string;
  /** Bytes that all images take at most. */
  readonly mostBytes: number;
  readonly inventory: { readonly imageCapabilities: Pick<Inventory['imageCapabilities'], 'kept'> };
  /** Where images may be fetched; anywhere when empty. */
  readonly origins: readonly string[];
  readonly log: Log;
  /** Pause before another try of what failed in passing, and for how long a refusal is answered without another; milliseconds. */
  readonly retryMs?: number;
  readonly refusedMs?: number;
};

/** Whether an image can be sent now. */
export type Cached =
  | { readonly is: 'ready'; readonly file: FileHandle; readonly bytes: number }
  | { readonly is: 'fetching' }
  /** `full`: there is no room for it. */
  | { readonly is: 'refused'; readonly full: boolean; readonly reason: string };

export type ImageCache = { find(image: Wanted): Promise<Cached>; close(): Promise<void> };

const tries = 3;
const fullCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

class NoRoom extends Error {}

const mib = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;

type Entry = { readonly work: Promise<Cached>; state: Cached; notedAt?: number };

// What makes room is chosen by hours and days.
const notedMs = 60_000;

export const createImageCache = (deps: ImageCacheDeps): ImageCache => {
  const { dir, mostBytes, inventory, origins, log, retryMs = 2_000, refusedMs = 15_000 } = deps;
  const folder = createImageFolder(dir);
  const entries = new Map<string, Entry>();
  /** Bytes that fetches under way are going to write. */
  const coming = new Map<string, number>();
  const ending = new AbortController();
  let making: Promise<unknown> = folder.make().then(folder.sweep);
  making.catch(() => {});

  const evict = async (sha256: string): Promise<void> => {
    const state = entries.get(sha256)?.state;
    entries.delete(sha256);
    await folder.remove(sha256);
    // A reader of it has no run any more, or it would have been kept.
    if (state?.is === 'ready') await state.file.close();
    log.info('image made room for another', { sha256 });
  };

  const makeRoom = async ({ name, sha256, bytes }: Wanted): Promise<void> => {
    if (bytes > mostBytes)
      throw new NoRoom(`it has ${mib(bytes)}, and all images may take ${mib(mostBytes)} (TEMPER_BOOT_IMAGES_MB)`);
    const [stored, kept] = await Promise.all([folder.list(), inventory.imageCapabilities.kept()]);
    const others = [...coming].reduce((sum, [of, size]) => (of === sha256 ? sum : sum + size), 0);
    let taken = stored.reduce((sum, one) => sum + one.bytes, 0) + others;
    const spare = stored.filter((one) => !kept.includes(one.sha256));
    for (const one of spare) {
      if (taken + bytes <= mostBytes) break;
      await evict(one.sha256);
      taken -= one.bytes;
    }
    if (taken + bytes > mostBytes)
      throw new NoRoom(
        `there is no room for the ${mib(bytes)} of ${name}: ${mib(taken)} of ${mib(mostBytes)} (TEMPER_BOOT_IMAGES_MB) are in use`,
      );
    coming.set(sha256, bytes);
  };

  /** One at a time: two that count at once would both find the same room. */
  const reserve = (wanted: Wanted): Promise<void> => {
    const made = making.catch(() => {}).then(() => makeRoom(wanted));
    making = made;
    return made;
  };

  const download = async (wanted: Wanted & { readonly url: string }): Promise<FileHandle> => {
    const part = folder.partOf(wanted.sha256, randomUUID());
    try {
      const file = await open(part, 'wx');
      try {
        await fetchInto(file, wanted, ending.signal);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(part, folder.pathOf(wanted.sha256));
      return await open(folder.pathOf(wanted.sha256));
    } finally {
      await rm(part, { force: true });
    }
  };

  const fetched = async (wanted: Wanted & { readonly url: string }): Promise<FileHandle> => {
    await reserve(wanted);
    log.info('image is fetched', { image: wanted.name, sha256: wanted.sha256, bytes: wanted.bytes });
    for (let left = tries; ; ) {
      try {
        return await download(wanted);
      } catch (thrown) {
        left -= 1;
        const passing =
          thrown instanceof FetchFault ? thrown.again : !fullCodes.includes((thrown as { code?: unknown }).code);
        if (!passing || left === 0 || ending.signal.aborted) throw thrown;
        await sleep(retryMs, undefined, { signal: ending.signal });
      }
    }
  };

  /** The file that is in the folder already, checked; undefined where there is none that fits. */
  const stored = async ({ name, sha256, bytes }: Wanted): Promise<FileHandle | undefined> => {
    const file = await open(folder.pathOf(sha256)).catch(() => undefined);
    if (!file) return undefined;
    if ((await file.stat()).size === bytes && (await digestOf(file)) === sha256) return file;
    await file.close();
    log.warn('the file does not have the digest that it is named by', { image: name, sha256 });
    return undefined;
  };

  const refusal = ({ name, sha256 }: Wanted, thrown: unknown): Cached => {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const full = thrown instanceof NoRoom || fullCodes.includes(code);
    const plain = thrown instanceof NoRoom || thrown instanceof FetchFault || isTemperError(thrown);
    const reason = fullCodes.includes(code)
      ? 'the disk of the boot service is full'
      : plain
        ? message
        : `it could not be fetched: ${message}`;
    log.warn('image cannot be served', { image: name, sha256, reason });
    return { is: 'refused', full, reason };
  };

  const bring = async (wanted: Wanted): Promise<Cached> => {
    try {
      const before = await stored(wanted);
      if (before) return { is: 'ready', file: before, bytes: wanted.bytes };
      const { url } = wanted;
      if (url === null)
        throw new FetchFault(
          false,
          'its file is not in the folder of the boot service, or is not the one of the record: temper image add',
        );
      requireOrigin(origins, url);
      return { is: 'ready', file: await fetched({ ...wanted, url }), bytes: wanted.bytes };
    } catch (thrown) {
      return refusal(wanted, thrown);
    } finally {
      coming.delete(wanted.sha256);
    }
  };

  const begin = (wanted: Wanted): Entry => {
    const work = bring(wanted);
    const entry: Entry = { work, state: { is: 'fetching' } };
    entries.set(wanted.sha256, entry);
    void work.then((state) => {
      entry.state = state;
      if (state.is !== 'refused') return;
      const forget = () => entries.get(wanted.sha256) === entry && entries.delete(wanted.sha256);
      setTimeout(forget, refusedMs).unref();
    });
    return entry;
  };

  const noteUse = async (sha256: string, entry: Entry): Promise<void> => {
    const now = performance.now();
    if (entry.notedAt !== undefined && now - entry.notedAt < notedMs) return;
    entry.notedAt = now;
    await folder.touch(sha256);
  };

  return {
    async find(wanted) {
      const entry = entries.get(wanted.sha256) ?? begin(wanted);
      if (entry.state.is === 'ready') await noteUse(wanted.sha256, entry);
      return entry.state;
    },
    async close() {
      ending.abort();
      for (const { work } of entries.values()) {
        const state = await work;
        if (state.is === 'ready') await state.file.close();
      }
      entries.clear();
    },
  };
};
