/** Discovery boot of machines without a node: a ramdisk reports their hardware. It has no secrets. */
import type { Inventory } from '../inventory';
import { discoveryArguments } from '../model/boot/kernel-arguments';
import { type ContentDeps, plainFile, smallFilesOf } from './contents';
import { bootScript, exitScript, type Loader } from './scripts';
import type { Content } from './send';

export type Discovery = {
  /** Name of the ramdisk record. */
  readonly ramdisk: string;
  /** The API's URL for ramdisks, without /v1. */
  readonly apiUrl: string;
  readonly store: Inventory['discoveryBoots'];
};

export type DiscoveryDeps = Pick<ContentDeps, 'images' | 'files'> & {
  readonly discovery?: Discovery;
};

/** `arch` is named as in ramdisk records; undefined if the machine sends none. */
type AskingMachine = { readonly mac: string; readonly loader: Loader; readonly arch: string | undefined };

const contentPath = /^\/boot\/discovery\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(kernel|initrd|files\.img)$/;

type DiscoveryPart = { readonly uuid: string; readonly part: 'kernel' | 'initrd' | 'files.img' };

export const discoveryPart = (url: string | undefined): DiscoveryPart | undefined => {
  const [, uuid, part] = contentPath.exec(url ?? '') ?? [];
  return uuid === undefined ? undefined : { uuid, part: part as DiscoveryPart['part'] };
};

/**
 * The script of a machine without a node. It differs only by MAC address, and no request is recorded. Undefined
 * without discovery, or for the MAC address of a node or a refused machine. Throws if the arguments do not fit.
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

/** @returns undefined if the ramdisk is not (or no longer) the discovery ramdisk */
export const discoveryContent = async (
  { images, files, discovery }: DiscoveryDeps,
  { uuid, part }: DiscoveryPart,
): Promise<Content | undefined> => {
  const ramdisk = discovery && (await discovery.store.ramdisk(discovery.ramdisk, uuid));
  if (!ramdisk) return undefined;
  if (part === 'files.img') return smallFilesOf(files);
  return plainFile(images, part === 'kernel' ? ramdisk.kernel_sha256 : ramdisk.initrd_sha256, part);
};
