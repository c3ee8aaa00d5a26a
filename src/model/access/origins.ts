/** Checks URLs of images and firmware against an operator's origins. */

import { glanceSource } from '../boot/glance-images';
import { imageNamed } from '../boot/images';
import { ramdiskNamed } from '../boot/ramdisks';
import type { Document } from '../document';
import { raise, unreachable } from '../errors';
import type { ActName } from '../lifecycle/acts';
import { ownValue } from '../own';

const parseUrl = (text: string): URL | undefined => {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
};

/** http or https, a host, perhaps a port, and nothing more. */
export const isOrigin = (text: string): boolean => {
  const url = parseUrl(text);
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === text.toLowerCase().replace(/\/$/, '');
};

/** An empty list allows every host. */
export const isAllowedOrigin = (origins: readonly string[], url: string): boolean => {
  const given = parseUrl(url);
  if (given === undefined || !/^https?:$/.test(given.protocol)) return false;
  return origins.length === 0 || origins.some((origin) => parseUrl(origin)?.origin === given.origin);
};

/** An empty list allows every http or https URL. Throws OriginRefused, which names only the host: the rest may hold a secret. */
export const requireOrigin = (origins: readonly string[], url: string): void => {
  const given = parseUrl(url);
  const known = given !== undefined && /^https?:$/.test(given.protocol);
  if (!known)
    raise('OriginRefused', { origin: given?.protocol ?? 'what came', reason: 'it must be an http or https URL' });
  if (!isAllowedOrigin(origins, url))
    raise('OriginRefused', {
      origin: given?.origin,
      reason: 'the operator does not allow it; ask for it to be added to TEMPER_IMAGE_ORIGINS',
    });
};

/** `container` is the name of a container image, whose registry counts. `stray` is a URL in an unexpected argument, with unknown use. */
export type Fetched = {
  readonly value: unknown;
  readonly as: 'http' | 'container' | 'stray';
};

/** Parses the name like the tools that pull it. */
const registryOf = (name: string): string => {
  const [first = '', ...rest] = name.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? first.toLowerCase() : 'docker.io';
};

const hostOf = (origin: string): string | undefined => parseUrl(origin)?.host;

/** Leaves out the account and other parts that may be secret. */
const hostIn = (text: string): string => {
  const rest = text.slice(text.indexOf('://') + 3).slice(0, 300);
  return /^(?:[^\s/?#@]*@)?([^\s/?#@"']+)/.exec(rest)?.[1] ?? 'an unknown host';
};

/** Throws OriginRefused. */
export const requireFetched = (origins: readonly string[], { value, as }: Fetched): void => {
  if (typeof value !== 'string') return;
  switch (as) {
    case 'http':
      requireOrigin(origins, value);
      return;
    case 'container': {
      const host = registryOf(value);
      if (origins.length > 0 && !origins.some((origin) => hostOf(origin) === host))
        raise('OriginRefused', {
          origin: `the registry ${host}`,
          reason: 'the operator does not allow it; ask for it to be added to TEMPER_IMAGE_ORIGINS',
        });
      return;
    }
    case 'stray':
      if (origins.length > 0)
        raise('OriginRefused', {
          origin: `a URL of ${hostIn(value)}`,
          reason: 'no URL is expected in this argument, and TEMPER_IMAGE_ORIGINS allows only some origins',
        });
      return;
    default:
      unreachable(as);
  }
};

const beginsWithScheme = (value: unknown): boolean =>
  typeof value === 'string' && /^\s*[a-z][a-z0-9+.-]*:\/\//i.test(value);

type ReadUrls = (value: unknown) => Fetched[];

const http: ReadUrls = (value) => (value === undefined || value === null ? [] : [{ value, as: 'http' }]);
/** The boot service checks the origin of a record's image, and Glance is the operator's. */
const httpOrServed: ReadUrls = (value) => (imageNamed(value) === undefined && !glanceSource(value) ? http(value) : []);
const container: ReadUrls = (value) => (value === undefined ? [] : [{ value, as: 'container' }]);
/** An id, a name, base64 or a digest, unless it is a URL. */
const perhaps: ReadUrls = (value) => (beginsWithScheme(value) ? http(value) : []);
/** A file inside the ramdisk is not fetched. */
const httpOrOwn: ReadUrls = (value) => (typeof value === 'string' && /^file:/i.test(value) ? [] : http(value));
/** Data for the instance itself. */
const data: ReadUrls = (value) => (typeof value === 'string' ? perhaps(value) : []);

const eachOf = (value: unknown): readonly Document[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
const each =
  (key: string, read: ReadUrls): ReadUrls =>
  (value) =>
    eachOf(value).flatMap((item) => [
      ...read(item[key]),
      ...Object.entries(item).flatMap(([name, other]) => (name === key ? [] : strays(other))),
    ]);

/** Texts with a URL at any depth. */
const strays: ReadUrls = (value) => {
  if (typeof value === 'string') return value.includes('://') ? [{ value, as: 'stray' }] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(strays);
};

/** Arguments of steps in the ramdisk. Others must hold no URL. */
const inBand: Readonly<Record<string, Readonly<Record<string, ReadUrls>>>> = {
  'deploy.generic_container_step': { container_url: container },
  'deploy.execute_bootc_install': { image_source: container, configdrive: data },
  'deploy.update_nvidia_nic_firmware_image': { images: each('url', httpOrOwn) },
  'deploy.inject_files': { files: each('content', perhaps) },
};

/** Keys of instance_info that the ramdisk uses to write an image. */
const ofInstance: Readonly<Record<string, ReadUrls>> = {
  image_source: httpOrServed,
  image_url: http,
  kernel: perhaps,
  ramdisk: perhaps,
  image_checksum: perhaps,
  configdrive: perhaps,
};

const ofDriver: Readonly<Record<string, ReadUrls>> = { image_http_proxy: http, image_https_proxy: http };

const readBy = (rows: Readonly<Record<string, ReadUrls>>, document: Document): Fetched[] =>
  Object.entries(rows).flatMap(([key, read]) => read(document[key]));

export const fetchedByInstance = (instance: Document, driver: Document = {}): Fetched[] => [
  ...readBy(ofInstance, instance),
  ...readBy(ofDriver, driver),
];

type NamedStep = { readonly interface: string; readonly step: string; readonly awaits?: string };

/** In a run that waits for its ramdisk, the boot service sends a record's image. */
const image = ({ awaits }: NamedStep, value: unknown): Fetched[] =>
  awaits !== undefined && ramdiskNamed(value) !== undefined ? [] : http(value);

const fetchedInBand = ({ interface: of, step }: NamedStep, args: Document): Fetched[] => {
  const row = ownValue(inBand, `${of}.${step}`) ?? {};
  return Object.entries(args).flatMap(([name, value]) => (ownValue(row, name) ?? strays)(value));
};

const fetched: Partial<
  Record<ActName, (step: NamedStep, args: Document, instance: Document, driver: Document) => Fetched[]>
> = {
  insert_media: (step, { image_url }) => image(step, image_url),
  set_boot_device: (step, { image_url }) => image(step, image_url),
  update_firmware: (_, { settings }) => eachOf(settings).flatMap(({ url }) => http(url)),
  agent_write_image: (_, __, instance, driver) => fetchedByInstance(instance, driver),
  agent_step: (step, args) => fetchedInBand(step, args),
};

/** `{}` if instance_info or driver_info do not count. */
export const fetchedBy = (
  act: ActName,
  step: NamedStep,
  args: Document,
  instance: Document,
  driver: Document = {},
): Fetched[] => fetched[act]?.(step, args, instance, driver) ?? [];
