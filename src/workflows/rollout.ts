/** Workflow of a rollout. The state is in PostgreSQL; this only times the passes. */
import { condition, continueAsNew, proxyLocalActivities, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ControlActivities } from '../activities/control';
import { type RolloutInput, wakeSignal } from './contract';
import { locally } from './profiles';

// Admissions may wait for locks; the next pass continues.
const { advanceRollout } = proxyLocalActivities<ControlActivities>({ ...locally, startToCloseTimeout: '60s' });

const longestHistory = 2_000;

export const rollout = async (input: RolloutInput): Promise<void> => {
  let woken = false;
  setHandler(wakeSignal, () => {
    woken = true;
  });
  for (;;) {
    woken = false;
    const { over, nextMs } = await advanceRollout(input);
    if (over && !woken) return;
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (!woken && (historyLength > longestHistory || continueAsNewSuggested))
      return continueAsNew<typeof rollout>(input);
    if (nextMs === null) await condition(() => woken);
    else if (nextMs > 0) await condition(() => woken, nextMs);
  }
};
