/** Scheduled rollouts begin by the grantee's rights and the votes that count at that time. */
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { RolloutDeps } from './contract';

// Poll while the worker is not ready, or Temporal or the identity service is away.
const againMs = 10_000;

/** Ends a due rollout without the necessary votes. */
const expire = async ({ inventory }: RolloutDeps, rollout: RolloutRow): Promise<void> => {
  const reason = 'Its approvals did not count any more when it was to begin.';
  await inventory.transaction(async (store) => {
    if (!(await store.rollouts.move(rollout, ['scheduled'], 'expired', { reason, finished_at: new Date() }))) return;
    const { id, project } = rollout;
    await store.events.append({ kind: 'rollout.expired', project, rollout_id: id, data: { rollout: id, reason } });
  });
};

const begin = async ({ inventory }: RolloutDeps, rollout: RolloutRow): Promise<void> => {
  await inventory.transaction(async (store) => {
    const { id, project, plan_hash, start_at } = rollout;
    if (!(await store.rollouts.move(rollout, ['scheduled'], 'running', { started_at: new Date() }))) return;
    await store.rollouts.openWave(id, 0);
    const data = { rollout: id, plan_hash, wave: 1, from: 'scheduled', to: 'running', start_at };
    await store.events.append({ kind: 'rollout.started', project, rollout_id: id, data });
  });
};

/**
 * Begins a due rollout, or expires it without approval.
 * @returns 0 if it changed, else milliseconds until the next check; null if only an operator can begin it
 */
export const beginScheduled = async (deps: RolloutDeps, rollout: RolloutRow): Promise<number | null> => {
  const { start_at, granted } = rollout;
  if (start_at === null || !granted) return null;
  const waitMs = start_at.getTime() - (await deps.inventory.clock());
  if (waitMs > 0) return waitMs;
  const unready = await deps.unready?.();
  if (unready !== undefined) {
    deps.log.warn('this worker begins no rollouts', { rollout: rollout.id, reason: unready });
    return againMs;
  }
  const approved = (await deps.approved?.(rollout)) ?? 'no';
  if (approved === 'away') return againMs;
  await (approved === 'yes' ? begin(deps, rollout) : expire(deps, rollout));
  return 0;
};
