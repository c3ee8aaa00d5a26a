/** Garbage collection flags of processes. */
import { setFlagsFromString } from 'node:v8';

/** Heap growth before a collection, in percent. Node's default is up to 300. */
const growth = 50;

// MiB per semi-space. Node's default is 16.
const youngInThreads = 4;

/**
 * For processes with long lists or many concurrent tasks. Their garbage in the old generation would otherwise stay
 * until the heap has grown much. Costs a few percent of CPU time while there is such garbage. Applies to all threads.
 */
export const keepHeapSmall = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`);

/**
 * For processes with many short requests. Each young-generation collection otherwise wakes helper threads and waits
 * for them: a tenth of all CPU time, and stalls if the CPUs are busy. Old-generation collections stay parallel.
 */
export const collectAlone = (): void => setFlagsFromString('--no-parallel-scavenge');

/** For processes with worker threads: limits the young generation of threads started later. */
export const keepThreadsSmall = (): void => setFlagsFromString(`--max-semi-space-size=${youngInThreads}`);
