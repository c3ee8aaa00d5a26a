/** Power: one request for a power state; the provision state stays as it is. */
import { story } from './frame';

export const power = story('power');
