/** The folder of images, named by digest (`digestKey`), and their disk usage. */
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

const subfolder = 'images';

const imageKeys = '[0-9a-f]{64}|sha512-[0-9a-f]{128}';
const imageKeyForm = new RegExp(`^(?:${imageKeys})$`);
const imageFileName = new RegExp(`^(${imageKeys})\\.img$`);
const unfinished = /\.part$/;
// Longer than a fetch of 50 GB at 15 MB/s.
const abandonedMs = 3_600_000;

export type StoredImage = { readonly key: string; readonly bytes: number; readonly usedAt: number };

/** BMC workers write digests of images of Glance, so a key could hold a path. Throws. */
const requireKey = (key: string): string => {
  if (!imageKeyForm.test(key)) throw new Error('no digest of an image');
  return key;
};

export const createImageFolder = (dir: string) => {
  const folder = join(dir, subfolder);
  const pathOf = (key: string): string => join(folder, `${requireKey(key)}.img`);
  const statOf = (file: string) => stat(join(folder, file)).catch(() => undefined);
  return {
    pathOf,

    /** For unverified bytes; `unique` separates fetches of several processes. */
    partOf: (key: string, unique: string): string => join(folder, `${requireKey(key)}.${unique}.part`),

    make: async (): Promise<void> => void (await mkdir(folder, { recursive: true })),

    /** Least recently used first. */
    async list(): Promise<StoredImage[]> {
      const files = await readdir(folder).catch(() => []);
      const found = await Promise.all(
        files.map(async (file) => {
          const [, key] = imageFileName.exec(file) ?? [];
          const facts = key === undefined ? undefined : await statOf(file);
          return facts ? [{ key: key!, bytes: facts.size, usedAt: facts.mtimeMs }] : [];
        }),
      );
      return found.flat().toSorted((one, other) => one.usedAt - other.usedAt);
    },

    /** Records a use as mtime, which survives a restart. */
    touch: (key: string): Promise<void> => utimes(pathOf(key), new Date(), new Date()).catch(() => {}),

    remove: (key: string): Promise<void> => rm(pathOf(key), { force: true }),

    /** Removes partial files of killed processes. */
    async sweep(): Promise<void> {
      for (const file of (await readdir(folder).catch(() => [])).filter((one) => unfinished.test(one))) {
        const facts = await statOf(file);
        if (facts && Date.now() - facts.mtimeMs > abandonedMs) await rm(join(folder, file), { force: true });
      }
    },
  };
};

export type ImageFolder = ReturnType<typeof createImageFolder>;
