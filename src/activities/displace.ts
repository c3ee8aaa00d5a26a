/** The end of a run whose node another run has taken: cancellation, then termination. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

export type Displaced = { readonly run: string; readonly workflow_id: string };

const lookEveryMs = 200;
// Time for an act to react. The old fence blocks later writes.
const endWithinMs = 5 * 60_000;

/** Resolves when no workflow with this id is open; idempotent. */
export const endWorkflow = async (
  client: Client,
  workflowId: string,
  signal: AbortSignal,
  beat: () => void,
  withinMs = endWithinMs,
): Promise<void> => {
  const handle = client.workflow.getHandle(workflowId);
  const deadline = performance.now() + withinMs;
  try {
    await handle.cancel();
    for (;;) {
      signal.throwIfAborted();
      beat();
      const { status } = await handle.describe();
      if (status.name !== 'RUNNING') return;
      if (performance.now() >= deadline) await handle.terminate('The node was taken over by another run.');
      await sleep(lookEveryMs);
    }
  } catch (thrown) {
    if (!(thrown instanceof WorkflowNotFoundError)) throw thrown; // never started, ended, or deleted
  }
};
