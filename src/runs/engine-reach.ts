/** Access to Temporal with a deadline for each kind of call. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** Milliseconds to start, signal or describe, and to read while a request waits. */
export const startWithin = 2_000;
export const answerWithin = 1_000;

export type TemporalAccess = { readonly client: Client; within<T>(ms: number, work: () => Promise<T>): Promise<T> };

/** @returns whether Temporal has an open workflow */
export const found = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return false;
    throw thrown;
  }
};
