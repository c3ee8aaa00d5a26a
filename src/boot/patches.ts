/** What is laid over an image for one boot: its kernel arguments with the token, and its small files. */
import type { Served } from '../inventory/nodes/boot-capabilities';
import { agentTokenOf, inspectionTokenOf } from '../inventory/secrets/boot-tokens';
import { argumentsFault, sentArguments } from '../model/boot/kernel-arguments';
import { networkFiles } from '../model/boot/network-data';
import { cpioOf, type SmallFile } from './cpio';
import type { Patch } from './overlay';

/** All arguments of a boot. Throws where they do not fit the room, or do not keep to the grammar. */
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

/** The archive of small files that fills its area; made once for all boots, which share its bytes. Throws where they do not fit. */
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

/** The files of one boot: those of all boots, and its node's network where that is described. Throws NetworkDataRefused. */
export const filesOf = (
  { network_data }: Pick<Served, 'network_data'>,
  files: readonly SmallFile[],
): readonly SmallFile[] => {
  if (network_data == null) return files;
  // systemd-networkd reads its files as a user of its own.
  const network = networkFiles(network_data).map(({ path, content }) => ({
    path,
    content: Buffer.from(content),
    readable: true,
  }));
  return [...files, ...network];
};

/** The archive of a boot with files of its own is no longer than these: a thousand such boots at once are kept in memory. */
const ownArchive = (files: readonly SmallFile[], room: number): Uint8Array => {
  const archive = cpioOf(files);
  if (archive.length > room) throw new Error(`small files take ${archive.length} bytes of ${room}`);
  return archive;
};

/**
 * The patches of a boot. The argument line fills its area with blanks, so that nothing of the image's own text is left in it.
 * Throws where arguments or files do not fit, or the arguments do not keep to the grammar.
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
    // Zeros to the end of the area, with files or without; what follows lies over it.
    { at, bytes: archiveOf(network_data == null ? files : none, room) },
    ...(network_data == null ? [] : [{ at, bytes: ownArchive(filesOf({ network_data }, files), room) }]),
  ];
};

const none: readonly SmallFile[] = [];
