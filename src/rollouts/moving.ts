/** Moves of a rollout: it pauses, and a wave ends. */
import type { RolloutChange, RolloutRow } from '../inventory/rollouts/rollouts';
import { type GateAnswer, gateCodes } from '../model/rollouts/gates';
import type { PauseCode } from '../model/rollouts/states';
import type { RolloutDeps } from './contract';
import { passGate } from './passing';
import { askedForTime } from './standstill';
import type { View } from './view';

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

const unsaid = { code: null, reason: null } as const;

/** @returns whether the next wave may open */
export const gateOpens = async (deps: RolloutDeps, view: View): Promise<boolean | 'later'> => {
  const { rollout } = view;
  const passing = await passGate(deps, view);
  await deps.inventory.rollouts.closeWave(rollout.id, rollout.wave, passing?.record);
  const answer: GateAnswer = passing?.answer ?? { is: 'pass', note: '' };
  switch (answer.is) {
    case 'pass':
      return true;
    case 'later':
      await sayWhy(deps, rollout, askedForTime('gate', answer.note));
      return 'later';
    default:
      await pause(deps, rollout, gateCodes[answer.is], answer.note);
      return false;
  }
};

export const endWave = async (deps: RolloutDeps, view: View): Promise<void> => {
  const { rollout, waves } = view;
  const { inventory } = deps;
  const ended = waves[rollout.wave]!;
  const next = waves[rollout.wave + 1];
  if (!next) return moveByItself(deps, rollout, 'succeeded', { ...unsaid, finished_at: new Date() });
  if (ended.advance === 'manual')
    return pause(deps, rollout, 'wave_gate', `Wave ${ended.wave + 1} is over. Open wave ${next.wave + 1} to continue.`);
  await inventory.rollouts.openWave(rollout.id, next.wave);
  return moveByItself(deps, rollout, 'running', { ...unsaid, wave: next.wave });
};
