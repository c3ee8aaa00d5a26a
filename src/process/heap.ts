/** How far a process lets its memory grow before it collects what has become garbage. */
import { setFlagsFromString } from 'node:v8';

/** In percent of what was in use after the last collection. Node's own choice is up to four times as much. */
const growth = 50;

/**
 * For a process that serves long lists: each leaves some garbage among the objects that last, which is not collected until
 * the heap has grown by so much. Costs a few percent of processor time while such lists are asked for.
 */
export const keepHeapSmall = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`);
