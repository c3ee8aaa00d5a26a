/** Patches of an image for one boot: kernel arguments with the token, and small files. */
import type { Served } from '../inventory/nodes/boot-capabilities';
import { agentTokenOf, inspectionTokenOf } from '../inventory/secrets/boot-tokens';
import { argumentsFault, sentArguments } from '../model/boot/kernel-arguments';
import { networkFiles } from '../model/boot/network-data';
import { cpioOf, type SmallFile } from './cpio';
import type { Patch } from './overlay';

/** Throws if they are longer than `room` or break the grammar. */
export const argumentsOf = (
  { arguments: line, inspection_url: url }: Pick<Served, 'arguments' | 'inspection_url'>,
  urlToken: string,
  room: number,
): string => {
  const inspection = url === null ? null : { url, token: inspectionTokenOf(urlToken) };
  const text = `${line} ${sentArguments({ token: agentTokenOf(urlToken), inspection })}`;
  const fault = argumentsFault(text, room);
  if (fault !== undefined) throw new Error(`kernel arguments: ${fault}`);
  return text;
};

/** The archive padded to its area; all boots share its bytes. Throws if the files do not fit. */
const archiveOf = (files: readonly SmallFile[], room: number): Uint8Array => {
  const rooms = archives.get(files) ?? new Map<number, Uint8Array>();
  archives.set(files, rooms);
  const made = rooms.get(room) ?? packed(files, room);
  rooms.set(room, made);
  return made;
};
const archives = new WeakMap<readonly SmallFile[], Map<number, Uint8Array>>();

const packed = (files: readonly SmallFile[], room: number): Uint8Array => {
  const archive = Buffer.alloc(room);
  const bytes = files.length > 0 ? cpioOf(files) : Buffer.alloc(0);
  if (bytes.length > room) throw new Error(`small files take ${bytes.length} bytes of ${room}`);
  bytes.copy(archive);
  return archive;
};

/** With the node's network files if it has network data. Throws NetworkDataRefused. */
export const filesOf = (
  { network_data }: Pick<Served, 'network_data'>,
  files: readonly SmallFile[],
): readonly SmallFile[] => {
  if (network_data == null) return files;
  // systemd-networkd runs as another user.
  const network = networkFiles(network_data).map(({ path, content }) => ({
    path,
    content: Buffer.from(content),
    readable: true,
  }));
  return [...files, ...network];
};

/** Not padded: a thousand such boots may be in memory at once. */
const ownArchive = (files: readonly SmallFile[], room: number): Uint8Array => {
  const archive = cpioOf(files);
  if (archive.length > room) throw new Error(`small files take ${archive.length} bytes of ${room}`);
  return archive;
};

/**
 * Blanks pad the arguments to the whole area, so that no text of the image remains. Throws if arguments or files do
 * not fit, or if the arguments break the grammar.
 */
export const patchesOf = (
  { arguments: line, inspection_url: url, network_data, ramdisk }: Served,
  urlToken: string,
  files: readonly SmallFile[],
): Patch[] => {
  const text = argumentsOf({ arguments: line, inspection_url: url }, urlToken, ramdisk.arguments_bytes);
  const { files_at: at, files_bytes: room } = ramdisk;
  return [
    { at: ramdisk.arguments_at, bytes: Buffer.from(text.padEnd(ramdisk.arguments_bytes), 'latin1') },
    // Zeros fill the area, with files or without. The next patch overwrites its start.
    { at, bytes: archiveOf(network_data == null ? files : none, room) },
    ...(network_data == null ? [] : [{ at, bytes: ownArchive(filesOf({ network_data }, files), room) }]),
  ];
};

const none: readonly SmallFile[] = [];
