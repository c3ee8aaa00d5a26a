/** How much a run may carry: its input stays in its history and goes with every act. */
import { raise } from '../model/errors';
import type { Plan } from '../model/lifecycle/plan-parts';

const maxPlanBytes = 64 * 1024;

/** Throws InvalidSteps for a plan of too many bytes. */
export const requirePlanSize = (plan: Plan): void => {
  const bytes = Buffer.byteLength(JSON.stringify(plan));
  if (bytes > maxPlanBytes)
    raise('InvalidSteps', {
      reason: `The steps hold ${bytes} bytes; a run carries at most ${maxPlanBytes}. Split them into several runs.`,
    });
};
