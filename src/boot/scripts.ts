/** Scripts of iPXE and configurations of GRUB. */
import { scriptArguments } from '../model/boot/kernel-arguments';

/** Boot loaders by the names of their scripts. */
export type Loader = 'boot.ipxe' | 'grub.cfg';

export type Loaded = {
  /** Path below /boot/: the token of the boot's URLs, or discovery's shared path. */
  readonly at: string;
  readonly mac: string;
  /** Valid by the grammar of kernel arguments. */
  readonly arguments: string;
  /** True if there are small files to load. */
  readonly files: boolean;
};

const initrdsOf = ({ files }: Loaded): string[] => ['initrd', ...(files ? ['files.img'] : [])];

const retries = { tries: 60, seconds: 5 };

const ipxe = (lines: readonly string[]): string => `${['#!ipxe', ...lines].join('\n')}\n`;

/** Retries until the machine has a script. */
const asking = [
  'set tries:int32 0',
  ':again',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: iPXE's own settings
  'chain --replace --autofree /boot/network/${netX/mac:hexhyp}/boot.ipxe?arch=${buildarch} || goto wait',
  ':wait',
  `sleep ${retries.seconds}`,
  'inc tries',
  `iseq \${tries} ${retries.tries} || goto again`,
  'exit 1',
];

/**
 * The first script, identical for all machines. It sends MAC address and architecture. iPXE resolves a URL without a
 * host against the script's server (https://ipxe.org/cmd/chain).
 */
export const firstScript = ipxe(asking);

const waiting: Readonly<Record<Loader, string>> = {
  'boot.ipxe': ipxe([`sleep ${retries.seconds}`, ...asking]),
  'grub.cfg': `sleep ${retries.seconds}\nconfigfile $temper/boot/network/$net_default_mac/grub.cfg\n`,
};

/** The node's power-on is not recorded yet, so the loader retries. */
export const waitingScript = (loader: Loader): string => waiting[loader];

/** Nothing to boot: the firmware continues with its next device. */
export const exitScript = (loader: Loader, says: string): string =>
  loader === 'boot.ipxe' ? ipxe([`echo ${says}`, 'exit 1']) : `echo "${says}"\nexit\n`;

const loadByIpxe = (boot: Loaded): string => {
  const names = initrdsOf(boot);
  const load = (command: string, name: string) => `${command} --name ${name} /boot/${boot.at}/${name}`;
  return ipxe([
    'set tries:int32 0',
    ':again',
    'imgfree',
    // EFI's boot stub finds its initramfs by these names; a BIOS kernel ignores them.
    `${load('kernel', 'kernel')} ${scriptArguments(boot.mac, names)} ${boot.arguments} || goto wait`,
    ...names.map((name) => `${load('initrd', name)} || goto wait`),
    'boot || goto wait',
    ':wait',
    `sleep ${retries.seconds}`,
    'inc tries',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: iPXE's own settings
    'iseq ${tries} 5 || goto again',
    'exit 1',
  ]);
};

/** `temper` is the boot service as a GRUB device, set by the first configuration. */
const loadByGrub = (boot: Loaded): string => {
  const at = `$temper/boot/${boot.at}`;
  return [
    'set timeout=0',
    `linux ${at}/kernel ${scriptArguments(boot.mac, [])} ${boot.arguments}`,
    `initrd ${initrdsOf(boot)
      .map((name) => `${at}/${name}`)
      .join(' ')}`,
    'boot',
    '',
  ].join('\n');
};

/** Contains the secret of the boot's URLs and the ramdisk's token. */
export const bootScript = (loader: Loader, boot: Loaded): string =>
  loader === 'boot.ipxe' ? loadByIpxe(boot) : loadByGrub(boot);
