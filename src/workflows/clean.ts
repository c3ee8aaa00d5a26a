/** Cleaning: the steps of a caller, of a runbook, or of the automatic list, on a node that is not in use. */
import { story } from './frame';

export const clean = story('clean');
