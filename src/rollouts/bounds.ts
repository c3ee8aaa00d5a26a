/** Bounds of the whole rollout: its ramp, and the budget that stops it. */
import { boundOf, rampedTo } from '../model/rollouts/amounts';
import type { RolloutDeps, RolloutSpec } from './contract';
import { moveByItself } from './moving';
import { sizeOf, targetsIn, totalOf, type View } from './view';

export const grow = async ({ inventory }: RolloutDeps, view: View): Promise<void> => {
  const { ramp, max_in_flight: wanted } = view.rollout.spec as Partial<RolloutSpec>;
  const { done, failed, parked, most } = totalOf(view);
  if (!ramp || most === null || failed + parked > 0) return;
  const all = sizeOf(view);
  const top =
    wanted === undefined
      ? all
      : typeof wanted === 'number'
        ? wanted
        : Math.max(1, Math.floor((Number.parseFloat(wanted) * all) / 100));
  const now = rampedTo(done, top);
  if (now > most) await inventory.rollouts.ramp(view.rollout.id, now);
};

/** Stops a rollout with a spent budget of mode `stop`. Running targets are finished. */
export const stopBySpent = async (deps: RolloutDeps, view: View): Promise<boolean> => {
  const { rollout, counts } = view;
  const { budget } = rollout.spec as Partial<RolloutSpec>;
  if (budget?.mode !== 'stop') return false;
  const most = boundOf(budget.total, sizeOf(view));
  const { parked } = totalOf(view);
  const failed = targetsIn(counts, ['failed']);
  if (failed + parked < most) return false;
  const reason = `${failed} failed and ${parked} parked; it stops at ${most}.`;
  await moveByItself(deps, rollout, 'stopped', { code: 'budget_spent', reason, finished_at: new Date() });
  return true;
};
