/** A rollout is seen to until nothing more can come of it. Its state is in the store; this only says when to look at it. */
import { condition, continueAsNew, proxyLocalActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ControlActivities } from '../activities/control';
import { type RolloutInput, wakeSignal } from './contract';
import { locally } from './profiles';

// Admissions of one look may wait for locks of others; the next one goes on where it stopped.
const { tendRollout } = proxyLocalActivities<ControlActivities>({ ...locally, startToCloseTimeout: '60s' });

// Histories are kept small, however long a rollout is.
const longestHistory = 2_000;

export const rollout = async (input: RolloutInput): Promise<void> => {
  let woken = false;
  setHandler(wakeSignal, () => {
    woken = true;
  });
  for (;;) {
    woken = false;
    const { over, nextMs } = await tendRollout(input);
    if (over && !woken) return;
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (!woken && (historyLength > longestHistory || continueAsNewSuggested))
      return continueAsNew<typeof rollout>(input);
    if (nextMs === null) await condition(() => woken);
    else if (nextMs > 0) await condition(() => woken, nextMs);
  }
};
