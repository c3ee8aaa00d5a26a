/** What the boot service and nginx send in the bench: files by their digests, each also as a plain one. */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, ftruncateSync, linkSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export type BenchFile = { readonly sha256: string; readonly bytes: number; readonly plain: string };

const mib = 2 ** 20;
/** Real bytes at the beginning of each MiB; the rest is a hole, which takes no disk and is read as zeros. */
const realBytes = 64 * 1024;

/** Writes a file of whole MiB into a folder. @returns its digest, and the name of the plain file */
export const writeBenchFile = (folder: string, kind: 'iso' | 'img', bytes: number): BenchFile => {
  const plain = `plain.${kind}`;
  const [hash, zeros] = [createHash('sha256'), Buffer.alloc(mib - realBytes)];
  const file = openSync(join(folder, plain), 'wx');
  for (let at = 0; at < bytes; at += mib) {
    const real = randomBytes(realBytes);
    writeSync(file, real, 0, realBytes, at);
    hash.update(real).update(zeros);
  }
  ftruncateSync(file, bytes);
  closeSync(file);
  const sha256 = hash.digest('hex');
  // Where the service reads it: images of records have a folder of their own.
  const stored = kind === 'iso' ? folder : join(folder, 'images');
  mkdirSync(stored, { recursive: true });
  linkSync(join(folder, plain), join(stored, `${sha256}.${kind}`));
  return { sha256, bytes, plain };
};
