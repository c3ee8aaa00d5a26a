/** The table of chaos: verb, kill point, victim, outcome; for people and for docs/chaos.md. */
import type { Outcome } from './judge';
import type { Cell } from './plan';
import type { Victim } from './system';
import { chaosVerbs } from './verbs';

export type Result = {
  readonly cell: Cell;
  /** How far into its run the kill fell. */
  readonly depth: number;
  readonly profile: string;
  readonly outcome: Outcome;
};

const shown: Readonly<Record<Outcome['is'], string>> = {
  ended: 'ended',
  parked: 'parked',
  failed: '**failed**',
  missed: 'not reached',
};

const cellText = ({ outcome }: Result): string =>
  outcome.is === 'missed' ? shown.missed : `${shown[outcome.is]} ${Math.round(outcome.seconds)} s`;

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const keyOf = ({ verb, label }: Cell): string => `${verb.name}\n${label}`;
const place = ({ cell }: Result): number => chaosVerbs.findIndex(({ name }) => name === cell.verb.name);
/** As life goes: by verb, and within it by how far it had come on any BMC. */
const inOrder = (results: readonly Result[]): Result[] => {
  const depths = new Map<string, number>();
  for (const { cell, depth } of results) depths.set(keyOf(cell), Math.max(depth, depths.get(keyOf(cell)) ?? 0));
  const depthOf = ({ cell }: Result): number => depths.get(keyOf(cell)) ?? 0;
  return [...results].sort((a, b) => place(a) - place(b) || depthOf(a) - depthOf(b));
};

/** One line for each verb and kill point, one column for each victim. */
export const tableOf = (results: readonly Result[], victims: readonly Victim[]): string[] => {
  const lines = new Map<string, { verb: string; label: string; by: Map<Victim, Result> }>();
  for (const result of inOrder(results)) {
    const { verb, label, victim } = result.cell;
    const key = keyOf(result.cell);
    const line = lines.get(key) ?? { verb: verb.name, label, by: new Map() };
    line.by.set(victim, result);
    lines.set(key, line);
  }
  return [
    row(['verb', 'struck', ...victims]),
    row(Array.from({ length: victims.length + 2 }, () => '---')),
    ...[...lines.values()].map(({ verb, label, by }) =>
      row([verb, label, ...victims.map((victim) => (by.has(victim) ? cellText(by.get(victim)!) : ''))]),
    ),
  ];
};

export const countsOf = (results: readonly Result[]): Record<Outcome['is'], number> => {
  const counts = { ended: 0, parked: 0, failed: 0, missed: 0 };
  for (const { outcome } of results) counts[outcome.is] += 1;
  return counts;
};

export const summaryOf = (results: readonly Result[]): string => {
  const { ended, parked, failed, missed } = countsOf(results);
  return `${results.length} runs: ${ended} ended well, ${parked} parked where their step's row allows it and ended well once a person had decided, ${failed} failed, ${missed} not reached.`;
};
