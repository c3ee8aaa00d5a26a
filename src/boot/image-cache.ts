/** Cache of images: fetched once for all readers, verified before the first byte is sent, bounded on disk. */
import type { Inventory } from '../inventory';
import { digestKey } from '../model/boot/images';
import type { Log } from './contents';
import type { Wanted } from './fetch-image';
import { type Bringing, bringImage, type Cached } from './image-bring';
import { createImageFolder } from './image-folder';
import { createImageRoom } from './image-room';

export type ImageCacheDeps = {
  /** Data folder of the boot service. */
  readonly dir: string;
  readonly mostBytes: number;
  readonly inventory: { readonly imageCapabilities: Pick<Inventory['imageCapabilities'], 'kept'> };
  /** Allowed origins; empty allows all. */
  readonly origins: readonly string[];
  /** Absent if no image comes from Glance. */
  readonly glance?: Bringing['glance'];
  readonly log: Log;
  /** Pause before a retry, and cache time of a refusal; milliseconds. */
  readonly retryMs?: number;
  readonly refusedMs?: number;
  /** Time limit of an origin for the start of its response and for each MiB, in milliseconds. */
  readonly quietMs?: number;
};

export type ImageCache = {
  find(image: Wanted): Promise<Cached>;
  /** Removes an image, unless a URL other than this one needs it. */
  drop(image: Wanted, urlHash: string): Promise<void>;
  close(): Promise<void>;
};

type Entry = { readonly work: Promise<Cached>; readonly source: string | null; state: Cached; notedAt?: number };

const sourceOf = ({ glance_id, url }: Wanted): string | null => glance_id ?? url;

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
  const { dir, mostBytes, inventory, origins, glance, log } = deps;
  const { retryMs = 2_000, refusedMs = 15_000, quietMs = 60_000 } = deps;
  const folder = createImageFolder(dir);
  const entries = new Map<string, Entry>();
  const ending = new AbortController();

  const evict = async (key: string): Promise<void> => {
    const state = entries.get(key)?.state;
    entries.delete(key);
    await folder.remove(key);
    // No run reads it any more, or it would have been kept.
    await closeFile(state);
    log.info('image removed', { digest: key });
  };
  const room = createImageRoom({ folder, mostBytes, kept: () => inventory.imageCapabilities.kept(), evict });
  const bringing = { folder, room, origins, glance, log, retryMs, quietMs, signal: ending.signal };

  const begin = (wanted: Wanted): Entry => {
    const work = bringImage(bringing, wanted);
    const entry: Entry = { work, source: sourceOf(wanted), state: { is: 'fetching' } };
    const key = digestKey(wanted);
    entries.set(key, entry);
    void work.then((state) => {
      entry.state = state;
      if (state.is !== 'refused') return;
      const forget = () => entries.get(key) === entry && entries.delete(key);
      setTimeout(forget, refusedMs).unref();
    });
    return entry;
  };

  return {
    async find(wanted) {
      const key = digestKey(wanted);
      const known = entries.get(key);
      // The same bytes from another source may be there: the refusal of one is not the other's.
      const other = known?.state.is === 'refused' && known.source !== sourceOf(wanted);
      const entry = known && !other ? known : begin(wanted);
      if (entry.state.is === 'ready') await noteUse(entry, () => folder.touch(key));
      return entry.state;
    },
    async drop(wanted, urlHash) {
      const key = digestKey(wanted);
      const kept = await inventory.imageCapabilities.kept(urlHash);
      if (!kept.includes(key) && entries.get(key)?.state.is !== 'fetching') await evict(key);
    },
    async close() {
      ending.abort();
      for (const { work } of entries.values()) await closeFile(await work);
      entries.clear();
    },
  };
};
