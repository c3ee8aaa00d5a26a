/** Unrescuing: the node starts from its own disk again. */
import { story } from './frame';

export const unrescue = story('unrescue');
