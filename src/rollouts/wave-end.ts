/** End of a wave: its gate, and the next wave. */
import { type GateAnswer, gateCodes } from '../model/rollouts/gates';
import type { RolloutDeps } from './contract';
import { moveByItself, pause, sayWhy } from './moving';
import { passGate } from './passing';
import { askedForTime } from './standstill';
import type { View } from './view';

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
    return pause(deps, rollout, 'wave_gate', `Wave ${ended.wave + 1} is over; advance opens wave ${next.wave + 1}.`);
  await inventory.rollouts.openWave(rollout.id, next.wave);
  return moveByItself(deps, rollout, 'running', { ...unsaid, wave: next.wave });
};
