/** What is laid over an image for one boot: its kernel arguments with the token, and its small files. */
import type { Served } from '../inventory/nodes/boot-capabilities';
import { agentTokenOf, inspectionTokenOf } from '../inventory/secrets/boot-tokens';
import { argumentsFault, sentArguments } from '../model/boot/kernel-arguments';
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

/**
 * The patches of a boot. The argument line fills its area with blanks, so that nothing of the image's own text is left in it.
 * Throws where arguments or files do not fit, or the arguments do not keep to the grammar.
 */
export const patchesOf = (
  { arguments: line, inspection_url: url, ramdisk }: Served,
  urlToken: string,
  files: readonly SmallFile[],
): Patch[] => {
  const text = argumentsOf({ arguments: line, inspection_url: url }, urlToken, ramdisk.arguments_bytes);
  return [
    { at: ramdisk.arguments_at, bytes: Buffer.from(text.padEnd(ramdisk.arguments_bytes), 'latin1') },
    { at: ramdisk.files_at, bytes: archiveOf(files, ramdisk.files_bytes) },
  ];
};
