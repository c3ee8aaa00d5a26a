/** Chaos: brings nodes to every kill point of every verb, kills, and checks every node. */

import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inTurns } from './approach';
import { runBatch } from './batch';
import { writeSection } from './docs';
import { faultTable, runFaults } from './faults';
import { writeRunbook } from './nodes';
import { type Cell, everyCell, killsFor, labelsOf, secondsOf } from './plan';
import { randomOf } from './random';
import { keyOf, ofVerb, type Reference, type References, referenceOf } from './reference';
import { countsOf, type Result, summaryOf, tableOf } from './report';
import { type Pair, sampleCells, samplePairs } from './sample';
import { allKills, allPauses, openSystem, type System, type Victim } from './system';
import { type ChaosVerb, chaosVerbs } from './verbs';

type Say = (line: string) => void;

export type Chosen = {
  readonly seed: number;
  /** So many kill points, chosen by the seed; all of them when absent. */
  readonly sample?: number;
  readonly verbs?: readonly string[];
  /** Kinds of BMC that a sample is taken from; all of them when absent. */
  readonly profiles?: readonly string[];
  /** What is done to which processes; all kills when absent. */
  readonly victims?: readonly Victim[];
};

export type Found = { readonly results: readonly Result[]; readonly unusable: readonly string[] };

/** Undisturbed runs of all pairs, as many at a time as there are nodes of their profile. */
const gatherReferences = async (
  system: System,
  pairs: readonly Pair[],
  say: Say,
): Promise<{ references: References; unusable: string[] }> => {
  const references = new Map<string, Reference>();
  const unusable: string[] = [];
  const profiles = [...new Set(pairs.map(({ profile }) => profile))];
  await Promise.all(
    profiles.map(async (profile) => {
      const free = system.bmcs.filter((bmc) => bmc.profile === profile);
      const wanted = [...new Set(pairs.filter((pair) => pair.profile === profile).map(({ verb }) => verb))];
      await inTurns(wanted, free.length, async (verb) => {
        const bmc = free.shift()!;
        try {
          references.set(keyOf(verb, profile), await referenceOf(system, bmc, verb));
        } catch (error) {
          unusable.push((error as Error).message);
          say(`! ${(error as Error).message}`);
        }
        free.push(bmc);
      });
    }),
  );
  return { references, unusable };
};

const profilesOf = ({ bmcs }: System): string[] => [...new Set(bmcs.map(({ profile }) => profile))];

const allPairs = (system: System, verbs: readonly ChaosVerb[]): Pair[] =>
  verbs.flatMap((verb) => profilesOf(system).map((profile) => ({ verb, profile })));

const killAll = async (
  system: System,
  cells: readonly Cell[],
  references: References,
  random: () => number,
  say: Say,
): Promise<Result[]> => {
  const results: Result[] = [];
  const kills = killsFor(cells, system.bmcs, references, random);
  for (const [index, { victim, jobs }] of kills.entries()) {
    const began = Date.now();
    const notes: string[] = [];
    const note = (what: string) => void notes.push(`${what} ${((Date.now() - began) / 1_000).toFixed(0)} s`);
    const outcomes = await runBatch(system, victim, jobs, note);
    const fresh = jobs.map(({ cell, bmc, ...job }): Result => {
      const outcome = [...outcomes].find(([one]) => one.bmc.index === bmc.index)![1];
      if (outcome.is === 'failed' || outcome.is === 'missed')
        say(
          `! ${cell.verb.name}, ${job.point.label}, ${victim}, ${bmc.name} (${bmc.profile}): ${outcome.is}: ${outcome.why}`,
        );
      return { cell, depth: job.point.depth, profile: bmc.profile, outcome };
    });
    results.push(...fresh);
    const { ended, parked, failed, missed } = countsOf(fresh);
    say(
      `kill ${index + 1} of ${kills.length}: ${victim}, ${jobs.length} nodes: ${ended} ended, ${parked} parked, ${failed} failed, ${missed} not reached (${notes.join(', ')})`,
    );
  }
  return results;
};

/** Runs what was chosen on a system. */
export const runCells = async (
  system: System,
  { seed, sample, verbs: names, profiles = profilesOf(system), victims = allKills }: Chosen,
  say: Say,
): Promise<Found> => {
  const random = randomOf(seed);
  const verbs = chaosVerbs.filter(({ name }) => !names || names.includes(name));
  await writeRunbook(system);
  const pairs = sample === undefined ? allPairs(system, verbs) : samplePairs(profiles, verbs, sample, victims, random);
  const { references, unusable } = await gatherReferences(system, pairs, say);
  for (const verb of verbs.filter((one) => ofVerb(references, one).length > 0))
    say(
      `${verb.name}: ${labelsOf(references, verb).length} points, ${secondsOf(references, verb).toFixed(0)} s undisturbed`,
    );
  const cells =
    sample === undefined
      ? everyCell(verbs, references, victims)
      : sampleCells(references, pairs, sample, victims, random);
  say(`${cells.length} places to strike at`);
  const first = await killAll(system, cells, references, random, say);
  const missed = first.filter(({ outcome }) => outcome.is === 'missed').map(({ cell }) => cell);
  const second = await killAll(system, missed, references, random, say);
  const again = new Set(second.map(({ cell }) => cell));
  return { results: [...first.filter(({ cell }) => !again.has(cell)), ...second], unusable };
};

const options = {
  sample: { type: 'string' },
  seed: { type: 'string' },
  verbs: { type: 'string' },
  nodes: { type: 'string' },
  faults: { type: 'boolean' },
  pauses: { type: 'boolean' },
  clocks: { type: 'string' },
} as const;

// This file runs as .temper/tools/test/chaos/index.js.
const docsFile = join(__dirname, '../../../../docs/chaos.md');

const when = (began: number, more: string): string =>
  `${new Date().toISOString().slice(0, 10)}, ${Math.ceil((Date.now() - began) / 60_000)} minutes, ${cpus().length} processors, ${more}.`;

const abouts = {
  kills:
    'Each line is a point of a run. The node is held there by the emulator, the process is killed with -9 once, and the run goes on when the supervisor has started the process again.',
  pauses:
    'Each line is a point of a run. The node is held there by the emulator, and the process is stopped (SIGSTOP) for so many seconds and goes on (SIGCONT), late and unaware of it. There are two BMC workers and two control workers at once; one of them is stopped.',
  clocks:
    'As above, with kills, while the clocks of the processes differ: two BMC workers, two control workers and the API are each by one of ±10 s, ±5 min and ±1 h off the clock of Postgres and Temporal.',
} as const;
type Kind = keyof typeof abouts;

const preface = (kind: Kind, system: System, results: readonly Result[]): string[] => [
  `Up to ${system.bmcs.length} nodes are struck at once. ${summaryOf(results)}`,
  '',
  `${abouts[kind]} \`ended\` is a run that succeeded, with the node in the right state and every command that may harm heard exactly as often as in a run that nobody disturbed; \`parked\` one that asked a person whether its command took effect, because nothing on the machine could tell. The seconds are from the kill, or the beginning of the pause, to the end; what was left of the run is part of them. Cells are empty where a process is struck at the beginning of each step and at the last point in it only: those that hold no connection to a BMC.`,
  '',
];

const struck = async (system: System, kind: Kind, chosen: Chosen, about: string, say: Say): Promise<boolean> => {
  const began = Date.now();
  const { results, unusable } = await runCells(system, chosen, say);
  const victims = chosen.victims ?? allKills;
  const columns = victims.filter((victim) => results.some(({ cell }) => cell.victim === victim));
  const table = tableOf(results, columns);
  for (const line of table) say(line);
  say(summaryOf(results));
  const whole = chosen.sample === undefined && chosen.verbs === undefined;
  // The whole table of pauses takes hours, so that of a sample stands for it until then.
  if (whole || (kind !== 'kills' && chosen.verbs === undefined)) {
    const head = [about, `seed ${chosen.seed}`, ...(whole ? [] : [`a sample of ${chosen.sample}`])].filter(Boolean);
    writeSection(docsFile, kind, [when(began, head.join(', ')), '', ...preface(kind, system, results), ...table]);
  }
  const { failed, missed } = countsOf(results);
  return failed + missed + unusable.length === 0;
};

const misbehaved = async (system: System, file: string, seed: number, say: Say): Promise<boolean> => {
  const began = Date.now();
  const results = await runFaults(system, file, randomOf(seed), say);
  const wrong = results.filter((one) => one.wrong !== undefined);
  const summary = `${results.length} faults: ${results.length - wrong.length} ended as they may, ${wrong.length} did not.`;
  say(summary);
  const about =
    'Each fault is one run of cleaning steps on a BMC of its own, all at the same time. After each, the record is compared with the machine, and no command that may harm was accepted twice.';
  writeSection(docsFile, 'faults', [when(began, `seed ${seed}`), '', about, '', summary, '', ...faultTable(results)]);
  return wrong.length === 0;
};

/**
 * @param file the record of a running system
 * @param clocks what its processes were started with: `name=seconds,...`, for the title of the table
 * @returns whether every node came through
 */
export const runChaos = async (file: string, args: readonly string[], clocks: string, say: Say): Promise<boolean> => {
  const { values } = parseArgs({ args: [...args], options });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  say(`seed ${seed}`);
  const system = await openSystem(file);
  try {
    if (values.faults) return await misbehaved(system, file, seed, say);
    const chosen = {
      seed,
      ...(values.sample && { sample: Number(values.sample) }),
      ...(values.verbs && { verbs: values.verbs.split(',') }),
    };
    if (values.pauses) return await struck(system, 'pauses', { ...chosen, victims: allPauses }, '', say);
    if (values.clocks) return await struck(system, 'clocks', chosen, `clocks ${clocks}`, say);
    return await struck(system, 'kills', chosen, '', say);
  } finally {
    await system.close();
  }
};
