/** Which kills there are to be, and which nodes stand where when each comes. Pure. */
import type { RackBmc } from '../demo/system';
import type { Job } from './approach';
import { shuffled } from './random';
import { keyOf, type References } from './reference';
import { type Victim, victims } from './system';
import type { ChaosVerb } from './verbs';

/** One line of the table, for one victim. */
export type Cell = { readonly verb: ChaosVerb; readonly label: string; readonly victim: Victim };
export type Kill = { readonly victim: Victim; readonly jobs: readonly (Job & { readonly cell: Cell })[] };

export const allVictims = Object.keys(victims) as Victim[];

/** Labels of a verb on any BMC, in the order of the run. */
export const labelsOf = (references: References, verb: ChaosVerb): { label: string; depth: number }[] => {
  const points = [...references].filter(([key]) => key.startsWith(`${verb.name} `)).flatMap(([, one]) => one.points);
  const depths = new Map<string, number>();
  for (const { label, depth } of points) depths.set(label, Math.max(depth, depths.get(label) ?? 0));
  return [...depths].map(([label, depth]) => ({ label, depth })).sort((a, b) => a.depth - b.depth);
};

const jobFor = (cell: Cell, bmc: RackBmc, references: References): (Job & { cell: Cell }) | undefined => {
  const reference = references.get(keyOf(cell.verb, bmc.profile));
  const point = reference?.points.find(({ label }) => label === cell.label);
  return reference && point && { cell, bmc, verb: cell.verb, point, reference };
};

/** As many cells as there are nodes that can take one; the rest stays. */
const oneKill = (
  cells: readonly Cell[],
  bmcs: readonly RackBmc[],
  references: References,
): { jobs: Kill['jobs']; rest: Cell[] } => {
  const jobs: (Job & { cell: Cell })[] = [];
  const free = [...bmcs];
  const rest = cells.filter((cell) => {
    // The quickest that can take it: one slow BMC would keep all others waiting.
    const [best] = free
      .flatMap((bmc) => jobFor(cell, bmc, references) ?? [])
      .sort((a, b) => a.reference.seconds - b.reference.seconds);
    if (!best) return true;
    jobs.push(best);
    free.splice(free.indexOf(best.bmc), 1);
    return false;
  });
  return { jobs, rest };
};

/** All kills that the cells take. Cells that no node can take are left out. */
export const killsFor = (
  cells: readonly Cell[],
  bmcs: readonly RackBmc[],
  references: References,
  random: () => number,
): Kill[] => {
  const kills: Kill[] = [];
  for (const victim of allVictims) {
    let left = cells.filter((cell) => cell.victim === victim);
    while (left.length > 0) {
      const { jobs, rest } = oneKill(left, shuffled(bmcs, random), references);
      if (jobs.length === 0) break;
      kills.push({ victim, jobs });
      left = rest;
    }
  }
  return kills;
};

/** Every verb, kill point and victim; those with as long a way to go side by side, so that a kill waits for nobody long. */
export const everyCell = (verbs: readonly ChaosVerb[], references: References): Cell[] =>
  verbs
    .flatMap((verb) => labelsOf(references, verb).map(({ label, depth }) => ({ verb, label, depth })))
    .sort((a, b) => b.depth - a.depth)
    .flatMap(({ verb, label }) => allVictims.map((victim) => ({ verb, label, victim })));
