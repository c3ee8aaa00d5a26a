/** Disk space for images: evicts those that no run keeps, least recently used first. */
import { digestKey } from '../model/boot/images';
import type { Wanted } from './fetch-image';
import type { ImageFolder } from './image-folder';

export class NoRoom extends Error {}

export type ImageRoom = {
  /** Makes space before a fetch. Throws NoRoom. */
  reserve(wanted: Wanted): Promise<void>;
  /** Called after the fetch, failed or not. */
  release(wanted: Wanted): void;
};

type RoomDeps = {
  readonly folder: ImageFolder;
  readonly mostBytes: number;
  /** Names of files that a run may still read. */
  kept(): Promise<readonly string[]>;
  /** Removes an image from folder and cache. */
  evict(key: string): Promise<void>;
};

const mib = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;

const setting = 'TEMPER_BOOT_IMAGES_MB';

export const createImageRoom = ({ folder, mostBytes, kept, evict }: RoomDeps): ImageRoom => {
  /** Bytes reserved by running fetches. */
  const coming = new Map<string, number>();
  let making: Promise<unknown> = folder.make().then(folder.sweep);
  making.catch(() => {});

  const makeRoom = async (wanted: Wanted): Promise<void> => {
    const { name, bytes } = wanted;
    const key = digestKey(wanted);
    if (bytes > mostBytes)
      throw new NoRoom(`it has ${mib(bytes)}, and all images may take ${mib(mostBytes)} (${setting})`);
    const [stored, inUse] = await Promise.all([folder.list(), kept()]);
    const others = [...coming].reduce((sum, [of, size]) => (of === key ? sum : sum + size), 0);
    let taken = stored.reduce((sum, one) => sum + one.bytes, 0) + others;
    const spare = stored.filter((one) => !inUse.includes(one.key));
    for (const one of spare) {
      if (taken + bytes <= mostBytes) break;
      await evict(one.key);
      taken -= one.bytes;
    }
    if (taken + bytes > mostBytes)
      throw new NoRoom(
        `there is no room for the ${mib(bytes)} of ${name}: ${mib(taken)} of ${mib(mostBytes)} (${setting}) are in use`,
      );
    coming.set(key, bytes);
  };

  return {
    /** Serialized: two reservations at once would count the same free space. */
    reserve(wanted) {
      const made = making.catch(() => {}).then(() => makeRoom(wanted));
      making = made;
      return made;
    },
    release: (wanted) => void coming.delete(digestKey(wanted)),
  };
};
