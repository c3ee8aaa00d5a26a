/** Deploying: an image comes onto the disk and the node starts from it; rebuilding is the same again. */
import { story } from './frame';

export const deploy = story('deploy');
