/** reports/chaos.md: its sections, each with its date, each written by the run that measured it. */
import { readFileSync, writeFileSync } from 'node:fs';

const head = `<!-- Written by \`npm run chaos\` and its options --pauses, --clocks, --lost-engine, --restores, --faults and --rollouts; each run replaces its section. -->

# Chaos

These are the raw results of \`npm run chaos\`; [Results](../docs/results.md#chaos-tests) has the totals. Each run of the command replaces
one section: its first line, its totals and its tables. By hand are the sentences after the conditions of a measurement in the first line of a section,
the paragraph above the table of rollouts, and the explanation of an oddity. A new run removes them.

What became of runs whose processes were killed, stood still or had wrong clocks, whose stores were lost or set back to a backup,
and of runs on BMCs that misbehave; and whether rollouts kept their bounds meanwhile. Emulated BMCs of eight vendors with emulated ramdisks, ten times as fast as real ones; everything else is the product as it is shipped.
`;

const sectionTitles = {
  kills: 'Killed at every point',
  pauses: 'Paused at every point',
  clocks: 'Clocks that differ',
  engine: "The engine's store lost",
  restores: 'Set back to a backup',
  faults: 'BMCs that misbehave',
  rollouts: 'Rollouts under blows',
} as const;
export type Section = keyof typeof sectionTitles;

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** The body of a section as it stands in a text. */
const bodyOf = (text: string, section: Section): string | undefined =>
  text
    .split(/^## /m)
    .find((part) => part.startsWith(`${sectionTitles[section]}\n`))
    ?.slice(sectionTitles[section].length)
    .trim();

/** Puts a section in its place and leaves the other one as it is. */
export const writeSection = (file: string, section: Section, lines: readonly string[]): void => {
  const text = read(file);
  const parts = (Object.keys(sectionTitles) as Section[]).flatMap((one) => {
    const body = one === section ? lines.join('\n').trim() : bodyOf(text, one);
    return body === undefined ? [] : [`## ${sectionTitles[one]}\n\n${body}\n`];
  });
  writeFileSync(file, [head, ...parts].join('\n'));
};
