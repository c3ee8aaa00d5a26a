/** The boot service's folder of images: files named by their digests, each opened and checked once. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the image with this digest is stored, below the data folder. Throws for a text that is no digest. */
export const imagePath = (folder: string, sha256: string): string => {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('no SHA-256 digest');
  return join(folder, `${sha256}.iso`);
};

/** The SHA-256 of all that a file holds, hexadecimal. */
export const digestOf = async (file: FileHandle): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of file.createReadStream({ start: 0, autoClose: false })) hash.update(piece as Buffer);
  return hash.digest('hex');
};

export type Images = {
  /** The open file of an image; undefined where this folder has none that fits its digest. */
  find(sha256: string): Promise<FileHandle | undefined>;
  close(): Promise<void>;
};

/** @param warn is given the reason why an image cannot be served */
export const createImages = (folder: string, warn: (reason: string, facts: { iso_sha256: string }) => void): Images => {
  const opened = new Map<string, Promise<FileHandle | undefined>>();
  const openChecked = async (iso_sha256: string): Promise<FileHandle | undefined> => {
    let file: FileHandle;
    try {
      file = await open(imagePath(folder, iso_sha256));
    } catch (thrown) {
      warn((thrown as Error).message, { iso_sha256 });
      return undefined;
    }
    if ((await digestOf(file)) === iso_sha256) return file;
    await file.close();
    warn('the file does not have the digest that it is named by', { iso_sha256 });
    return undefined;
  };
  return {
    async find(sha256) {
      const opening = opened.get(sha256) ?? openChecked(sha256);
      opened.set(sha256, opening);
      try {
        const file = await opening;
        // What is missing now may be copied into the folder later.
        if (!file) opened.delete(sha256);
        return file;
      } catch (thrown) {
        opened.delete(sha256);
        throw thrown;
      }
    },
    async close() {
      for (const opening of opened.values()) await (await opening.catch(() => undefined))?.close();
      opened.clear();
    },
  };
};
