/** The folder that dnsmasq reads: made by a command, its machines kept by the boot service. */
import { chmod, copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { BootMachine } from '../inventory/nodes/network-boots';
import { BuildFault } from './build';
import type { Log } from './contents';
import { type DhcpFolder, dnsmasqConfig, grubStart, hostLines, machinesFolder } from './dnsmasq';

/** `from`: where the package has it, below a root. */
type Loader = { readonly name: string; readonly from: string; readonly brings: string };

const unsigned: readonly Loader[] = ['undionly.kpxe', 'snponly.efi'].map((name) => ({
  name,
  from: `usr/lib/ipxe/${name}`,
  brings: 'ipxe',
}));
// Shim starts what is called grubx64.efi beside it.
const signed: readonly Loader[] = [
  { name: 'shimx64.efi', from: 'usr/lib/shim/shimx64.efi.signed', brings: 'shim-signed' },
  {
    name: 'grubx64.efi',
    from: 'usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed',
    brings: 'grub-efi-amd64-signed',
  },
];
/** Where GRUB's network images look for their configuration, by who built them: Debian and others. */
const grubConfigs = ['debian-installer/amd64/grub/grub.cfg', 'grub/grub.cfg'];

/** Writes a file that is never seen half written, and that dnsmasq reads as a user of its own. */
const writeWhole = async (path: string, text: string): Promise<void> => {
  // dnsmasq passes over files of its folder that begin so.
  const written = join(dirname(path), `.${basename(path)}.new`);
  await writeFile(written, text);
  await chmod(written, 0o644);
  await rename(written, path);
};

const copyLoaders = async (folder: string, root: string, loaders: readonly Loader[]): Promise<void> => {
  const missing = new Set<string>();
  for (const { name, from, brings } of loaders)
    await copyFile(join(root, from), join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      missing.add(brings);
    });
  if (missing.size > 0)
    throw new BuildFault(
      `Boot loaders are missing; install ${[...missing].join(', ')} (Debian: apt-get install ${[...missing].join(' ')}), or name the folder in which these packages are unpacked with --loaders.`,
    );
};

/**
 * Makes the folder: configuration, boot loaders, and an empty list of machines unless there is one. Repeatable.
 * @returns the path of the configuration. Throws BuildFault, or the system's error
 */
export const prepareDhcp = async (wanted: DhcpFolder): Promise<string> => {
  const { dir, url, secureBoot, loaders = '/' } = wanted;
  const text = dnsmasqConfig(wanted);
  const tftp = join(dir, 'tftp');
  await mkdir(join(dir, machinesFolder), { recursive: true });
  await mkdir(tftp, { recursive: true });
  await copyLoaders(tftp, loaders, secureBoot ? [...unsigned, ...signed] : unsigned);
  for (const path of secureBoot ? grubConfigs : []) {
    await mkdir(dirname(join(tftp, path)), { recursive: true });
    await writeWhole(join(tftp, path), grubStart(url));
  }
  const config = join(dir, 'dnsmasq.conf');
  await writeWhole(config, text);
  return config;
};

/**
 * Asks the dnsmasq of this folder to read its machines anew, for it learns of new ones by itself, and of removed ones so.
 * @returns what is in the way; undefined where nothing is
 */
const reload = async (dir: string): Promise<string | undefined> => {
  try {
    const pid = Number((await readFile(join(dir, 'dnsmasq.pid'), 'utf8')).trim());
    // A process that ended leaves its number to another.
    const name = (await readFile(`/proc/${pid}/comm`, 'utf8')).trim();
    if (name !== 'dnsmasq') return `process ${pid} is ${name}`;
    process.kill(pid, 'SIGHUP');
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
};

export type MachinesDeps = {
  readonly dir: string;
  readonly machines: () => Promise<readonly BootMachine[]>;
  readonly log: Log;
};

/** @returns writes the list of machines where it has changed, and has dnsmasq read it; true where it has. Throws */
export const createMachineList = ({ dir, machines, log }: MachinesDeps) => {
  const path = join(dir, machinesFolder, 'temper');
  let written: string | undefined;
  return async (): Promise<boolean> => {
    written ??= await readFile(path, 'utf8').catch(() => undefined);
    const text = hostLines(await machines());
    if (text === written) return false;
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(path, text);
    written = text;
    const reason = await reload(dir);
    log.info('machines of DHCP written', {
      machines: text.split('\n').length - 1,
      ...(reason && { not_reloaded: reason }),
    });
    return true;
  };
};
