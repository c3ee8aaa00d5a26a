/** Which kills there are to be, and which nodes stand where when each comes. Pure. */
import type { RackBmc } from '../../demo/system';
import type { Job } from './approach';
import { blowOf, holdsBmcs, type Victim } from './blows';
import type { Point } from './points';
import { shuffled } from './random';
import { keyOf, ofVerb, type References } from './reference';
import type { ChaosVerb, Rest } from './verbs';

/** One line of the table, for one victim. */
export type Cell = { readonly verb: ChaosVerb; readonly label: string; readonly victim: Victim };
export type Kill = { readonly victim: Victim; readonly jobs: readonly (Job & { readonly cell: Cell })[] };

export type Label = Pick<Point, 'label' | 'depth' | 'step' | 'kind'>;

/** Labels of a verb on any BMC, in the order of the run. */
export const labelsOf = (references: References, verb: ChaosVerb): Label[] => {
  const points = ofVerb(references, verb).flatMap((one) => one.points);
  const labels = new Map<string, Label>();
  for (const { label, depth, step, kind } of points)
    labels.set(label, { label, step, kind, depth: Math.max(depth, labels.get(label)?.depth ?? 0) });
  return [...labels.values()].sort((a, b) => a.depth - b.depth);
};

/** Of each step its beginning and the last point in it, and the run's two ends. */
const coarse = (labels: readonly Label[]): Label[] =>
  labels.filter((one) => {
    const same = labels.filter(({ step }) => step === one.step);
    return one.step === null || one === same[0] || one === same.at(-1);
  });

/** Points of a verb that there are for a victim: only what sets a database back has runs which no backup knows. */
export const pointsFor = (victim: Victim, references: References, verb: ChaosVerb): Label[] =>
  labelsOf(references, verb).filter(({ kind }) => kind !== 'later' || blowOf(victim).does === 'restore');

const labelsFor = (victim: Victim, references: References, verb: ChaosVerb): Label[] => {
  const labels = pointsFor(victim, references, verb);
  // A step can be cut anywhere by the death of the process that holds the connection to its BMC. To others it is one wait.
  return holdsBmcs(victim) ? labels : coarse(labels);
};

const jobFor = (cell: Cell, bmc: RackBmc, references: References): (Job & { cell: Cell }) | undefined => {
  const reference = references.get(keyOf(cell.verb, bmc.profile));
  const point = reference?.points.find(({ label }) => label === cell.label);
  return reference && point && { cell, bmc, verb: cell.verb, point, reference };
};

/** Where each node rests, by the number of its BMC: what was done with it last decides how far it is to the next verb. */
export type Rests = Map<number, Rest>;

// Seconds, roughly: a node that rests elsewhere has to be brought; into a rescue it has to boot.
const wayTo = (verb: ChaosVerb, now: Rest | undefined): number => {
  if (now === verb.from) return 0;
  return verb.from === 'rescue' ? 15 : 3;
};

// A node that takes so many times as long as the quickest would keep all others waiting, so it is left for another kill.
const tooSlow = 1.6;

/** As many cells as there are nodes that can take one; the rest stays. */
const oneKill = (
  cells: readonly Cell[],
  bmcs: readonly RackBmc[],
  references: References,
  rests: Rests,
): { jobs: Kill['jobs']; rest: Cell[] } => {
  const jobs: (Job & { cell: Cell })[] = [];
  const free = [...bmcs];
  const secondsOf = ({ reference, verb, bmc }: Job): number => reference.seconds + wayTo(verb, rests.get(bmc.index));
  const rest = cells.filter((cell) => {
    const quickest = Math.min(...bmcs.flatMap((bmc) => jobFor(cell, bmc, references)?.reference.seconds ?? []));
    const [best] = free
      .flatMap((bmc) => jobFor(cell, bmc, references) ?? [])
      .filter(({ reference }) => reference.seconds <= tooSlow * quickest)
      .sort((a, b) => secondsOf(a) - secondsOf(b));
    if (!best) return true;
    jobs.push(best);
    free.splice(free.indexOf(best.bmc), 1);
    return false;
  });
  for (const { bmc, verb } of jobs) rests.set(bmc.index, verb.rests);
  return { jobs, rest };
};

/** All kills that the cells take. Cells that no node can take are left out. */
export const killsFor = (
  cells: readonly Cell[],
  bmcs: readonly RackBmc[],
  references: References,
  random: () => number,
  rests: Rests = new Map(),
): Kill[] => {
  const kills: Kill[] = [];
  for (const victim of new Set(cells.map((cell) => cell.victim))) {
    let left = cells.filter((cell) => cell.victim === victim);
    while (left.length > 0) {
      const { jobs, rest } = oneKill(left, shuffled(bmcs, random), references, rests);
      if (jobs.length === 0) break;
      kills.push({ victim, jobs });
      left = rest;
    }
  }
  return kills;
};

/** How long an undisturbed run of a verb takes, in seconds: the quickest of all BMCs. */
export const secondsOf = (references: References, verb: ChaosVerb): number =>
  Math.min(...ofVerb(references, verb).map(({ seconds }) => seconds));

/** Every verb, kill point and victim; verbs that take as long side by side, so that a kill waits for no other long. */
export const everyCell = (verbs: readonly ChaosVerb[], references: References, victims: readonly Victim[]): Cell[] =>
  victims.flatMap((victim) =>
    [...verbs]
      .sort((a, b) => secondsOf(references, b) - secondsOf(references, a))
      .flatMap((verb) =>
        labelsFor(victim, references, verb)
          .sort((a, b) => b.depth - a.depth)
          .map(({ label }) => ({ verb, label, victim })),
      ),
  );
