/** The folder of dnsmasq. A command creates it; the boot service maintains its machines. */
import { chmod, copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { BootMachine } from '../inventory/nodes/network-boots';
import { BuildFault } from './build';
import type { Log } from './contents';
import { type DhcpFolder, dnsmasqConfig, grubStart, hostLines, machinesFolder } from './dnsmasq';

/** `from`: path relative to a root. */
type Loader = { readonly name: string; readonly from: string; readonly brings: string };

const unsigned: readonly Loader[] = ['undionly.kpxe', 'snponly.efi'].map((name) => ({
  name,
  from: `usr/lib/ipxe/${name}`,
  brings: 'ipxe',
}));
// Shim starts the grubx64.efi beside it.
const signed: readonly Loader[] = [
  { name: 'shimx64.efi', from: 'usr/lib/shim/shimx64.efi.signed', brings: 'shim-signed' },
  {
    name: 'grubx64.efi',
    from: 'usr/lib/grub/x86_64-efi-signed/grubnetx64.efi.signed',
    brings: 'grub-efi-amd64-signed',
  },
];
/** Configuration paths of GRUB's network images: Debian's, then others. */
const grubConfigs = ['debian-installer/amd64/grub/grub.cfg', 'grub/grub.cfg'];

/** Writes atomically. dnsmasq runs as another user, so all may read the file. */
const writeWhole = async (path: string, text: string): Promise<void> => {
  // dnsmasq ignores file names with a leading dot.
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
 * Creates configuration, boot loaders and the folder of machines. Idempotent. Throws BuildFault, or the system's
 * error.
 * @returns the path of the configuration
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
 * Sends SIGHUP to dnsmasq. It detects added lines itself, but not removed ones.
 * @returns the reason of a failure
 */
const reload = async (dir: string): Promise<string | undefined> => {
  try {
    const pid = Number((await readFile(join(dir, 'dnsmasq.pid'), 'utf8')).trim());
    // The PID may belong to another process by now.
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

/** @returns writes and reloads a changed list of machines; true if it has changed. Throws */
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
