/** `temper ramdisk`: images that the boot service boots nodes from. */
import type { Command } from 'commander';
import { givenArgumentsFault } from '../../model/boot/kernel-arguments';
import { ramdiskArchitectures } from '../../model/boot/ramdisks';
import type { Ramdisk } from '../../wire/records';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { bootRecords } from './boot-records';

type Added = {
  readonly kernel?: string;
  readonly initrd?: string;
  readonly iso?: string;
  readonly arch: string;
  readonly args: string;
  readonly dir?: string;
};

const records = bootRecords<Ramdisk>({
  resource: 'ramdisk',
  headings: ['NAME', 'ARCH', 'MIB', 'ISO SHA-256', 'ARGUMENTS'],
  cells: ({ name, arch, iso_bytes, iso_sha256, args }) => [
    name,
    arch,
    String(Math.ceil(iso_bytes / 2 ** 20)),
    iso_sha256.slice(0, 16),
    args,
  ],
  removal: 'forget a ramdisk that no run boots from',
  removed: (name) => `Ramdisk ${name} is removed; its image stays in the folder of the boot service.`,
});

/** Throws CliFault (usage). */
const filesOf = ({ kernel, initrd, iso, arch }: Added) => {
  if (!(ramdiskArchitectures as readonly string[]).includes(arch))
    return stop('usage', `--arch is one of ${ramdiskArchitectures.join(', ')}.`);
  if (iso !== undefined && kernel === undefined && initrd === undefined) return { iso };
  if (iso === undefined && kernel !== undefined && initrd !== undefined) return { kernel, initrd, arch };
  return stop('usage', 'Give --kernel and --initrd, or --iso with an image that has room for arguments already.');
};

const addRamdisk = async (context: Context, name: string, given: Added): Promise<void> => {
  const fault = givenArgumentsFault(given.args);
  if (fault !== undefined) stop('usage', `--args ${fault}.`);
  const files = filesOf(given);
  const { dir, arch, args } = given;
  const stored = await context.installation().storeRamdisk({ ...files, ...(dir !== undefined && { dir }) });
  await records.create(context, { name, arch, args, ...stored });
};

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
  records.addTo(ramdisk, acting);
};
