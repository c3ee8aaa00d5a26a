/** The image that hosts of the emulated rack boot from: a disc with the room that the boot service lays over, and nothing to start. */
import { areaMarks } from '../../src/model/boot/ramdisks';
import { plainImage } from './iso';

const argumentsRoom = 2_048;
const filesRoom = 16 * 1_024;

/** Bytes of an ISO 9660 image with `boot/grub/grub.cfg`, as `temper ramdisk add --iso` wants it. */
export const emulatedImage = (): Buffer => {
  const files = Buffer.alloc(filesRoom);
  files.write(areaMarks.files, 'latin1');
  const config = `linux /boot/vmlinuz ${areaMarks.arguments.padEnd(argumentsRoom)}\ninitrd /boot/initrd /boot/files.img\n`;
  return plainImage(['boot', 'grub'], { 'grub.cfg': Buffer.from(config, 'latin1'), 'files.img': files });
};
