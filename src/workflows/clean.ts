/** Cleaning: the steps of a caller, of a runbook, or of the automatic list, on a node that nobody uses. */
import { story } from './frame';

export const clean = story('clean');
