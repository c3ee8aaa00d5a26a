/** Rollouts that begin at a time: by the rights of the person who said so, and by votes that count at that time. */
import type { RolloutRow } from '../inventory/rollouts/rollouts';
import type { RolloutDeps } from './contract';

// A worker that is not ready, and one whose engine or identity is away, looks again.
const againMs = 10_000;

/** Ends a rollout whose time has come without the votes that it needs. */
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
 * Begins a scheduled rollout whose time has come, or ends it where it is not approved any more.
 * @returns 0 where it has moved; else when to look again, in ms, or null where only a person can have it begin
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
