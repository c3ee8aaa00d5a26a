/** Servicing: approved or given steps on a node in use, which returns to it afterwards. */
import { story } from './frame';

export const service = story('service');
