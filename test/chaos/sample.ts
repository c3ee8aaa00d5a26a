/** A few kills that a seed chose, for those who have minutes. */
import type { Victim } from './blows';
import { type Cell, pointsFor } from './plan';
import { shuffled } from './random';
import type { References } from './reference';
import type { ChaosVerb } from './verbs';

export type Pair = { readonly verb: ChaosVerb; readonly profile: string };

/** Kills of a sample: two for a dozen, all victims for a large one. */
const victimsFor = (sample: number, all: readonly Victim[]): number =>
  Math.min(all.length, Math.max(2, Math.ceil(sample / 12)));

/** Verbs in turn, each on a kind of BMC; both dealt out evenly, in an order that chance decides. */
export const samplePairs = (
  profiles: readonly string[],
  verbs: readonly ChaosVerb[],
  sample: number,
  victims: readonly Victim[],
  random: () => number,
): Pair[] => {
  const [order, kinds] = [shuffled(verbs, random), shuffled(profiles, random)];
  return Array.from({ length: Math.ceil(sample / victimsFor(sample, victims)) }, (_, index) => ({
    verb: order[index % order.length]!,
    profile: kinds[index % kinds.length]!,
  }));
};

/** Of each pair one point for each victim, another one each time where there are several. */
export const sampleCells = (
  references: References,
  pairs: readonly Pair[],
  sample: number,
  victims: readonly Victim[],
  random: () => number,
): Cell[] => {
  const chosen = shuffled(victims, random).slice(0, victimsFor(sample, victims));
  return pairs
    .flatMap(({ verb }) => {
      const labels = shuffled(pointsFor(chosen[0]!, references, verb), random);
      if (labels.length === 0) return [];
      return chosen.map((victim, index) => ({ verb, label: labels[index % labels.length]!.label, victim }));
    })
    .slice(0, sample);
};
