/** Contents of a boot's URLs: its image, or the kernel, the initramfs and the small files. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Inventory } from '../inventory';
import type { Served } from '../inventory/nodes/boot-capabilities';
import { hashOf } from '../inventory/secrets/boot-tokens';
import { cpioOf, type SmallFile } from './cpio';
import type { FileKind, Images } from './images';
import { type Patch, readableBytes } from './overlay';
import { filesOf, patchesOf } from './patches';
import type { Content } from './send';

export type Log = Record<'info' | 'warn', (message: string, facts?: Record<string, unknown>) => void>;

export type ContentDeps = {
  readonly inventory: { readonly bootCapabilities: Pick<Inventory['bootCapabilities'], 'served'> };
  readonly images: Pick<Images, 'find'>;
  readonly files: readonly SmallFile[];
  readonly log: Log;
  /** Cache time of a URL, in milliseconds. A URL stays valid this long after its boot has ended. */
  readonly trustedMs?: number;
};

export type Part = 'ramdisk.iso' | 'kernel' | 'initrd' | 'files.img';

/** BMCs read an image in thousands of ranges; PostgreSQL is queried once a second. */
const usualTrustedMs = 1_000;
const mostKnown = 5_000;

const etagOf = (sha256: string, patches: readonly Patch[]): string => {
  const hash = createHash('sha256').update(sha256);
  for (const { at, bytes } of patches) hash.update(`${at}:`).update(bytes);
  return `"${hash.digest('base64url').slice(0, 32)}"`;
};

/** Undefined if the file is missing. */
export const plainFile = async (
  images: ContentDeps['images'],
  sha256: string | null,
  kind: FileKind,
): Promise<Content | undefined> => {
  const file = sha256 === null ? undefined : await images.find(sha256, kind);
  return file && { file, size: (await file.stat()).size, patches: [], etag: etagOf(sha256!, []) };
};

export const smallFilesOf = (files: readonly SmallFile[]): Content => {
  const bytes = cpioOf(files);
  const etag = etagOf('', [{ at: 0, bytes }]);
  return { file: readableBytes(bytes), size: bytes.length, patches: [], etag };
};

const contentOf = async (
  { images, files }: ContentDeps,
  served: Served,
  part: Part,
  token: string,
): Promise<Content | undefined> => {
  const { iso_sha256, iso_bytes: size, kernel_sha256, initrd_sha256 } = served.ramdisk;
  // A URL serves only its node's boot mode: network or virtual media.
  if (served.network === (part === 'ramdisk.iso')) return undefined;
  switch (part) {
    case 'kernel':
      return plainFile(images, kernel_sha256, 'kernel');
    case 'initrd':
      return plainFile(images, initrd_sha256, 'initrd');
    case 'files.img':
      return smallFilesOf(filesOf(served, files));
    case 'ramdisk.iso': {
      const file = await images.find(iso_sha256);
      if (!file) return undefined;
      const patches = patchesOf(served, token, files);
      return { file, size, patches, etag: etagOf(iso_sha256, patches) };
    }
  }
};

/** @returns finds the content of a URL; undefined if the token is not valid (any more) */
export const createContents = (deps: ContentDeps) => {
  const { inventory, log, trustedMs = usualTrustedMs } = deps;
  const cache = new LRUCache<string, Promise<Content | undefined>>({ max: mostKnown, ttl: trustedMs });
  const seen = new LRUCache<string, true>({ max: mostKnown });
  const made = new LRUCache<string, { readonly from: string; readonly content: Content }>({ max: mostKnown });
  /** Reuses the content if its row in PostgreSQL has not changed. */
  const sameOrNew = async (key: string, served: Served, part: Part, token: string): Promise<Content | undefined> => {
    const from = JSON.stringify(served);
    const before = made.get(key);
    if (before?.from === from) return before.content;
    const content = await contentOf(deps, served, part, token);
    if (content) made.set(key, { from, content });
    return content;
  };
  const find = async (hash: string, token: string, part: Part): Promise<Content | undefined> => {
    const served = await inventory.bootCapabilities.served(hash);
    const key = `${hash} ${part}`;
    const content = served && (await sameOrNew(key, served, part, token));
    if (!content) return undefined;
    if (!seen.has(key)) log.info('boot image asked for', { node_uuid: served.node_uuid, run: served.run_id, part });
    seen.set(key, true);
    return content;
  };
  return async (token: string, part: Part): Promise<Content | undefined> => {
    const hash = hashOf(token);
    const key = `${hash} ${part}`;
    const kept = cache.get(key);
    if (kept) return kept;
    const finding = find(hash, token, part);
    cache.set(key, finding);
    const drop = () => cache.peek(key) === finding && cache.delete(key);
    // Guesses and failures are not cached.
    finding.then((content) => content ?? drop(), drop);
    return finding;
  };
};
