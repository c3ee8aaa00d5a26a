/** Prepares one image for serving: the verified file of the folder or the origin, or a reason. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { requireOrigin } from '../model/access/origins';
import type { Glance } from '../model/boot/glance-images';
import { digestKey } from '../model/boot/images';
import { isTemperError } from '../model/errors';
import type { Log } from './contents';
import { FetchFault, type Fetching, fetchInto, type Place, type Wanted } from './fetch-image';
import type { ImageFolder } from './image-folder';
import { type ImageRoom, NoRoom } from './image-room';
import { digestOf } from './images';

export type Cached =
  | { readonly is: 'ready'; readonly file: FileHandle; readonly bytes: number }
  | { readonly is: 'fetching' }
  /** 504: Glance or Keystone does not answer. 507: no disk space. */
  | { readonly is: 'refused'; readonly status: 502 | 504 | 507; readonly reason: string };

export type Bringing = Fetching & {
  readonly folder: ImageFolder;
  readonly room: ImageRoom;
  /** Allowed origins of records; empty allows all. */
  readonly origins: readonly string[];
  readonly glance?: Pick<Glance, 'file'> | undefined;
  readonly log: Log;
  /** Pause before a retry, in milliseconds. */
  readonly retryMs: number;
};

const tries = 3;
const fullCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

const notAdded = 'its file is not in the folder of the boot service, or is not the one of the record: temper image add';

/** Glance is the operator's, so its address is no matter of allowed origins. Throws FetchFault, OriginRefused. */
const requireSource = ({ origins }: Bringing, { url, glance_id }: Wanted): void => {
  if (glance_id !== null) return;
  if (url === null) throw new FetchFault(false, notAdded);
  requireOrigin(origins, url);
};

/** Asked again for each try, because a token may have ended. Throws GlanceUnavailable. */
const fetchedFrom = async ({ glance }: Bringing, { url, glance_id }: Wanted): Promise<Place> =>
  glance_id !== null && glance ? glance.file(glance_id) : { url: url! };

const download = async (bringing: Bringing, wanted: Wanted): Promise<FileHandle> => {
  const { folder } = bringing;
  const key = digestKey(wanted);
  const place = await fetchedFrom(bringing, wanted);
  const part = folder.partOf(key, randomUUID());
  try {
    const file = await open(part, 'wx');
    try {
      await fetchInto(file, wanted, place, bringing);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, folder.pathOf(key));
    return await open(folder.pathOf(key));
  } finally {
    await rm(part, { force: true });
  }
};

const fetched = async (bringing: Bringing, wanted: Wanted): Promise<FileHandle> => {
  const { room, log, retryMs, signal } = bringing;
  await room.reserve(wanted);
  log.info('image is fetched', { image: wanted.name, digest: digestKey(wanted), bytes: wanted.bytes });
  for (let left = tries; ; ) {
    try {
      return await download(bringing, wanted);
    } catch (thrown) {
      left -= 1;
      const passing =
        thrown instanceof FetchFault ? thrown.again : !fullCodes.includes((thrown as { code?: unknown }).code);
      if (!passing || left === 0 || signal.aborted) throw thrown;
      await sleep(retryMs, undefined, { signal });
    }
  }
};

/** The verified file of the folder; undefined without a match. */
const stored = async ({ folder, log }: Bringing, wanted: Wanted): Promise<FileHandle | undefined> => {
  const { name, algorithm, digest, bytes } = wanted;
  const file = await open(folder.pathOf(digestKey(wanted))).catch(() => undefined);
  if (!file) return undefined;
  if ((await file.stat()).size === bytes && (await digestOf(file, algorithm)) === digest) return file;
  await file.close();
  log.warn('the file does not have the digest that it is named by', { image: name, digest: digestKey(wanted) });
  return undefined;
};

/** The tenant of the node may read the reason, so it names neither the origin nor a local path. */
const reasonOf = (thrown: unknown): string => {
  const { code, name, message } = thrown as NodeJS.ErrnoException;
  if (fullCodes.includes(code)) return 'the disk of the boot service is full';
  if (thrown instanceof NoRoom || thrown instanceof FetchFault) return message;
  if (isTemperError(thrown, 'GlanceUnavailable')) return String(thrown.facts.reason);
  if (isTemperError(thrown)) return 'its origin is none that the boot service may ask (TEMPER_IMAGE_ORIGINS)';
  return `it could not be fetched (${code ?? name})`;
};

const refusedStatusOf = (thrown: unknown): 502 | 504 | 507 => {
  if (thrown instanceof NoRoom || fullCodes.includes((thrown as NodeJS.ErrnoException).code)) return 507;
  return isTemperError(thrown, 'GlanceUnavailable') ? 504 : 502;
};

const refusedImage = ({ log }: Bringing, wanted: Wanted, thrown: unknown): Cached => {
  const { message } = thrown as Error;
  const reason = reasonOf(thrown);
  log.warn('image cannot be served', { image: wanted.name, digest: digestKey(wanted), reason, fault: message });
  return { is: 'refused', status: refusedStatusOf(thrown), reason };
};

/** Throws nothing. */
export const bringImage = async (bringing: Bringing, wanted: Wanted): Promise<Cached> => {
  try {
    const before = await stored(bringing, wanted);
    if (before) return { is: 'ready', file: before, bytes: wanted.bytes };
    requireSource(bringing, wanted);
    return { is: 'ready', file: await fetched(bringing, wanted), bytes: wanted.bytes };
  } catch (thrown) {
    return refusedImage(bringing, wanted, thrown);
  } finally {
    bringing.room.release(wanted);
  }
};
