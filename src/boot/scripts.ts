/** What boot loaders are sent: scripts of iPXE and configurations of GRUB. */
import { scriptArguments } from '../model/boot/kernel-arguments';

/** Boot loaders that ask, by the names of what they are sent. */
export type Loader = 'boot.ipxe' | 'grub.cfg';

/** Names under which small files and initramfs are known to the loader. */
export type Loaded = {
  /** Below /boot/ of the boot service: the token of a boot's URLs, or where all such machines find the same. */
  readonly at: string;
  readonly mac: string;
  /** Of this boot, within the grammar of kernel arguments. */
  readonly arguments: string;
  /** Whether there are small files to load beside the initramfs. */
  readonly files: boolean;
};

const initrdsOf = ({ files }: Loaded): string[] => ['initrd', ...(files ? ['files.img'] : [])];

/** How often a loader asks again before it gives up, and seconds between. */
const retries = { tries: 60, seconds: 5 };

const ipxe = (lines: readonly string[]): string => `${['#!ipxe', ...lines].join('\n')}\n`;

/** Asks for the machine's own script until there is one, or patience ends. */
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
 * The first script, the same for all machines: it says from which port, and what kind of machine asks. A URL without a host is
 * of the server that the script came from (https://ipxe.org/cmd/chain).
 */
export const firstScript = ipxe(asking);

const waiting: Readonly<Record<Loader, string>> = {
  'boot.ipxe': ipxe([`sleep ${retries.seconds}`, ...asking]),
  'grub.cfg': `sleep ${retries.seconds}\nconfigfile $temper/boot/network/$net_default_mac/grub.cfg\n`,
};

/** Its run has not powered the node on yet, as far as is on record: the loader asks again. */
export const waitingScript = (loader: Loader): string => waiting[loader];

/** There is nothing to boot: the firmware goes on with its next device. */
export const exitScript = (loader: Loader, says: string): string =>
  loader === 'boot.ipxe' ? ipxe([`echo ${says}`, 'exit 1']) : `echo "${says}"\nexit\n`;

const loadByIpxe = (boot: Loaded): string => {
  const names = initrdsOf(boot);
  const load = (command: string, name: string) => `${command} --name ${name} /boot/${boot.at}/${name}`;
  return ipxe([
    'set tries:int32 0',
    ':again',
    'imgfree',
    // EFI's boot stub finds its initramfs by these names; a BIOS kernel has them from the loader, and passes them over.
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

/** `temper` is the server of the boot service in GRUB's words; the first configuration sets it. */
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

/** The script of one boot: it holds the secret of its URLs and the ramdisk's token. */
export const bootScript = (loader: Loader, boot: Loaded): string =>
  loader === 'boot.ipxe' ? loadByIpxe(boot) : loadByGrub(boot);
