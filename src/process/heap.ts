/** How a process collects what has become garbage: before its memory has grown far, and by itself. */
import { setFlagsFromString } from 'node:v8';

/** In percent of what was in use after the last collection. Node's own choice is up to four times as much. */
const growth = 50;

// In MiB, of each half of the room for young objects. Node's own is 16.
const youngInThreads = 4;

/**
 * For a process that serves long lists, or many things at once: what they leave among the objects that last is not collected until
 * the heap has grown by so much. Costs a few percent of processor time while there is such garbage. Holds for all threads.
 */
export const keepHeapSmall = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`);

/**
 * For a process that answers many short requests: what they leave is collected by the thread that made it. Helpers are woken
 * and waited for at each of these collections, which cost a tenth of all processor time, and a stall where the processors
 * are busy. What lasts is still collected by several.
 */
export const collectAlone = (): void => setFlagsFromString('--no-parallel-scavenge');

/** For a process that runs code in threads: young objects of those that are started from now on have less room. */
export const keepThreadsSmall = (): void => setFlagsFromString(`--max-semi-space-size=${youngInThreads}`);
