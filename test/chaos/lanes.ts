/** Several systems side by side, each on processes and a data folder of its own: they share the blows out among them. */

import { inTurns } from './approach';
import { runBatch } from './batch';
import { blowOf, type Victim } from './blows';
import { writeRunbook } from './nodes';
import { phaseCells } from './phases';
import { type Cell, everyCell, killsFor, labelsOf, type Rests, secondsOf } from './plan';
import { randomOf } from './random';
import { keyOf, ofVerb, type Reference, type References, referenceOf } from './reference';
import { countsOf, type Result } from './report';
import { type Pair, sampleCells, samplePairs } from './sample';
import type { System } from './system';
import { type ChaosVerb, chaosVerbs } from './verbs';

export type Say = (line: string) => void;

export type Chosen = {
  readonly seed: number;
  /** So many points, chosen by the seed; all of them when absent. */
  readonly sample?: number;
  /** One point of each phase of a run for each victim, instead of every point. */
  readonly phases?: boolean;
  readonly verbs?: readonly string[];
  /** Kinds of BMC that a sample is taken from; all of them when absent. */
  readonly profiles?: readonly string[];
  /** What is done to which processes. */
  readonly victims: readonly Victim[];
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

/** One system, and what is known of it. */
type Lane = { readonly system: System; readonly references: References; readonly rests: Rests; readonly say: Say };

const strikeAll = async (lane: Lane, cells: readonly Cell[], random: () => number): Promise<Result[]> => {
  const { system, references, rests, say } = lane;
  const results: Result[] = [];
  const kills = killsFor(cells, system.bmcs, references, random, rests);
  for (const [index, { victim, jobs }] of kills.entries()) {
    const began = Date.now();
    const notes: string[] = [];
    const note = (what: string) => void notes.push(`${what} ${((Date.now() - began) / 1_000).toFixed(0)} s`);
    const outcomes = await runBatch(system, victim, jobs, { note, say });
    const fresh = jobs.map(({ cell, bmc, ...job }): Result => {
      const outcome = [...outcomes].find(([one]) => one.bmc.index === bmc.index)![1];
      // What failed, and what a person was asked: each question may be one that the machine could have answered.
      if (outcome.is === 'failed' || outcome.is === 'missed' || outcome.is === 'parked')
        say(
          `! ${cell.verb.name}, ${job.point.label}, ${victim}, ${bmc.name} (${bmc.profile}): ${outcome.is}: ${outcome.why ?? outcome.asked}`,
        );
      const { verb, label } = cell;
      const round = system.round && { round: system.round };
      return {
        cell: { verb: { name: verb.name }, label, victim },
        depth: job.point.depth,
        profile: bmc.profile,
        outcome,
        ...round,
      };
    });
    results.push(...fresh);
    const { ended, parked, left, failed, missed } = countsOf(fresh);
    say(
      `blow ${index + 1} of ${kills.length}: ${victim}, ${jobs.length} nodes: ${ended} ended, ${parked} parked, ${left} left, ${failed} failed, ${missed} not reached (${notes.join(', ')})`,
    );
  }
  return results;
};

/** Those that a lane did not bring to their point in time are tried once more. */
const strikeTwice = async (lane: Lane, cells: readonly Cell[], random: () => number): Promise<Result[]> => {
  const first = await strikeAll(lane, cells, random);
  const isMissed = ({ outcome }: Result): boolean => outcome.is === 'missed';
  const missed = first.filter(isMissed).flatMap(({ cell }) => cells.filter((one) => sameCell(one, cell)));
  return missed.length === 0
    ? first
    : [...first.filter((one) => !isMissed(one)), ...(await strikeAll(lane, missed, random))];
};
const sameCell = (one: Cell, { verb, label, victim }: Result['cell']): boolean =>
  one.verb.name === verb.name && one.label === label && one.victim === victim;

const cellsOf = (lane: Lane, pairs: readonly Pair[], verbs: readonly ChaosVerb[], chosen: Chosen): Cell[] => {
  const { seed, sample, phases, victims } = chosen;
  const random = randomOf(seed + 1);
  if (sample !== undefined) return sampleCells(lane.references, pairs, sample, victims, random);
  return phases ? phaseCells(verbs, lane.references, victims, random) : everyCell(verbs, lane.references, victims);
};

/**
 * Runs what was chosen on systems that are alike, each victim on one of them; where each system differs (`round`), all of it on each.
 * @param keep is given what each blow came to, as soon as it is known
 */
export const runLanes = async (
  systems: readonly System[],
  chosen: Chosen,
  say: Say,
  keep: (results: readonly Result[]) => void = () => {},
): Promise<Found> => {
  const verbs = chaosVerbs.filter(({ name }) => !chosen.verbs || chosen.verbs.includes(name));
  const unusable: string[] = [];
  const results: Result[] = [];
  const shared = [...chosen.victims].sort((a, b) => secondsFor(b) - secondsFor(a));
  await Promise.all(
    systems.map(async (system, at) => {
      const sayLane: Say =
        systems.length > 1
          ? (line) => say(line.startsWith('!') ? `! [${at}] ${line.slice(2)}` : `[${at}] ${line}`)
          : say;
      const random = randomOf(chosen.seed);
      await writeRunbook(system);
      const { sample, profiles = profilesOf(system), victims } = chosen;
      const pairs =
        sample === undefined ? allPairs(system, verbs) : samplePairs(profiles, verbs, sample, victims, random);
      const gathered = await gatherReferences(system, pairs, sayLane);
      unusable.push(...gathered.unusable);
      const lane: Lane = { system, references: gathered.references, rests: new Map(), say: sayLane };
      if (at === 0)
        for (const verb of verbs.filter((one) => ofVerb(lane.references, one).length > 0))
          say(
            `${verb.name}: ${labelsOf(lane.references, verb).length} points, ${secondsOf(lane.references, verb).toFixed(0)} s undisturbed`,
          );
      const cells = cellsOf(lane, pairs, verbs, chosen);
      say(`[${at}] ${cells.length} places to strike at`);
      const queue = system.round ? [...shared] : shared;
      for (let victim = queue.shift(); victim; victim = queue.shift()) {
        const fresh = await strikeTwice(
          lane,
          cells.filter((cell) => cell.victim === victim),
          random,
        );
        results.push(...fresh);
        keep(fresh);
      }
    }),
  );
  return { results, unusable };
};

/** The longest first, so that the lanes end together. */
const secondsFor = (victim: Victim): number => {
  const blow = blowOf(victim);
  return 'seconds' in blow ? blow.seconds : 0;
};

/** Runs what was chosen on one system. */
export const runCells = (system: System, chosen: Chosen, say: Say): Promise<Found> => runLanes([system], chosen, say);
