/** Copies an image file into the boot service's folder, by digest. */
import { randomUUID } from 'node:crypto';
import { copyFile, open, rename, rm } from 'node:fs/promises';
import { type DiskFormat, formatBytes, formatOf } from '../model/boot/images';
import { createImageFolder } from './image-folder';
import { digestOf } from './images';

type Stored = { readonly sha256: string; readonly bytes: number; readonly disk_format?: DiskFormat };

/**
 * Throws the system's error for a file.
 * @returns the values of its record; no format if the first bytes show none
 */
export const storeFile = async (dir: string, from: string): Promise<Stored> => {
  const folder = createImageFolder(dir);
  await folder.make();
  const part = folder.partOf('0'.repeat(64), randomUUID());
  try {
    await copyFile(from, part);
    const file = await open(part, 'r+');
    try {
      const first = Buffer.alloc(formatBytes);
      await file.read(first, 0, formatBytes, 0);
      const disk_format = formatOf(first);
      const sha256 = await digestOf(file);
      const { size: bytes } = await file.stat();
      await file.sync();
      await rename(part, folder.pathOf(sha256));
      await folder.touch(sha256);
      return { sha256, bytes, ...(disk_format && { disk_format }) };
    } finally {
      await file.close();
    }
  } finally {
    await rm(part, { force: true });
  }
};
