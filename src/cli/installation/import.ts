/** `temper import`: imports an Ironic database directly into PostgreSQL, on a host of an API process. */
import type { Command } from 'commander';
import type { Acting, Context } from '../context';
import type { ImportReport } from '../deps';
import { exits } from '../faults';
import { listing, plainText } from '../tables';

type Options = {
  readonly from?: string;
  readonly apply?: boolean;
  readonly node?: readonly string[];
  readonly ironicStopped?: boolean;
};

const outcomes = ['new', 'changed', 'same', 'kept', 'refused'] as const;

type CountRow = readonly [kind: string, counts: ImportReport['counts'][string]];
const countsTable = listing<CountRow>(
  'objects',
  ['KIND', ...outcomes.map((name) => name.toUpperCase())],
  ([kind, counts]) => [kind, ...outcomes.map((name) => String(counts?.[name] ?? 0))],
);

const lineText = ({ kind, name, uuid, is, reason }: ImportReport['lines'][number]): string =>
  `${is}: ${kind} ${plainText(name ?? uuid ?? '')}${name && uuid ? ` (${uuid})` : ''}: ${plainText(reason)}.\n`;

const untakenText = ({ what, count, instead }: ImportReport['not_taken'][number]): string =>
  `not taken: ${count} ${what} in the whole database (${instead}: docs/from-ironic.md).\n`;

const endText = ({ dry_run, counts }: ImportReport): string => {
  const rows = Object.values(counts);
  const taken = rows.reduce((sum, row) => sum + (row?.new ?? 0) + (row?.changed ?? 0), 0);
  if (taken === 0) return dry_run ? 'Nothing would change.\n' : 'Nothing changed.\n';
  return dry_run ? 'Nothing was stored. Give --apply to take it.\n' : 'Taken.\n';
};

const run = async (
  { deps, installation, print, end }: Context,
  { from, apply = false, node, ironicStopped }: Options,
): Promise<void> => {
  const report = await installation().importIronic({
    url: from ?? deps.env.TEMPER_IMPORT_URL,
    dryRun: !apply,
    ...(node && { only: new Set(node) }),
    ...(ironicStopped && { ironicStopped }),
  });
  print(
    report,
    (done) =>
      `${done.lines.map(lineText).join('')}${done.not_taken.map(untakenText).join('')}${countsTable(Object.entries(done.counts))}${endText(done)}`,
  );
  if ((report.counts.node?.refused ?? 0) > 0) end(exits.refused);
};

const help = `
Reads the database only. Without --apply nothing is stored. The address is that of [database] connection in ironic.conf; give
it as TEMPER_IMPORT_URL if its password must not be seen among the processes.

A node is refused that Ironic may still drive: put it into maintenance there first. If a node is refused, the status is 1.

Temper's side is TEMPER_DATABASE_URL (of role temper_api) and TEMPER_SECRETS_PUBLIC_KEYS, as an API process has them.
`;

export const addImport = (program: Command, acting: Acting): void => {
  program
    .command('import')
    .description('take nodes over from the database of Ironic 39')
    .option('--from <url>', 'mysql://… or postgresql://… of Ironic’s database; TEMPER_IMPORT_URL when absent')
    .option('--node <uuid or name...>', 'these nodes only, with what belongs to them')
    .option('--ironic-stopped', 'Ironic’s conductors are stopped: take nodes too that are not in maintenance there')
    .option('--apply', 'store it; without, what would be stored is said')
    .addHelpText('after', help)
    .action(acting(run));
};
