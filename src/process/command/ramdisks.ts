/** `temper ramdisk add` and `temper image add` on the boot service's host: writes files by digest. */
import { BuildFault, storeImage as storeBootImage, storeFile } from '../../boot';
import { type Installation, stop } from '../../cli';
import { fileReason } from '../../model/file-faults';

const folderOf = (env: NodeJS.ProcessEnv, dir: string | undefined): string =>
  dir ??
  (env.TEMPER_BOOT_DIR || stop('usage', 'Give --dir, or set TEMPER_BOOT_DIR: the folder that the boot service reads.'));

const refused = (thrown: unknown): never => {
  if (thrown instanceof BuildFault) return stop('refused', thrown.message);
  const { path } = thrown as NodeJS.ErrnoException;
  if (path === undefined) throw thrown;
  return stop('refused', `${path} could not be used${fileReason(thrown)}.`);
};

/** Throws CliFault (usage, refused). */
export const makeBootImage = async (
  env: NodeJS.ProcessEnv,
  { dir, ...given }: Parameters<Installation['storeRamdisk']>[0],
): ReturnType<Installation['storeRamdisk']> => {
  const folder = folderOf(env, dir);
  return storeBootImage(folder, given, env.PATH ?? '').catch(refused);
};

/** Throws CliFault (usage, refused). */
export const storeImage = async (
  env: NodeJS.ProcessEnv,
  { dir, file }: Parameters<Installation['storeImage']>[0],
): ReturnType<Installation['storeImage']> => {
  const folder = folderOf(env, dir);
  return storeFile(folder, file).catch(refused);
};
