/** The look-up of an image at Glance before the boot service sends it, once for each URL: by then it may be gone or another. */
import { LRUCache } from 'lru-cache';
import type { ServedImage } from '../inventory/nodes/image-capabilities';
import { changeFault, type Glance } from '../model/boot/glance-images';
import { isTemperError } from '../model/errors';
import type { Log } from './contents';
import type { ImageCache } from './image-cache';
import type { Wait } from './send';

export type GlanceCheckDeps = {
  /** Absent if no image comes from Glance. */
  readonly glance?: Pick<Glance, 'find'>;
  readonly imageCache: Partial<Pick<ImageCache, 'drop'>>;
  readonly log: Log;
};

type Image = ServedImage['image'];

const mostUrls = 5_000;

const unset: Wait = { status: 502, reason: 'TEMPER_GLANCE_IMAGES is not set on the boot service' };
const looking: Wait = { status: 503, reason: 'the image is being looked up at Glance' };

/** Undefined if the image is still the one that was accepted. */
const imageFault = async (
  { glance, imageCache, log }: GlanceCheckDeps,
  image: Image,
  id: string,
  urlHash: string,
): Promise<Wait | undefined> => {
  if (!glance) return unset;
  try {
    const found = await glance.find(id);
    const { algorithm, digest, bytes } = image;
    const accepted = { os_hash_algo: algorithm, os_hash_value: digest, size: bytes };
    const reason = found ? changeFault(accepted, found) : 'is gone since the deployment was accepted';
    if (reason === undefined) return undefined;
    log.warn('an image of Glance is not sent', { image: id, reason });
    if (!found) await imageCache.drop?.(image, urlHash);
    return { status: 410, reason };
  } catch (thrown) {
    if (!isTemperError(thrown, 'GlanceUnavailable')) throw thrown;
    log.warn('an image could not be looked up at Glance', { image: id, reason: String(thrown.facts.reason) });
    return { status: 504, reason: String(thrown.facts.reason) };
  }
};

type Check = { fault: Wait | undefined };

/** @returns the reason why the image of a URL is not sent (yet); undefined for records, and for an image as it was accepted */
export const createGlanceChecks = (deps: GlanceCheckDeps) => {
  const checks = new LRUCache<string, Check>({ max: mostUrls });
  const begin = (urlHash: string, image: Image, id: string): Check => {
    const check: Check = { fault: looking };
    checks.set(urlHash, check);
    imageFault(deps, image, id, urlHash).then(
      (fault) => {
        check.fault = fault;
      },
      (thrown: Error) => {
        deps.log.warn('an image of Glance could not be checked, and is checked again', {
          image: id,
          reason: thrown.message,
        });
        checks.delete(urlHash);
      },
    );
    return check;
  };
  // The worker asks again with the same URL, and gives up on a request that takes long.
  return (urlHash: string, image: Image): Wait | undefined =>
    image.glance_id === null ? undefined : (checks.get(urlHash) ?? begin(urlHash, image, image.glance_id)).fault;
};
