/** Automatic changes of a running rollout's state or wait reason. */
import type { RolloutChange, RolloutRow } from '../inventory/rollouts/rollouts';
import type { PauseCode } from '../model/rollouts/states';
import type { RolloutDeps } from './contract';

export const moveByItself = async (
  { inventory }: Pick<RolloutDeps, 'inventory'>,
  rollout: RolloutRow,
  to: 'running' | 'paused' | 'succeeded' | 'stopped',
  change: RolloutChange,
): Promise<void> => {
  await inventory.transaction(async (store) => {
    if (!(await store.rollouts.move(rollout, ['running'], to, change))) return;
    const { id, project } = rollout;
    const { code = null, reason = null } = change;
    await store.events.append({ kind: `rollout.${to}`, project, rollout_id: id, data: { rollout: id, code, reason } });
  });
};

/** Until an operator resumes it. */
export const pause = (deps: RolloutDeps, rollout: RolloutRow, code: PauseCode, reason: string): Promise<void> =>
  moveByItself(deps, rollout, 'paused', { code, reason });

/** Sets or clears the reason for which a running rollout waits. */
export const sayWhy = async (
  { inventory }: RolloutDeps,
  rollout: RolloutRow,
  why: { readonly code: PauseCode | null; readonly reason: string } | undefined,
): Promise<void> => {
  const { code = null, reason = null } = why ?? {};
  if (rollout.code === code && rollout.reason === reason) return;
  await inventory.rollouts.move(rollout, ['running'], 'running', { code, reason });
};
