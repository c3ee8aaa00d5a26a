/** `temper summary`: counts of nodes and runs, of all or for each rack, feed, class or project. */
import { type Command, Option } from 'commander';
import { summarized } from '../../model/resources/summarized';
import type { Summary, SummaryBy } from '../../wire/installation';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { listing, sheet } from '../tables';

type Counts = Readonly<Record<string, number>>;

const summaryPath = '/temper/v1/summary';

/** Most first. */
const countsText = (counts: Counts): string =>
  Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

const wholeSheet = ({ nodes, runs }: Summary): string =>
  sheet({
    nodes: nodes.count,
    'provision states': countsText(nodes.provision_state),
    'power states': countsText(nodes.power_state),
    faults: countsText(nodes.fault),
    'in maintenance': nodes.maintenance,
    'open runs': countsText(runs.phase),
  });

const groupTable = listing<SummaryBy['groups'][number]>(
  'nodes',
  ['VALUE', 'NODES', 'IN MAINTENANCE', 'FAULTS', 'PROVISION STATES'],
  ({ value, count, maintenance, fault, provision_state }) => [
    value ?? '(none)',
    count,
    maintenance,
    countsText(fault),
    countsText(provision_state),
  ],
);

const showSummary = async (
  context: Context,
  { by, ...page }: PageOptions & { readonly by?: string },
): Promise<void> => {
  if (by !== undefined) return printPage(context, { path: summaryPath, rows: 'groups' }, { by, ...page }, groupTable);
  context.print((await context.api.send('GET', summaryPath)) as Summary, wholeSheet);
};

export const addSummary = (program: Command, acting: Acting): void => {
  const summary = program
    .command('summary')
    .description('count the nodes and open runs that you may see')
    .addOption(new Option('--by <what>', 'count nodes for each value of this').choices([...summarized]));
  pageOptions(summary, 'value').action(acting(showSummary));
};
