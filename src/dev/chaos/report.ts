/** The table of chaos: verb, kill point, victim, outcome; for people and for docs/chaos.md. */
import type { Outcome } from './judge';
import type { Cell } from './plan';
import type { Victim } from './system';

export type Result = { readonly cell: Cell; readonly profile: string; readonly outcome: Outcome };

const shown: Readonly<Record<Outcome['is'], string>> = {
  ended: 'ended',
  parked: 'parked',
  failed: '**failed**',
  missed: 'not reached',
};

const cellText = ({ outcome }: Result): string =>
  outcome.is === 'missed' ? shown.missed : `${shown[outcome.is]} ${Math.round(outcome.seconds)} s`;

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** One line for each verb and kill point, one column for each victim. */
export const tableOf = (results: readonly Result[], victims: readonly Victim[]): string[] => {
  const lines = new Map<string, { verb: string; label: string; by: Map<Victim, Result> }>();
  for (const result of results) {
    const { verb, label, victim } = result.cell;
    const key = `${verb.name}\n${label}`;
    const line = lines.get(key) ?? { verb: verb.name, label, by: new Map() };
    line.by.set(victim, result);
    lines.set(key, line);
  }
  return [
    row(['verb', 'killed', ...victims]),
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
