/** Whether all that is left of a rollout is forbidden by budgets that are spent. */
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { RolloutDeps } from './contract';

const named = (scope: string, value: string): string => {
  if (scope === 'total') return 'the rollout';
  return scope === 'wave' ? `wave ${Number(value) + 1}` : `${scope} ${value}`;
};

/**
 * Why nothing more can come of what has been opened, although nodes are left: of each the budget of its wave or its domain is spent.
 * Undefined where something is under way, or may be begun now or later.
 */
export const spentByParts = async (
  { inventory }: Pick<RolloutDeps, 'inventory'>,
  { id, wave }: Pick<RolloutRow, 'id' | 'wave'>,
): Promise<string | undefined> => {
  const spent = await inventory.rolloutDue.forbiddenBy(id, wave);
  if (!spent) return undefined;
  const { scope, value, budget, failed, parked } = spent;
  return `The budget of ${named(scope, value)} (${budget}) is spent: ${failed} failed and ${parked} parked.`;
};
