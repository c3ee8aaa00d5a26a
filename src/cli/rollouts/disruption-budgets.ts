/** `temper disruption-budgets`: limits of a project's nodes that may be unavailable at once. */
import type { Command } from 'commander';
import type { DisruptionBudget } from '../../wire/records';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { withFormats } from '../formats';
import { listing, plainText } from '../tables';

type BudgetOptions = {
  readonly project?: string;
  readonly query?: readonly string[];
  readonly maxUnavailable?: string;
  readonly minAvailable?: string;
  readonly description?: string;
};

const budgetsPath = '/temper/v1/disruption-budgets';
const one = (uuid: string): string => `${budgetsPath}/${encodeURIComponent(uuid)}`;

const limitText = ({ max_unavailable, min_available }: DisruptionBudget): string =>
  max_unavailable === null ? `${min_available} stay` : `${max_unavailable} missing`;

const queryText = (query: DisruptionBudget['query']): string =>
  Object.entries(query)
    .map(([key, values]) => `${key}=${values.join(',')}`)
    .join(' ') || 'all nodes';

const budgetTable = listing<DisruptionBudget>(
  'disruption budgets',
  ['BUDGET', 'PROJECT', 'AT MOST', 'NODES', 'MISSING', 'MAY BE TAKEN', 'OF'],
  (budget) => [
    budget.uuid,
    budget.project,
    limitText(budget),
    budget.nodes,
    budget.unavailable,
    budget.may_be_taken,
    queryText(budget.query),
  ],
);

const amount = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);

/** Parses `key=value,value`. Throws CliFault (usage). */
const budgetQuery = (pairs: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) stop('usage', `--query is key=value, such as resource_class=gold; got ${pair}.`);
      return [pair.slice(0, at), pair.slice(at + 1).split(',')];
    }),
  );

const budgetBody = ({ project, query, maxUnavailable, minAvailable, description }: BudgetOptions) => ({
  ...(project !== undefined && { project }),
  ...(query !== undefined && { query: budgetQuery(query) }),
  ...(maxUnavailable !== undefined && { max_unavailable: amount(maxUnavailable) }),
  ...(minAvailable !== undefined && { min_available: amount(minAvailable) }),
  ...(description !== undefined && { description }),
});

const budgetList = { path: budgetsPath, rows: 'disruption_budgets' };
const listBudgets = (context: Context, page: PageOptions): Promise<void> =>
  printPage(context, budgetList, page, budgetTable);

const showBudget = async ({ api, print, width }: Context, budget: string): Promise<void> =>
  print((await api.send('GET', one(budget))) as DisruptionBudget, (row) => budgetTable([row], width));

const createBudget = async ({ api, print, width }: Context, given: BudgetOptions): Promise<void> => {
  if ((given.maxUnavailable === undefined) === (given.minAvailable === undefined))
    stop('usage', 'Give --max-unavailable or --min-available.');
  print((await api.send('POST', budgetsPath, budgetBody(given))) as DisruptionBudget, (row) =>
    budgetTable([row], width),
  );
};

const setBudget = async ({ api, print, width }: Context, budget: string, given: BudgetOptions): Promise<void> =>
  print((await api.send('PATCH', one(budget), budgetBody(given))) as DisruptionBudget, (row) =>
    budgetTable([row], width),
  );

const deleteBudget = async ({ api, print }: Context, budget: string): Promise<void> => {
  await api.send('DELETE', one(budget));
  print({ uuid: budget }, ({ uuid }) => `Disruption budget ${plainText(uuid)} is deleted.\n`);
};

const limited = (command: Command): Command =>
  command
    .option('--max-unavailable <number or share>', 'so many of these nodes may be missing at once: 2, or 10%')
    .option('--min-available <number or share>', 'so many of these nodes stay: 5, or 90%')
    .option('--query <key=value...>', 'which nodes: resource_class=gold properties.rack=r1,r2; all if absent')
    .option('--description <text>', 'what it is for');

export const addDisruptionBudgets = (program: Command, acting: Acting): void => {
  const budgets = program
    .command('disruption-budgets')
    .description('how many of a project’s nodes may be missing at once, whatever rollouts want');
  pageOptions(budgets.command('list').description('those you may see, and what each leaves now'), 'budget').action(
    acting(listBudgets),
  );
  withFormats(budgets.command('show').description('one of them').argument('<budget>', 'its UUID')).action(
    acting(showBudget),
  );
  limited(budgets.command('create').description('make one for your project'))
    .option('--project <project>', 'the owner or lessee of the nodes; your project if absent')
    .action(acting(createBudget));
  limited(
    budgets.command('set').description('change one; it holds from the next node on').argument('<budget>', 'its UUID'),
  ).action(acting(setBudget));
  budgets.command('delete').description('delete one').argument('<budget>', 'its UUID').action(acting(deleteBudget));
};
