/** Inspecting: what the node consists of, asked of its BMC or found by the ramdisk. */
import { story } from './frame';

export const inspect = story('inspect');
