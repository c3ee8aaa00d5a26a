/** What `temper ramdisk add` does where the images are: makes one, stores it by its digest, and says what its record holds. */
import { BuildFault, storeImage } from '../../boot';
import { type CliDeps, stop } from '../../cli';
import { fileReason } from '../../model/file-faults';

/** Throws CliFault (usage, refused) for a folder that is not named, a file that cannot be read, a tool that is missing. */
export const makeBootImage = async (
  env: NodeJS.ProcessEnv,
  { dir, ...given }: Parameters<CliDeps['storeRamdisk']>[0],
): ReturnType<CliDeps['storeRamdisk']> => {
  const folder = dir ?? env.TEMPER_BOOT_DIR;
  if (!folder) return stop('usage', 'Give --dir, or set TEMPER_BOOT_DIR: the folder that the boot service reads.');
  try {
    return await storeImage(folder, given, env.PATH ?? '');
  } catch (thrown) {
    if (thrown instanceof BuildFault) return stop('refused', thrown.message);
    const { path } = thrown as NodeJS.ErrnoException;
    if (path === undefined) throw thrown;
    return stop('refused', `${path} could not be used${fileReason(thrown)}.`);
  }
};
