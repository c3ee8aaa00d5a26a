/** `temper ramdisk`: the images that nodes are booted from by the boot service. */
import type { Command } from 'commander';
import { givenArgumentsFault } from '../model/boot/kernel-arguments';
import { type RamdiskValues, ramdiskArchitectures } from '../model/boot/ramdisks';
import type { Acting, Context } from './context';
import { stop } from './faults';
import { listing, plainText } from './tables';

type Ramdisk = RamdiskValues & { readonly uuid: string; readonly created_at: string };
type Added = {
  readonly kernel?: string;
  readonly initrd?: string;
  readonly iso?: string;
  readonly arch: string;
  readonly args: string;
  readonly dir?: string;
};

const ramdisksPath = '/temper/v1/ramdisks';

const one = (ramdisk: Ramdisk): string =>
  `${Object.entries(ramdisk)
    .map(([key, value]) => `${key}: ${plainText(String(value ?? ''))}`)
    .join('\n')}\n`;

const ramdiskTable = listing<Ramdisk>(
  'ramdisks',
  ['NAME', 'ARCH', 'MIB', 'ISO SHA-256', 'ARGUMENTS'],
  ({ name, arch, iso_bytes, iso_sha256, args }) => [
    name,
    arch,
    String(Math.ceil(iso_bytes / 2 ** 20)),
    iso_sha256.slice(0, 16),
    args,
  ],
);

const listRamdisks = async ({ api, print, width }: Context): Promise<void> =>
  print((await api.send('GET', ramdisksPath)) as { ramdisks: Ramdisk[] }, ({ ramdisks }) =>
    ramdiskTable(ramdisks, width),
  );

/** The files of a ramdisk, given in one of two ways. Throws CliFault (usage). */
const filesOf = ({ kernel, initrd, iso, arch }: Added) => {
  if (!(ramdiskArchitectures as readonly string[]).includes(arch))
    return stop('usage', `--arch is one of ${ramdiskArchitectures.join(', ')}.`);
  if (iso !== undefined && kernel === undefined && initrd === undefined) return { iso };
  if (iso === undefined && kernel !== undefined && initrd !== undefined) return { kernel, initrd, arch };
  return stop('usage', 'Give --kernel and --initrd, or --iso with an image that has room for arguments already.');
};

const addRamdisk = async ({ api, hands, print }: Context, name: string, given: Added): Promise<void> => {
  const fault = givenArgumentsFault(given.args);
  if (fault !== undefined) stop('usage', `--args ${fault}.`);
  const files = filesOf(given);
  const stored = await hands.storeRamdisk({ ...files, ...(given.dir !== undefined && { dir: given.dir }) });
  const made = (await api.send('POST', ramdisksPath, {
    name,
    arch: given.arch,
    args: given.args,
    ...stored,
  })) as Ramdisk;
  print(made, one);
};

const showRamdisk = async ({ api, print }: Context, name: string): Promise<void> =>
  print((await api.send('GET', `${ramdisksPath}/${encodeURIComponent(name)}`)) as Ramdisk, one);

const remove = async ({ api, print }: Context, name: string): Promise<void> => {
  await api.send('DELETE', `${ramdisksPath}/${encodeURIComponent(name)}`);
  print({ name }, () => `Ramdisk ${plainText(name)} is removed; its image stays in the folder of the boot service.\n`);
};

/** Adds the commands about ramdisks. */
export const addRamdisks = (program: Command, acting: Acting): void => {
  const ramdisk = program.command('ramdisk').description('the images that nodes are booted from by the boot service');
  ramdisk
    .command('add')
    .description('make the boot image of a ramdisk, store it in the folder of the boot service, and record it')
    .argument('<name>', 'as nodes name it: deploy_iso ramdisk:<name>')
    .option('--kernel <file>', 'the kernel')
    .option('--initrd <file>', 'the initramfs with ironic-python-agent')
    .option('--iso <file>', 'a bootable image in place of both, with the marks of its room in it')
    .option('--arch <arch>', ramdiskArchitectures.join(' or '), ramdiskArchitectures[0])
    .option('--args <arguments>', 'kernel arguments of every boot, such as console=ttyS0', '')
    .option('--dir <folder>', 'folder of the boot service; TEMPER_BOOT_DIR when absent')
    .action(acting(addRamdisk));
  ramdisk.command('list').description('all ramdisks').action(acting(listRamdisks));
  ramdisk.command('show').description('one ramdisk').argument('<name>').action(acting(showRamdisk));
  ramdisk
    .command('remove')
    .description('forget a ramdisk that no run boots from')
    .argument('<name>')
    .action(acting(remove));
};
