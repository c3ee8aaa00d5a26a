/** Cache of images: fetched once for all readers, verified before the first byte is sent, bounded on disk. */
import type { Inventory } from '../inventory';
import type { Log } from './contents';
import type { Wanted } from './fetch-image';
import { bringImage, type Cached } from './image-bring';
import { createImageFolder } from './image-folder';
import { createImageRoom } from './image-room';

export type ImageCacheDeps = {
  /** Data folder of the boot service. */
  readonly dir: string;
  readonly mostBytes: number;
  readonly inventory: { readonly imageCapabilities: Pick<Inventory['imageCapabilities'], 'kept'> };
  /** Allowed origins; empty allows all. */
  readonly origins: readonly string[];
  readonly log: Log;
  /** Pause before a retry, and cache time of a refusal; milliseconds. */
  readonly retryMs?: number;
  readonly refusedMs?: number;
  /** Time limit of an origin for the start of its response and for each MiB, in milliseconds. */
  readonly quietMs?: number;
};

export type ImageCache = { find(image: Wanted): Promise<Cached>; close(): Promise<void> };

type Entry = { readonly work: Promise<Cached>; state: Cached; notedAt?: number };

// Eviction compares hours and days.
const notedMs = 60_000;

const noteUse = async (entry: Entry, touch: () => Promise<void>): Promise<void> => {
  const now = performance.now();
  if (entry.notedAt !== undefined && now - entry.notedAt < notedMs) return;
  entry.notedAt = now;
  await touch();
};

const closeFile = async (state: Cached | undefined): Promise<void> => {
  if (state?.is === 'ready') await state.file.close();
};

export const createImageCache = (deps: ImageCacheDeps): ImageCache => {
  const { dir, mostBytes, inventory, origins, log, retryMs = 2_000, refusedMs = 15_000, quietMs = 60_000 } = deps;
  const folder = createImageFolder(dir);
  const entries = new Map<string, Entry>();
  const ending = new AbortController();

  const evict = async (sha256: string): Promise<void> => {
    const state = entries.get(sha256)?.state;
    entries.delete(sha256);
    await folder.remove(sha256);
    // No run reads it any more, or it would have been kept.
    await closeFile(state);
    log.info('image made room for another', { sha256 });
  };
  const room = createImageRoom({ folder, mostBytes, kept: () => inventory.imageCapabilities.kept(), evict });
  const bringing = { folder, room, origins, log, retryMs, quietMs, signal: ending.signal };

  const begin = (wanted: Wanted): Entry => {
    const work = bringImage(bringing, wanted);
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

  return {
    async find(wanted) {
      const entry = entries.get(wanted.sha256) ?? begin(wanted);
      if (entry.state.is === 'ready') await noteUse(entry, () => folder.touch(wanted.sha256));
      return entry.state;
    },
    async close() {
      ending.abort();
      for (const { work } of entries.values()) await closeFile(await work);
      entries.clear();
    },
  };
};
