/** Names that the no-op workflow, its workers and its client share. */

export const controlQueue = 'bench-control';
export const stepQueue = 'bench-steps';

/** Whose queue an activity is on: of the worker that runs the workflow too, or of another. */
export type Kind = 'control' | 'step';
