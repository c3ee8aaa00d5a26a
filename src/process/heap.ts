/** Garbage collection flags of processes. */
import { setFlagsFromString } from 'node:v8';

/** Heap growth before a collection, in percent of what the last one left. Node's default is up to fourfold. */
const growth = 50;

// MiB per semi-space. Node's default is 16.
const youngInThreads = 4;

/**
 * For processes with long lists or many concurrent tasks: collects their old-generation garbage earlier, for a few
 * percent of CPU time. Applies to all threads.
 */
export const keepHeapSmall = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`);

/**
 * For processes with many short requests: young-generation collections run on one thread. Waking helpers costs a
 * tenth of all CPU time, and stalls if the CPUs are busy. Old-generation collections stay parallel.
 */
export const collectAlone = (): void => setFlagsFromString('--no-parallel-scavenge');

/** Limits the young generation of threads started later. */
export const keepThreadsSmall = (): void => setFlagsFromString(`--max-semi-space-size=${youngInThreads}`);
