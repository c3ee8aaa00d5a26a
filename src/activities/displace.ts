/** The end of a run whose node another one has taken: signalled to end, waited for, and ended by force if it does not. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';

export type Displaced = { readonly run: string; readonly workflow_id: string };

const lookEveryMs = 200;
// Long enough for an act that is under way to notice; its fence is old, so nothing it does afterwards counts.
const endWithinMs = 5 * 60_000;

/** Resolves when no workflow of this id is open any more. Harmless to repeat. */
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
    if (!(thrown instanceof WorkflowNotFoundError)) throw thrown; // never started, ended, or forgotten
  }
};
