/** The boot service's folder of images: files named by their digests, each opened and checked once. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Files of a ramdisk: its boot image, and what a machine loads by the network. */
export type FileKind = 'iso' | 'kernel' | 'initrd';

/** Where the file with this digest is stored, below the data folder. Throws for a text that is no digest. */
export const imagePath = (folder: string, sha256: string, kind: FileKind = 'iso'): string => {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('no SHA-256 digest');
  return join(folder, `${sha256}.${kind}`);
};

/** The SHA-256 of all that a file holds, hexadecimal. */
export const digestOf = async (file: FileHandle): Promise<string> => {
  const hash = createHash('sha256');
  for await (const piece of file.createReadStream({ start: 0, autoClose: false })) hash.update(piece as Buffer);
  return hash.digest('hex');
};

export type Images = {
  /** The open file of an image; undefined where this folder has none that fits its digest. */
  find(sha256: string, kind?: FileKind): Promise<FileHandle | undefined>;
  close(): Promise<void>;
};

/** @param warn is given the reason why an image cannot be served */
export const createImages = (folder: string, warn: (reason: string, facts: { sha256: string }) => void): Images => {
  const opened = new Map<string, Promise<FileHandle | undefined>>();
  const openChecked = async (sha256: string, kind: FileKind): Promise<FileHandle | undefined> => {
    let file: FileHandle;
    try {
      file = await open(imagePath(folder, sha256, kind));
    } catch (thrown) {
      warn((thrown as Error).message, { sha256 });
      return undefined;
    }
    if ((await digestOf(file)) === sha256) return file;
    await file.close();
    warn('the file does not have the digest that it is named by', { sha256 });
    return undefined;
  };
  return {
    async find(sha256, kind = 'iso') {
      const key = `${sha256}.${kind}`;
      const opening = opened.get(key) ?? openChecked(sha256, kind);
      opened.set(key, opening);
      try {
        const file = await opening;
        // What is missing now may be copied into the folder later.
        if (!file) opened.delete(key);
        return file;
      } catch (thrown) {
        opened.delete(key);
        throw thrown;
      }
    },
    async close() {
      for (const opening of opened.values()) await (await opening.catch(() => undefined))?.close();
      opened.clear();
    },
  };
};
