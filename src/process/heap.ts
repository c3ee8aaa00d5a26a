/** How a process collects what has become garbage: before its memory has grown far, and by itself. */
import { setFlagsFromString } from 'node:v8';

/** In percent of what was in use after the last collection. Node's own choice is up to four times as much. */
const growth = 50;

/**
 * For a process that serves long lists: each leaves some garbage among the objects that last, which is not collected until
 * the heap has grown by so much. Costs a few percent of processor time while such lists are asked for.
 */
export const keepHeapSmall = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`);

/**
 * For a process that answers many short requests: what they leave is collected by the thread that made it. Helpers are woken
 * and waited for at each of these collections, which cost a tenth of all processor time, and a stall where the processors
 * are busy. What lasts is still collected by several.
 */
export const collectAlone = (): void => setFlagsFromString('--no-parallel-scavenge');
