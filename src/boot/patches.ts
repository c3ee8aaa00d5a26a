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
  const archive = Buffer.alloc(ramdisk.files_bytes);
  const packed = files.length > 0 ? cpioOf(files) : Buffer.alloc(0);
  if (packed.length > archive.length) throw new Error(`small files take ${packed.length} bytes of ${archive.length}`);
  packed.copy(archive);
  return [
    { at: ramdisk.arguments_at, bytes: Buffer.from(text.padEnd(ramdisk.arguments_bytes), 'latin1') },
    { at: ramdisk.files_at, bytes: archive },
  ];
};
