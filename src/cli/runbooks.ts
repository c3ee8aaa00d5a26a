/** `temper runbooks check`: what is wrong with a runbook, before it is run or stored. */
import type { Command } from 'commander';
import { parse } from 'yaml';
import type { Acting, Context } from './context';
import { exits, stop } from './faults';
import { table } from './tables';

type Finding = {
  readonly severity: 'error' | 'warning';
  readonly index: number | null;
  readonly step: string | null;
  readonly node: string | null;
  readonly says: string;
};
type Checked = { readonly errors: number; readonly warnings: number; readonly findings: readonly Finding[] };
type RunbookOptions = { readonly node?: readonly string[]; readonly verb?: string; readonly file?: string };

const findingsText = ({ errors, warnings, findings }: Checked, width: number | undefined): string =>
  findings.length === 0
    ? 'Nothing is wrong.\n'
    : `${table(
        ['SEVERITY', '#', 'STEP', 'NODE', 'SAYS'],
        findings.map(({ severity, index, step, node, says }) => [severity, index, step, node ?? 'any', says]),
        width,
      )}${errors} errors, ${warnings} warnings.\n`;

/** The steps of a runbook's file, JSON or YAML: the body of a creation, or the list alone. Throws CliFault (usage). */
const stepsIn = ({ hands }: Context, path: string): unknown[] => {
  const text = hands.readFile(path) ?? stop('usage', `There is no file ${path}.`);
  let value: unknown;
  try {
    value = parse(text);
  } catch (thrown) {
    stop('usage', `${path} is neither JSON nor YAML: ${(thrown as Error).message.split('\n')[0]}`);
  }
  const steps = Array.isArray(value) ? value : (value as { steps?: unknown } | null)?.steps;
  return Array.isArray(steps)
    ? steps
    : stop('usage', `${path} holds no list of steps: a key steps, or the list alone.`);
};

const check = async (context: Context, runbook: string | undefined, given: RunbookOptions): Promise<void> => {
  if ((runbook === undefined) === (given.file === undefined))
    stop('usage', 'Give the name or UUID of a runbook, or --file with one that is not stored yet.');
  const where = { ...(given.node && { nodes: given.node }), ...(given.verb !== undefined && { verb: given.verb }) };
  const path = runbook === undefined ? '' : `/${encodeURIComponent(runbook)}`;
  const body = given.file === undefined ? where : { ...where, steps: stepsIn(context, given.file) };
  const checked = (await context.api.send('POST', `/temper/v1/runbooks${path}/check`, body)) as Checked;
  context.print(checked, (value) => findingsText(value, context.width));
  context.end(checked.errors > 0 ? exits.refused : exits.ok);
};

const collect = (one: string, before: readonly string[] = []): string[] => [...before, one];

/** Adds the command. */
export const addRunbooks = (program: Command, acting: Acting): void => {
  program
    .command('runbooks')
    .description('look at runbooks')
    .command('check')
    .description(
      'steps, arguments and URLs, and on named nodes what was last seen of them; fails where there is an error',
    )
    .argument('[runbook]', 'UUID or name of a runbook')
    .option('--file <path>', 'one that is not stored yet, JSON or YAML')
    .option('--node <node>', 'a node it is to run on; may come several times', collect)
    .option('--verb <verb>', 'clean or service, where it is for one of them only')
    .action(acting(check));
};
