/** What `temper ramdisk add` does where the images are: makes one, stores it by its digest, and says what its record holds. */
import { BuildFault, storeImage as storeBootImage, storeFile } from '../../boot';
import { type CliDeps, stop } from '../../cli';
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

/** Throws CliFault (usage, refused) for a folder that is not named, a file that cannot be read, a tool that is missing. */
export const makeBootImage = async (
  env: NodeJS.ProcessEnv,
  { dir, ...given }: Parameters<CliDeps['storeRamdisk']>[0],
): ReturnType<CliDeps['storeRamdisk']> => {
  const folder = folderOf(env, dir);
  return storeBootImage(folder, given, env.PATH ?? '').catch(refused);
};

/** Throws CliFault (usage, refused), likewise. */
export const storeImage = async (
  env: NodeJS.ProcessEnv,
  { dir, file }: Parameters<CliDeps['storeImage']>[0],
): ReturnType<CliDeps['storeImage']> => {
  const folder = folderOf(env, dir);
  return storeFile(folder, file).catch(refused);
};
