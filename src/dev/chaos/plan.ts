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
export const labelsOf = (references: References, verb: ChaosVerb): string[] => {
  const points = [...references].filter(([key]) => key.startsWith(`${verb.name} `)).flatMap(([, one]) => one.points);
  const depths = new Map<string, number>();
  for (const { label, depth } of points) depths.set(label, Math.max(depth, depths.get(label) ?? 0));
  return [...depths].sort(([, a], [, b]) => a - b).map(([label]) => label);
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
    const at = free.findIndex((bmc) => jobFor(cell, bmc, references));
    if (at < 0) return true;
    jobs.push(jobFor(cell, free.splice(at, 1)[0]!, references)!);
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

/** Every verb, kill point and victim: verbs that take as long side by side, in the order of chance otherwise. */
export const everyCell = (verbs: readonly ChaosVerb[], references: References, random: () => number): Cell[] => {
  const seconds = (verb: ChaosVerb) =>
    Math.max(0, ...[...references].filter(([key]) => key.startsWith(`${verb.name} `)).map(([, one]) => one.seconds));
  return [...verbs]
    .sort((a, b) => seconds(b) - seconds(a))
    .flatMap((verb) =>
      shuffled(
        labelsOf(references, verb).flatMap((label) => allVictims.map((victim) => ({ verb, label, victim }))),
        random,
      ),
    );
};
