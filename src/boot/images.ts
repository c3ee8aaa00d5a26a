/** The folder of ramdisk files, named by digest. Each is opened and verified once. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { HashAlgorithm } from '../model/boot/images';

export type FileKind = 'iso' | 'kernel' | 'initrd';

/** Throws if the text is not a digest. */
export const imagePath = (folder: string, sha256: string, kind: FileKind = 'iso'): string => {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error('no SHA-256 digest');
  return join(folder, `${sha256}.${kind}`);
};

/** Hexadecimal. */
export const digestOf = async (file: FileHandle, algorithm: HashAlgorithm = 'sha256'): Promise<string> => {
  const hash = createHash(algorithm);
  for await (const piece of file.createReadStream({ start: 0, autoClose: false })) hash.update(piece as Buffer);
  return hash.digest('hex');
};

export type Images = {
  /** Undefined if no file matches the digest. */
  find(sha256: string, kind?: FileKind): Promise<FileHandle | undefined>;
  close(): Promise<void>;
};

/** @param warn receives why an image cannot be served */
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
        // It may be copied into the folder later.
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
