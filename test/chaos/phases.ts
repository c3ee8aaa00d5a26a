/** The phases of a run, for tables whose blows take too long for every single point. */
import type { Victim } from './blows';
import { type Cell, type Label, pointsFor } from './plan';
import { shuffled } from './random';
import type { References } from './reference';
import type { ChaosVerb } from './verbs';

/** Points of one phase: of the same kind, where the beginning of a step is another phase than that of an act within it. */
const phaseOf = (label: Label, labels: readonly Label[]): string =>
  label.kind === 'begins' && labels.find(({ step }) => step === label.step) === label ? 'between steps' : label.kind;

const byPhase = (labels: readonly Label[]): Label[][] => {
  const phases = new Map<string, Label[]>();
  for (const label of labels) {
    const phase = phaseOf(label, labels);
    phases.set(phase, [...(phases.get(phase) ?? []), label]);
  }
  return [...phases.values()];
};

/** Every verb and victim, and of each phase one point: each time another one, until all have been struck. */
export const phaseCells = (
  verbs: readonly ChaosVerb[],
  references: References,
  victims: readonly Victim[],
  random: () => number,
): Cell[] => {
  const left = new Map<string, Label[]>();
  const next = (verb: ChaosVerb, phase: readonly Label[]): Label => {
    const key = `${verb.name}\n${phase[0]!.label}`;
    const labels = left.get(key)?.length ? left.get(key)! : shuffled(phase, random);
    left.set(key, labels.slice(1));
    return labels[0]!;
  };
  // In an order of chance, so that a point is not always struck in the same way.
  const cells = shuffled(victims, random).flatMap((victim) =>
    verbs.flatMap((verb) =>
      byPhase(pointsFor(victim, references, verb)).map((phase) => ({ verb, ...next(verb, phase), victim })),
    ),
  );
  return cells.sort((a, b) => b.depth - a.depth).map(({ verb, label, victim }) => ({ verb, label, victim }));
};
