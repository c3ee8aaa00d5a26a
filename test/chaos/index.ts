/** Chaos: brings nodes to points of every verb, strikes, and checks every node; writes its tables. */

import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allKills, allLosses, allPauses, allRestores, type Victim } from './blows';
import { type Section, writeSection } from './docs';
import { faultTable, runFaults } from './faults';
import { keptIn, linesIn } from './kept';
import { type Chosen, runLanes, type Say } from './lanes';
import { randomOf } from './random';
import { countsOf, type Result, summaryOf, tableOf, totalsOf } from './report';
import { runRollouts, type TurnResult } from './rollouts';
import * as rolloutReport from './rollouts/report';
import { openSystem, type Place, type System } from './system';

const options = {
  sample: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  verbs: { type: 'string' },
  victims: { type: 'string' },
  nodes: { type: 'string' },
  lanes: { type: 'string' },
  results: { type: 'string' },
  tables: { type: 'string' },
  phases: { type: 'boolean' },
  faults: { type: 'boolean' },
  pauses: { type: 'boolean' },
  clocks: { type: 'string' },
  'lost-engine': { type: 'boolean' },
  restores: { type: 'boolean' },
  rollouts: { type: 'boolean' },
} as const;
type Values = ReturnType<typeof parse>;
const parse = (args: readonly string[]) => parseArgs({ args: [...args], options }).values;

// This file runs as .temper/tools/test/chaos/index.js.
const reportFile = join(__dirname, '../../../../reports/chaos.md');

const when = (minutes: number, more: string): string =>
  `${new Date().toISOString().slice(0, 10)}, ${minutes} minutes, ${cpus().length} processors, ${more}.`;

const ended =
  '`ended` is a run that succeeded, with the node in the right state and every command that may harm received exactly as often as in an undisturbed run; `parked` one that asked a person whether its command took effect, because nothing on the machine could show it.';
const coarse =
  'Cells are empty where a process is struck at the beginning of each step and at the last point in it only: those that hold no connection to a BMC.';
const phased =
  'Each process, or store, is struck in each phase of each verb: as it is accepted, between two steps, as an act begins (before its intent), with its command on the way (the intent stands, the BMC has not received it), with the command done and its answer on the way, while it watches what it sent, while it waits for a ramdisk, and as the run ends. Each time another point of the phase is taken, in an order of chance; an empty cell was not struck.';

const kinds = {
  kills: {
    victims: allKills,
    about: `Each line is a point of a run. The node is held there by the emulator, the process is killed with -9 once, and the run goes on when the supervisor has started the process again. ${ended} The seconds are from the kill to the end; what was left of the run is part of them. ${coarse}`,
  },
  pauses: {
    victims: allPauses,
    about: `Each line is a point of a run. The node is held there by the emulator, and the process is stopped (SIGSTOP) for 10, 25, 45 or 120 s and goes on (SIGCONT), late and unaware of it. There are two BMC workers and two control workers at once; one of them is stopped, and under \`all\` both of each, the API, Temporal and Postgres together. The rack is the emulator of all BMCs and ramdisks. ${phased} ${ended} The seconds are from the beginning of the pause to the end; what was left of the run is part of them.`,
  },
  clocks: {
    victims: allKills,
    about: `As above, with kills, while the clocks of the processes differ: two BMC workers, two control workers and the API are each by one of ±10 s, ±5 min and ±1 h off the clock of Postgres and Temporal. In six rounds every process has every wrong clock once. ${phased} ${ended} The seconds are from the kill to the end.`,
  },
  engine: {
    victims: allLosses,
    about: `Each line is a point of a run. The node is held there by the emulator, Temporal is killed with -9, all files of its store are deleted, and it comes up empty. No operator does anything: runs go on from their record. ${ended} The seconds are from the loss to the end.`,
  },
  restores: {
    victims: allRestores,
    about: `Each line is a point of a run, and there the run is when a backup is taken: a copy of all files of Postgres or Temporal at one moment. Then everything goes on for the seconds that a column's title says, so that work is done which the backup does not know; the store is killed with -9, and set back as docs/production.md says: all of Temper's processes are ended, BMC workers first, the backup is put in place, \`migrate --restored\`, processes are started, \`temper recover\`, \`temper recover --yes\`. \`both\` stores set back have two titles: one was backed up 10 s before the other. \`after the backup\` are runs that are accepted when the backup has been taken. ${phased} ${ended} \`left\` is a run that ended for a reason which only a person can settle; each such reason is named above. The seconds are from the backup to the end.`,
  },
} as const satisfies Partial<Record<Section, { victims: readonly Victim[]; about: string }>>;
type Kind = keyof typeof kinds;

const kindOf = (values: Values): Kind => {
  if (values.pauses) return 'pauses';
  if (values.clocks) return 'clocks';
  if (values['lost-engine']) return 'engine';
  return values.restores ? 'restores' : 'kills';
};

const chosenOf = (values: Values, kind: Kind, seed: number): Chosen => ({
  seed,
  victims: values.victims ? values.victims.split(';') : kinds[kind].victims,
  ...(values.sample && { sample: Number(values.sample) }),
  ...(values.phases && { phases: true }),
  ...(values.verbs && { verbs: values.verbs.split(',') }),
});

/** Writes a kind's section of reports/chaos.md. @param head when and how it was measured */
const writeTables = (kind: Kind, results: readonly Result[], head: string): void => {
  const { victims, about } = kinds[kind];
  const totals = kind === 'kills' ? [] : [...totalsOf(results, victims), ''];
  writeSection(reportFile, kind, [
    head,
    '',
    summaryOf(results),
    '',
    about,
    '',
    ...totals,
    ...tableOf(results, victims),
  ]);
};

const struck = async (
  systems: readonly System[],
  kind: Kind,
  values: Values,
  seed: number,
  say: Say,
): Promise<boolean> => {
  const began = Date.now();
  const chosen = chosenOf(values, kind, seed);
  const kept = keptIn(values.results);
  const found = await runLanes(systems, chosen, say, kept.add);
  const results: readonly Result[] = values.results ? kept.read() : found.results;
  const { victims } = kinds[kind];
  for (const line of [...tableOf(results, victims), ...totalsOf(results, victims), summaryOf(results)]) say(line);
  // A part of the verbs is for who looks for something; so is a part of the kills.
  if (chosen.verbs === undefined && (kind !== 'kills' || chosen.sample === undefined)) {
    const sampled = chosen.sample === undefined ? [] : [`a sample of ${chosen.sample}`];
    const most = `up to ${systems[0]!.bmcs.length} nodes struck at once on each of ${systems.length} systems`;
    const head = [`seed ${seed}`, most, ...sampled].join(', ');
    writeTables(kind, results, when(Math.ceil((Date.now() - began) / 60_000), head));
  }
  const { failed, missed } = countsOf(found.results);
  return failed + missed + found.unusable.length === 0;
};

const misbehaved = async (system: System, file: string, seed: number, say: Say): Promise<boolean> => {
  const began = Date.now();
  const results = await runFaults(system, file, randomOf(seed), say);
  const wrong = results.filter((one) => one.wrong !== undefined);
  const summary = `${results.length} faults: ${results.length - wrong.length} ended as they may, ${wrong.length} did not.`;
  say(summary);
  const about =
    'Each fault is one run of cleaning steps on a BMC of its own, all at the same time. After each, the record is compared with the machine, and no command that may harm was accepted twice.';
  const head = when(Math.ceil((Date.now() - began) / 60_000), `seed ${seed}`);
  writeSection(reportFile, 'faults', [head, '', about, '', summary, '', ...faultTable(results)]);
  return wrong.length === 0;
};

const aboutRollouts =
  "Rollouts of 50 to 200 nodes stand side by side on a rack, with waves, error budgets, limits of racks and a tenant's disruption budget as chance has them, while up to three in ten of the BMCs fail for good and a tenth for a moment; BMCs are fifty times as fast as real ones. Every other system has two workers of each kind, the others one; one process after the other is killed with -9 or stopped (SIGSTOP) for 10 or 25 s, `all` at once. A person decides what parks, mends nodes and has them tried again where a budget is spent, pauses, and aborts, by chance or what takes longer than five minutes. Judged by the rack's own journal of the commands that its BMCs took: of no rollout, wave or rack more nodes between their first command and their last than its budget, nor at once than its limit; of the tenant's nodes no more than its disruption budget; no wave before the end of the one before it; no node begun twice, none lost. Where that is not so it is an oddity, and listed; so is a rollout that stands still for a minute with nothing under way, or pauses for a reason of its own. The seconds are from the moment at which all processes run again to the next admission, where a target had room.";

const writeRollouts = (turns: readonly TurnResult[], more: string): void => {
  const head = [`${rolloutReport.measuredBy(turns)}.`, more].filter(Boolean).join(' ');
  const wrong = rolloutReport.wrongList(turns).map((one) => `- ${one}`);
  const tables = [...rolloutReport.tableOf(turns), ...(wrong.length > 0 ? ['', 'Oddities:', '', ...wrong] : [])];
  writeSection(reportFile, 'rollouts', [head, '', rolloutReport.summaryOf(turns), '', aboutRollouts, '', ...tables]);
};

const defaultRollouts = 200;

const rolledOut = async (systems: readonly System[], values: Values, seed: number, say: Say): Promise<boolean> => {
  const kept = linesIn<TurnResult>(values.results);
  const before = kept.read().reduce((all, { rollouts }) => all + rollouts.length, 0);
  const count = Number(values.sample ?? defaultRollouts) - before;
  const until = values.minutes ? Date.now() + Number(values.minutes) * 60_000 : Number.POSITIVE_INFINITY;
  const found = await runRollouts(systems, { seed, count, until }, say, (turn) => kept.add([turn]));
  const turns = values.results ? kept.read() : found;
  for (const line of [...rolloutReport.tableOf(turns), rolloutReport.summaryOf(turns)]) say(line);
  if (values.sample === undefined) writeRollouts(turns, '');
  return rolloutReport.isWell(found);
};

/** @param places running systems, alike or each with clocks of its own @returns whether every node came through */
export const runChaos = async (places: readonly Place[], args: readonly string[], say: Say): Promise<boolean> => {
  const values = parse(args);
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  if (values.tables && values.rollouts) {
    writeRollouts(linesIn<TurnResult>(values.results).read(), values.tables);
    return true;
  }
  if (values.tables) {
    writeTables(kindOf(values), keptIn(values.results).read(), values.tables);
    return true;
  }
  say(`seed ${seed}`);
  const systems = await Promise.all(places.map(openSystem));
  try {
    if (values.faults) return await misbehaved(systems[0]!, places[0]!.file, seed, say);
    if (values.rollouts) return await rolledOut(systems, values, seed, say);
    return await struck(systems, kindOf(values), values, seed, say);
  } finally {
    await Promise.all(systems.map((system) => system.close()));
  }
};
