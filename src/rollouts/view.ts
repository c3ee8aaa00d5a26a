/** Snapshot of a rollout for one pass. */
import type { CounterRow, RolloutRow, WaveRow } from '../inventory/rollouts/rollouts';
import type { TargetState } from '../model/rollouts/states';
import type { RolloutDeps } from './contract';

type RolloutCounts = Awaited<ReturnType<RolloutDeps['inventory']['rollouts']['counts']>>;
export type View = {
  readonly rollout: RolloutRow;
  readonly waves: readonly WaveRow[];
  readonly counters: readonly CounterRow[];
  readonly counts: RolloutCounts;
};

export const underWay: readonly TargetState[] = ['admitted', 'soaking', 'parked'];
export const unended: readonly TargetState[] = ['pending', 'asked', ...underWay];

/** The counter of the whole rollout. */
export const totalOf = ({ counters }: Pick<View, 'counters'>): CounterRow =>
  counters.find(({ scope }) => scope === 'total')!;

/** @param upTo last wave that counts */
export const targetsIn = (counts: RolloutCounts, states: readonly TargetState[], upTo?: number): number =>
  counts
    .filter(({ state, wave }) => states.includes(state) && (upTo === undefined || (wave !== null && wave <= upTo)))
    .reduce((all, { targets }) => all + targets, 0);

export const sizeOf = ({ waves }: Pick<View, 'waves'>): number => waves.reduce((nodes, { size }) => nodes + size, 0);

export const viewOf = async ({ inventory }: RolloutDeps, rollout: RolloutRow): Promise<View> => {
  const { waves, counters, counts } = inventory.rollouts;
  const [allWaves, allCounters, allCounts] = await Promise.all([
    waves(rollout.id),
    counters(rollout.id),
    counts(rollout.id),
  ]);
  return { rollout, waves: allWaves, counters: allCounters, counts: allCounts };
};
