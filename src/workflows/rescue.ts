/** Rescuing: the node starts from the rescue ramdisk, with a password for its user. */
import { story } from './frame';

export const rescue = story('rescue');
