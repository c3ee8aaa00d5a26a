/** One act that changes a node, at a caller's request: a boot device, virtual media, a light; the provision state stays. */
import { story } from './frame';

export const call = story('call');
