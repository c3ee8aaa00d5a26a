/** Where images and firmware may come from: a URL is held against the origins that an operator allows. */
import type { ActName } from './acts';
import { raise } from './errors';

const parse = (text: string): URL | undefined => {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
};

/** Whether a text is an origin: http or https, a host, perhaps a port, and nothing more. */
export const isOrigin = (text: string): boolean => {
  const url = parse(text);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase().replace(/\/$/, '');
};

/**
 * Refuses a URL that is not http or https, or that lies at none of the origins; no origins: any host will do.
 * Throws OriginRefused, which names the host alone: the rest may hold a secret.
 */
export const requireOrigin = (origins: readonly string[], url: string): void => {
  const given = parse(url);
  const known = given !== undefined && /^https?:$/.test(given.protocol);
  if (!known)
    raise('OriginRefused', { origin: given?.protocol ?? 'what came', reason: 'it must be an http or https URL' });
  const allowed = origins.map((origin) => parse(origin)?.origin);
  if (origins.length > 0 && !allowed.includes(given?.origin))
    raise('OriginRefused', {
      origin: given?.origin,
      reason: 'the operator does not allow it; ask for it to be added to TEMPER_IMAGE_ORIGINS',
    });
};

type Document = Readonly<Record<string, unknown>>;

const texts = (...values: readonly unknown[]): string[] => values.filter((value) => typeof value === 'string');
const eachOf = (value: unknown): readonly Document[] => (Array.isArray(value) ? value : []);

/** Where acts hand a URL on to a BMC or to the ramdisk. */
const urls: Partial<Record<ActName, (args: Document, instance: Document) => string[]>> = {
  insert_media: ({ image_url }) => texts(image_url),
  update_firmware: ({ settings }) => texts(...eachOf(settings).map(({ url }) => url)),
  agent_write_image: (_, { image_source }) => texts(image_source),
};

/** The URLs from which an act lets something be fetched. */
export const urlsOf = (act: ActName, args: Document, instance: Document): string[] => urls[act]?.(args, instance) ?? [];
