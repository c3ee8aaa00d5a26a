/** `temper boot dnsmasq`: creates the folder of dnsmasq. */
import { resolve } from 'node:path';
import { BuildFault, prepareDhcp } from '../../boot';
import { type Installation, stop } from '../../cli';
import { fileReason } from '../../model/file-faults';

/** Throws CliFault (usage, refused). */
export const makeDhcpFolder = async (
  env: NodeJS.ProcessEnv,
  { dir, ...given }: Parameters<Installation['prepareDhcp']>[0],
): ReturnType<Installation['prepareDhcp']> => {
  const folder = dir ?? env.TEMPER_BOOT_DHCP_DIR;
  if (!folder)
    return stop('usage', 'Give --dir, or set TEMPER_BOOT_DHCP_DIR: the folder whose machines the boot service keeps.');
  try {
    return await prepareDhcp({ ...given, dir: resolve(folder) });
  } catch (thrown) {
    if (thrown instanceof BuildFault) return stop('refused', thrown.message);
    const { path } = thrown as NodeJS.ErrnoException;
    if (path === undefined) throw thrown;
    return stop('refused', `${path} could not be used${fileReason(thrown)}.`);
  }
};
