/** What machines are booted into that no node stands for: a ramdisk that reports its hardware, with nothing secret in its boot. */
import type { Inventory } from '../inventory';
import { discoveryArguments } from '../model/boot/kernel-arguments';
import { type ContentDeps, plainFile, smallFilesOf } from './contents';
import { bootScript, exitScript, type Loader } from './scripts';
import type { Content } from './send';

/** How such machines are booted; absent where they are not. */
export type Discovery = {
  /** Name of the ramdisk record. */
  readonly ramdisk: string;
  /** The API of ramdisks, without /v1, as they reach it. */
  readonly apiUrl: string;
  readonly store: Inventory['discoveryBoots'];
};

export type DiscoveryDeps = Pick<ContentDeps, 'images' | 'files'> & {
  readonly discovery?: Discovery;
};

/** A machine that asks: `arch` is what it calls itself, as ramdisk records do; undefined where it does not say. */
type AskingMachine = { readonly mac: string; readonly loader: Loader; readonly arch: string | undefined };

const contentPath = /^\/boot\/discovery\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(kernel|initrd|files\.img)$/;

type DiscoveryPart = { readonly uuid: string; readonly part: 'kernel' | 'initrd' | 'files.img' };

/** What a path below /boot/discovery names; undefined for any other path. */
export const discoveryPart = (url: string | undefined): DiscoveryPart | undefined => {
  const [, uuid, part] = contentPath.exec(url ?? '') ?? [];
  return uuid === undefined ? undefined : { uuid, part: part as DiscoveryPart['part'] };
};

/**
 * The script of a machine without a node, the same for all of them but for its MAC address: nothing is kept of who asked.
 * Undefined where there is no discovery, or its MAC address is a node's or a refused machine's. Throws where the arguments do not fit.
 */
export const discoveryScript = async (
  { files, discovery }: DiscoveryDeps,
  { mac, loader, arch }: AskingMachine,
): Promise<string | undefined> => {
  const ramdisk = discovery && (await discovery.store.ramdiskFor(mac, discovery.ramdisk));
  if (!ramdisk) return undefined;
  if (arch !== undefined && arch !== ramdisk.arch) return exitScript(loader, otherArchitecture);
  return bootScript(loader, {
    at: `discovery/${ramdisk.uuid}`,
    mac,
    arguments: discoveryArguments(ramdisk.args, discovery.apiUrl),
    files: files.length > 0,
  });
};

const otherArchitecture = 'The ramdisk that finds machines is of another architecture.';

/** @returns finds what such a machine loads; undefined where its ramdisk is not (or no longer) the one */
export const discoveryContent = async (
  { images, files, discovery }: DiscoveryDeps,
  { uuid, part }: DiscoveryPart,
): Promise<Content | undefined> => {
  const ramdisk = discovery && (await discovery.store.ramdisk(discovery.ramdisk, uuid));
  if (!ramdisk) return undefined;
  if (part === 'files.img') return smallFilesOf(files);
  return plainFile(images, part === 'kernel' ? ramdisk.kernel_sha256 : ramdisk.initrd_sha256, part);
};
