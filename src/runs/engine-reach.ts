/** How the engine is called: with a deadline for each kind of call. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

/** Milliseconds to start, signal or describe, and to read beside a request that waits. */
export const startWithin = 2_000;
export const answerWithin = 1_000;

/** The client, and a way to call it that gives up after so many milliseconds. */
export type TemporalAccess = { readonly client: Client; within<T>(ms: number, work: () => Promise<T>): Promise<T> };

/** @returns whether the engine has an open workflow for the work */
export const found = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return false;
    throw thrown;
  }
};
