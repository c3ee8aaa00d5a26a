/** The folder of images, named by digest, and their disk usage. */
import { mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

const subfolder = 'images';

const imageFileName = /^([0-9a-f]{64})\.img$/;
const unfinished = /\.part$/;
// Longer than a fetch of 50 GB at 15 MB/s.
const abandonedMs = 3_600_000;

export type StoredImage = { readonly sha256: string; readonly bytes: number; readonly usedAt: number };

export const createImageFolder = (dir: string) => {
  const folder = join(dir, subfolder);
  const pathOf = (sha256: string): string => join(folder, `${sha256}.img`);
  const statOf = (file: string) => stat(join(folder, file)).catch(() => undefined);
  return {
    pathOf,

    /** For unverified bytes; `unique` separates fetches of several processes. */
    partOf: (sha256: string, unique: string): string => join(folder, `${sha256}.${unique}.part`),

    make: async (): Promise<void> => void (await mkdir(folder, { recursive: true })),

    /** Least recently used first. */
    async list(): Promise<StoredImage[]> {
      const files = await readdir(folder).catch(() => []);
      const found = await Promise.all(
        files.map(async (file) => {
          const [, sha256] = imageFileName.exec(file) ?? [];
          const facts = sha256 === undefined ? undefined : await statOf(file);
          return facts ? [{ sha256: sha256!, bytes: facts.size, usedAt: facts.mtimeMs }] : [];
        }),
      );
      return found.flat().toSorted((one, other) => one.usedAt - other.usedAt);
    },

    /** Records a use as mtime, which survives a restart. */
    touch: (sha256: string): Promise<void> => utimes(pathOf(sha256), new Date(), new Date()).catch(() => {}),

    remove: (sha256: string): Promise<void> => rm(pathOf(sha256), { force: true }),

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
