/** Conditions that stop a running rollout from beginning targets. */
import { gateCodes } from '../model/rollouts/gates';
import type { PauseCode } from '../model/rollouts/states';
import type { RolloutDeps } from './contract';
import { passGuard } from './passing';
import { sizeOf, targetsIn, totalOf, underWay, type View } from './view';

/** Consecutive refusals that pause a rollout. */
export const refusedInARow = 10;

/** Undefined if unlimited. */
const mayBeSkipped = (view: View): number | undefined => {
  const { max_skipped: most } = view.rollout.spec;
  if (most === undefined) return undefined;
  return typeof most === 'number' ? most : Math.floor((Number.parseFloat(most) * sizeOf(view)) / 100);
};

/** `acted`: until an operator acts; `passed`: until time passes. */
type Standstill = { readonly until: 'acted' | 'passed'; readonly code: PauseCode; readonly reason: string };
const pausedFor = (code: PauseCode, reason: string): Standstill => ({ until: 'acted', code, reason });

const identityAway = 'The identity service does not answer';

/** @param by the gate or guard that is polled */
export const askedForTime = (by: 'gate' | 'guard', note: string): Standstill => ({
  until: 'passed',
  code: 'gate_inconclusive',
  reason: `The ${by} is asked again soon. ${note}`.trim(),
});

const guarded = async (deps: RolloutDeps, view: View): Promise<Standstill | undefined> => {
  const answer = await passGuard(deps, view);
  switch (answer.is) {
    case 'pass':
      return undefined;
    case 'later':
      return askedForTime('guard', answer.note);
    default:
      return pausedFor(gateCodes[answer.is], answer.note);
  }
};

/** Undefined if targets may begin. */
export const standstill = async (deps: RolloutDeps, view: View): Promise<Standstill | undefined> => {
  const { rollout, counts } = view;
  const { parked, budget } = totalOf(view);
  // A failed target that is retried takes its own place in the budget.
  const failed = targetsIn(counts, ['failed']);
  if (budget !== null && failed + parked >= budget)
    return pausedFor('budget_spent', `${failed} failed and ${parked} parked: the budget of ${budget} is spent.`);
  if (rollout.refused_in_row >= refusedInARow)
    return pausedFor('policy_refuses', `The rules in force have refused ${rollout.refused_in_row} targets in a row.`);
  const most = mayBeSkipped(view);
  const skipped = targetsIn(counts, ['skipped']);
  if (most !== undefined && skipped > most)
    return pausedFor('too_many_skipped', `${skipped} targets were skipped; ${most} may be.`);
  const authority = await deps.authority(rollout.granted!, rollout.granted_at!);
  if (authority === 'lost')
    return pausedFor(
      'authority_lost',
      'The person by whose rights it runs has them no longer, or must show them again; adopt the rollout.',
    );
  if (authority === 'silent') return pausedFor('identity_unavailable', `${identityAway}.`);
  if (authority === 'waits')
    return {
      until: 'passed',
      code: 'identity_unavailable',
      reason: `${identityAway}; nothing is begun until it does.`,
    };
  return guarded(deps, view);
};

/** Defined if all remaining opened targets wait for windows or named times of their projects, which end with time. */
export const windowClosed = async (
  { inventory }: RolloutDeps,
  { rollout, counts }: View,
): Promise<Standstill | undefined> => {
  // A cheap check; the query sees what has begun since.
  if (targetsIn(counts, underWay, rollout.wave) > 0) return undefined;
  const waiting = await inventory.rolloutDue.putOff(rollout.id, rollout.wave);
  if (!waiting) return undefined;
  const { targets, until } = waiting;
  const wait = targets === 1 ? '1 node waits' : `${targets} nodes wait`;
  const reason = `${wait} for a window or a time of its project, the first until ${until.toISOString()}.`;
  return { until: 'passed', code: 'window_closed', reason };
};
