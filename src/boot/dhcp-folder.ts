/** The folder of dnsmasq. A command creates it, and the boot service maintains its list of machines. */
import { chmod, copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { BootMachine } from '../inventory/nodes/network-boots';
import { BuildFault } from './build';
import type { Log } from './contents';
import { type DhcpFolder, dnsmasqConfig, grubStart, hostLines, machinesFolder } from './dnsmasq';

/** `from`: its path in the package, relative to a root. */
type Loader = { readonly name: string; readonly from: string; readonly brings: string };

const unsigned: readonly Loader[] = ['undionly.kpxe', 'snponly.efi'].map((name) => ({
  name,
  from: `usr/lib/ipxe/${name}`,
  brings: 'ipxe',
}));
// Shim starts the file called grubx64.efi in its own folder.
const signed: readonly Loader[] = [
  { name: 'shimx64.efi', from: 'usr/lib/shim/shimx64.efi.signed', brings: 'shim-signed' },
  {
    name: 'grubx64.efi',
    from: 'usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed',
    brings: 'grub-efi-amd64-signed',
  },
];
/** Configuration paths of GRUB's network images: Debian's build first, then others. */
const grubConfigs = ['debian-installer/amd64/grub/grub.cfg', 'grub/grub.cfg'];

/** Writes a file atomically. dnsmasq runs as another user, so the file is readable for all. */
const writeWhole = async (path: string, text: string): Promise<void> => {
  // dnsmasq ignores files in its folder whose names start with a dot.
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
 * Creates the folder: configuration, boot loaders, and an empty folder of machines if there is none. Idempotent.
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
 * Makes the dnsmasq of this folder reread its machines. dnsmasq detects new files without it, but not removed lines.
 * @returns the reason of a failure; undefined after success
 */
const reload = async (dir: string): Promise<string | undefined> => {
  try {
    const pid = Number((await readFile(join(dir, 'dnsmasq.pid'), 'utf8')).trim());
    // Another process may reuse the PID of one that ended.
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

/**
 * @returns a function that writes the list of machines if it has changed, and makes dnsmasq reread it; true if it has
 * changed. Throws
 */
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
