/** Names that the no-op workflow, its workers and its client share. */

export const controlQueue = 'bench-control';
export const stepQueue = 'bench-steps';
export const steps = 5;
