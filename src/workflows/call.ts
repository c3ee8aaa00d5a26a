/** One act that changes a node, asked for by somebody: a boot device, virtual media, a light; the provision state stays. */
import { story } from './frame';

export const call = story('call');
