/** Content of an image URL: the bytes, or the reason why they cannot be sent now. */
import { LRUCache } from 'lru-cache';
import type { Inventory } from '../inventory';
import type { ServedImage } from '../inventory/nodes/image-capabilities';
import { hashOf } from '../inventory/secrets/boot-tokens';
import { digestKey } from '../model/boot/images';
import type { Log } from './contents';
import { createGlanceChecks, type GlanceCheckDeps } from './glance-checks';
import type { Cached } from './image-bring';
import type { ImageCache } from './image-cache';
import type { Content, Wait } from './send';

export type ImageContentDeps = GlanceCheckDeps & {
  readonly inventory: { readonly imageCapabilities: Pick<Inventory['imageCapabilities'], 'served'> };
  readonly imageCache: Pick<ImageCache, 'find'>;
  readonly log: Log;
};

// As for boot images: read in one request or in ranges.
const trustedMs = 1_000;
const known = 5_000;

const contentOf = (cached: Cached, image: ServedImage['image']): Content | Wait => {
  const { bytes, name } = image;
  switch (cached.is) {
    case 'ready':
      return cached.bytes === bytes
        ? { file: cached.file, size: bytes, patches: [], etag: `"${digestKey(image)}"` }
        : { status: 502, reason: `image ${name} has ${cached.bytes} bytes, and its record says ${bytes}` };
    case 'fetching':
      return { status: 503, reason: `image ${name} is being fetched and checked` };
    case 'refused':
      return { status: cached.status, reason: cached.reason };
  }
};

/** @returns finds the content of a URL; undefined if the token is not valid (any more) */
export const createImageContents = (deps: ImageContentDeps) => {
  const { inventory, imageCache, log } = deps;
  const faultAtGlance = createGlanceChecks(deps);
  const asked = new LRUCache<string, ServedImage>({ max: known, ttl: trustedMs });
  const seen = new LRUCache<string, true>({ max: known });
  const servedBy = async (hash: string): Promise<ServedImage | undefined> => {
    const before = asked.get(hash);
    if (before) return before;
    const served = await inventory.imageCapabilities.served(hash);
    // Guesses are not cached.
    if (served) asked.set(hash, served);
    return served;
  };
  return async (token: string): Promise<Content | Wait | undefined> => {
    const hash = hashOf(token);
    const served = await servedBy(hash);
    if (!served) return undefined;
    const { node_uuid, run_id: run, image } = served;
    if (!seen.has(hash)) log.info('image asked for', { node_uuid, run, image: image.name });
    seen.set(hash, true);
    return faultAtGlance(hash, image) ?? contentOf(await imageCache.find(image), image);
  };
};
