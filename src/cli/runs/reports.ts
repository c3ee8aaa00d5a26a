/** `temper reports`: ended runs by day, and leased nodes by month. */
import { type Command, Option } from 'commander';
import { reportBuckets, runReportsBy } from '../../model/reports';
import type { NodeUsage, ProjectUsage, RunReport } from '../../wire/reports';
import { noteFurtherRows, type PageOptions, pageOptions } from '../access/pages';
import { queryText } from '../access/query';
import type { Acting, Context } from '../context';
import { listing, plainText } from '../tables';
import { sinceOf } from './runs';

type RunsAsked = Readonly<Partial<Record<'by' | 'bucket' | 'since' | 'until', string>>>;

const runsTable = listing<RunReport['report'][number]>(
  'ended runs',
  ['AT', 'VALUE', 'RUNS', 'SUCCEEDED', 'FAILED', 'ABORTED', 'MEDIAN S'],
  ({ at, value, runs, succeeded, failed, aborted, median_s }) => [
    at.replace('T00:00:00.000Z', ''),
    value ?? '(none)',
    runs,
    succeeded,
    failed,
    aborted,
    median_s === null ? '' : Math.round(median_s),
  ],
);

const reportRuns = async ({ api, deps, print, width }: Context, { since, ...asked }: RunsAsked): Promise<void> => {
  const query = queryText({ ...asked, ...(since !== undefined && { since: sinceOf(since, Date.now()) }) });
  const answer = (await api.send('GET', `/temper/v1/reports/runs?${query}`)) as RunReport;
  print(answer, ({ report }) => runsTable(report, width));
  if (answer.left_out > 0)
    deps.err(`temper: ${plainText(answer.left_out)} runs of less frequent values are left out.\n`);
};

const hours = (seconds: number): string => (seconds / 3600).toFixed(1);

const nodesTable = listing<NodeUsage>('leases', ['NODE', 'UUID', 'CLASS', 'LEASES', 'NODE-HOURS'], (one) => [
  one.node_name,
  one.node_uuid,
  one.resource_class,
  one.leases,
  hours(one.seconds),
]);
const projectsTable = listing<ProjectUsage>('leases', ['PROJECT', 'NODES', 'LEASES', 'NODE-HOURS'], (one) => [
  one.project,
  one.nodes,
  one.leases,
  hours(one.seconds),
]);

type UsageRows = readonly NodeUsage[] | readonly ProjectUsage[];

const isOfProjects = (rows: UsageRows): rows is readonly ProjectUsage[] => rows.every((row) => 'nodes' in row);

const reportUsage = async (context: Context, asked: PageOptions & RunsAsked): Promise<void> => {
  const answer = (await context.api.send('GET', `/temper/v1/reports/usage?${queryText(asked)}`)) as {
    readonly usage: UsageRows;
  };
  const { usage } = answer;
  if (isOfProjects(usage)) context.printRows(answer, usage, projectsTable);
  else context.printRows(answer, usage, nodesTable);
  noteFurtherRows(context, answer, usage.length);
};

export const addReports = (program: Command, acting: Acting): void => {
  const reports = program
    .command('reports')
    .description('count ended runs by time, and the time that nodes were leased');
  reports
    .command('runs')
    .description('ended runs that you may see, by the time they ended')
    .addOption(new Option('--by <what>', 'for each of this').choices([...runReportsBy]).default('cause'))
    .addOption(new Option('--bucket <time>', 'for each of this').choices([...reportBuckets]))
    .option('--since <time>', 'ended since then: a time, or a span such as 14d')
    .option('--until <time>', 'ended before then; a day such as 2026-11-30 is included')
    .action(acting(reportRuns));
  pageOptions(
    reports
      .command('usage')
      .description('how long a project leased each node in a month; all projects for readers of the system')
      .option('--project <project>', 'yours if absent')
      .option('--month <month>', 'such as 2026-11; the present one if absent'),
    'row',
  ).action(acting(reportUsage));
};
