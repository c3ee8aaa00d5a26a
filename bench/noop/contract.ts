/** Names that the no-op workflow, its workers and its client share. */

export const controlQueue = 'bench-control';
export const stepQueue = 'bench-steps';

/** Where an activity runs: within the workflow task, on the queue of the same worker, or on that of another. */
export type Kind = 'local' | 'control' | 'step';
