/** The tables of chaos: verb, point, what was struck, outcome; for people and for reports/chaos.md. */
import { blowOf } from './blows';
import type { Outcome } from './judge';
import { chaosVerbs } from './verbs';

export type Result = {
  readonly cell: { readonly verb: { readonly name: string }; readonly label: string; readonly victim: string };
  /** How far into its run the blow fell. */
  readonly depth: number;
  readonly profile: string;
  readonly outcome: Outcome;
  /** Which of several systems it was, where they differ: a round of clocks. */
  readonly round?: string;
};

const shown: Readonly<Record<Outcome['is'], string>> = {
  ended: 'ended',
  parked: 'parked',
  left: 'left',
  failed: '**failed**',
  missed: 'not reached',
};

const outcomeText = ({ outcome }: Result): string =>
  outcome.is === 'missed' ? shown.missed : `${shown[outcome.is]} ${Math.round(outcome.seconds)} s`;

const columnOf = ({ cell }: Result): string => blowOf(cell.victim).column;
const tagOf = ({ cell, round }: Result): string => [blowOf(cell.victim).tag, round].filter(Boolean).join(', ');

/** Several blows to one point stand in one cell, each with its tag. */
const cellText = (results: readonly Result[]): string =>
  [...results]
    .sort((a, b) => tagOf(a).localeCompare(tagOf(b), 'en', { numeric: true }))
    .map((one) => (tagOf(one) ? `${tagOf(one)}: ${outcomeText(one)}` : outcomeText(one)))
    .join('; ');

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const keyOf = ({ verb, label }: Result['cell']): string => `${verb.name}\n${label}`;
const place = ({ cell }: Result): number => chaosVerbs.findIndex(({ name }) => name === cell.verb.name);
/** As life goes: by verb, and within it by how far it had come on any BMC. */
const inOrder = (results: readonly Result[]): Result[] => {
  const depths = new Map<string, number>();
  for (const { cell, depth } of results) depths.set(keyOf(cell), Math.max(depth, depths.get(keyOf(cell)) ?? 0));
  const depthOf = ({ cell }: Result): number => depths.get(keyOf(cell)) ?? 0;
  return [...results].sort((a, b) => place(a) - place(b) || depthOf(a) - depthOf(b));
};

/** One line for each verb and point, one column for each process or store; columns are in the order of `victims`. */
export const tableOf = (results: readonly Result[], victims: readonly string[]): string[] => {
  const lines = new Map<string, Result[]>();
  for (const result of inOrder(results)) {
    const key = keyOf(result.cell);
    lines.set(key, [...(lines.get(key) ?? []), result]);
  }
  const columns = [...new Set(victims.map((victim) => blowOf(victim).column))].filter((column) =>
    results.some((result) => columnOf(result) === column),
  );
  return [
    row(['verb', 'struck', ...columns]),
    row(Array.from({ length: columns.length + 2 }, () => '---')),
    ...[...lines.values()].map((line) =>
      row([
        line[0]!.cell.verb.name,
        line[0]!.cell.label,
        ...columns.map((column) => cellText(line.filter((result) => columnOf(result) === column))),
      ]),
    ),
  ];
};

/** How many of each column and tag ended how. */
export const totalsOf = (results: readonly Result[], victims: readonly string[]): string[] => {
  const rows = victims.flatMap((victim) => {
    const same = results.filter(({ cell }) => cell.victim === victim);
    return [...new Set(same.map(tagOf))].map((tag) => ({
      victim,
      tag,
      same: same.filter((one) => tagOf(one) === tag),
    }));
  });
  return [
    row([
      'struck',
      'how',
      'runs',
      'ended',
      'parked',
      'left for a person',
      'failed',
      'not reached',
      'commands repeated',
    ]),
    row(Array.from({ length: 9 }, () => '---')),
    ...rows.map(({ victim, tag, same }) => {
      const { ended, parked, left, failed, missed } = countsOf(same);
      const repeats = same.reduce((sum, { outcome }) => sum + outcome.repeats.length, 0);
      return row([
        blowOf(victim).column,
        tag,
        ...[same.length, ended, parked, left, failed, missed, repeats].map(String),
      ]);
    }),
  ];
};

export const countsOf = (results: readonly Result[]): Record<Outcome['is'], number> => {
  const counts = { ended: 0, parked: 0, left: 0, failed: 0, missed: 0 };
  for (const { outcome } of results) counts[outcome.is] += 1;
  return counts;
};

/** Reasons for which nodes were left for a person, each with how often. */
const reasonsOf = (results: readonly Result[]): string => {
  const counts = new Map<string, number>();
  for (const { outcome } of results)
    if (outcome.is === 'left') counts.set(outcome.why ?? '', (counts.get(outcome.why ?? '') ?? 0) + 1);
  return [...counts].map(([why, times]) => `${times} because ${why}`).join(', ');
};

export const summaryOf = (results: readonly Result[]): string => {
  const { ended, parked, left, failed, missed } = countsOf(results);
  const people = left > 0 ? ` ${left} left for a person (${reasonsOf(results)}),` : '';
  return `${results.length} runs: ${ended} ended well, ${parked} parked where their step's row allows it and ended well once a person had decided,${people} ${failed} failed, ${missed} not reached.`;
};
