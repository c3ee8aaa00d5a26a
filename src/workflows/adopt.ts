/** Adopting: a node in use is taken as it stands, after one look and without a touch. */
import { story } from './frame';

export const adopt = story('adopt');
