/** `temper runbooks`: checks a runbook before use, and shows its revisions. */
import type { Command } from 'commander';
import type {
  ListedRevision,
  RunbookCheck,
  RunbookDiff,
  RunbookParameters,
  RunbookRevision,
} from '../../wire/runbooks';
import type { NodePlan } from '../../wire/runs';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { exits, stop } from '../faults';
import { withFormats } from '../formats';
import { collect } from '../options';
import { listing, table } from '../tables';
import { documentIn, listIn } from './documents';
import { parametersOf } from './parameters';

type RunbookOptions = {
  readonly node?: readonly string[];
  readonly verb?: string;
  readonly file?: string;
  readonly param?: readonly string[];
};

const findingsText = ({ errors, warnings, findings }: RunbookCheck, width: number | undefined): string =>
  findings.length === 0
    ? 'Nothing is wrong.\n'
    : `${table(
        ['SEVERITY', '#', 'STEP', 'NODE', 'SAYS'],
        findings.map(({ severity, index, step, node, says }) => [severity, index, step, node ?? 'any', says]),
        width,
      )}${errors} errors, ${warnings} warnings.\n`;

/** Reads a creation's body, or its steps alone. Throws CliFault (usage). */
const runbookIn = ({ deps }: Context, path: string): { readonly steps: unknown[]; readonly declared?: unknown[] } => {
  const document = documentIn(deps, path);
  const steps =
    listIn(document, 'steps') ?? stop('usage', `${path} holds no list of steps: a key steps, or the list alone.`);
  const declared = Array.isArray(document) ? undefined : listIn(document, 'parameters');
  return { steps, ...(declared && { declared }) };
};

const check = async (context: Context, runbook: string | undefined, given: RunbookOptions): Promise<void> => {
  if ((runbook === undefined) === (given.file === undefined))
    stop('usage', 'Give the name or UUID of a runbook, or --file with one that is not stored yet.');
  const where = {
    ...(given.node && { nodes: given.node }),
    ...(given.verb !== undefined && { verb: given.verb }),
    ...(given.param && { parameters: parametersOf(given.param) }),
  };
  const path = runbook === undefined ? '' : `/${encodeURIComponent(runbook)}`;
  const body = given.file === undefined ? where : { ...where, ...runbookIn(context, given.file) };
  const checked = (await context.api.send('POST', `/temper/v1/runbooks${path}/check`, body)) as RunbookCheck;
  context.print(checked, (value) => findingsText(value, context.width));
  context.end(checked.errors > 0 ? exits.refused : exits.ok);
};

const personOf = (person: ListedRevision['author']): string => person?.user_name ?? person?.user_id ?? '-';
const shortDigest = 12;

const revisionsTable = listing<ListedRevision>(
  'revisions',
  ['REVISION', 'MADE', 'BY', 'DIGEST', 'NAME', 'WITHDRAWN'],
  ({ revision, newest, created_at, author, digest, name, withdrawn }) => [
    `${revision}${newest ? ' (newest)' : ''}`,
    created_at,
    personOf(author),
    digest.slice(0, shortDigest),
    name,
    withdrawn?.reason ?? '-',
  ],
);

const diffText = ({ from, to, patch }: RunbookDiff): string => {
  const between = `revision ${from.revision} and revision ${to.revision}`;
  if (patch.length === 0)
    return from.digest === to.digest
      ? `Nothing differs between ${between}.\n`
      : `Between ${between} only secrets differ, which are not shown.\n`;
  const lines = patch.map(
    (change) => `${change.op} ${change.path}${change.op === 'remove' ? '' : ` ${JSON.stringify(change.value)}`}`,
  );
  return `What makes revision ${to.revision} of revision ${from.revision}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
};

const runbookPath = (runbook: string, below = ''): string =>
  `/temper/v1/runbooks/${encodeURIComponent(runbook)}/revisions${below}`;

const revisions = async (context: Context, runbook: string, page: PageOptions): Promise<void> => {
  const list = { path: runbookPath(runbook), rows: 'revisions' };
  await printPage(context, list, page, revisionsTable);
};

const diff = async (
  { api, print }: Context,
  runbook: string,
  revision: string,
  { from }: { readonly from?: string },
): Promise<void> => {
  const query = from === undefined ? '' : `?from=${encodeURIComponent(from)}`;
  print(
    (await api.send('GET', runbookPath(runbook, `/${encodeURIComponent(revision)}/diff${query}`))) as RunbookDiff,
    diffText,
  );
};

const withdraw = async (
  { api, print }: Context,
  runbook: string,
  revision: string,
  { reason }: { readonly reason: string },
): Promise<void> => {
  const path = runbookPath(runbook, `/${encodeURIComponent(revision)}/withdraw`);
  const withdrawn = (await api.send('POST', path, { reason })) as RunbookRevision;
  print(
    withdrawn,
    ({ revision: number, newest, name }) =>
      `Revision ${number} of ${name} is withdrawn.${newest ? ' Nothing is run by this runbook until it is changed.' : ''} Runs under way go on.\n`,
  );
};

const parametersTable = listing<RunbookParameters['parameters'][number]>(
  'parameters',
  ['PARAMETER', 'DEFAULT', 'FORM', 'DESCRIPTION'],
  ({ name, schema, secret, description, ...rest }) => [
    `${name}${secret ? ' (secret)' : ''}`,
    rest.default === undefined ? 'must be given' : JSON.stringify(rest.default),
    schema,
    description ?? '-',
  ],
);

/** Reads the list, or an object with it. Throws CliFault (usage). */
const parametersIn = ({ deps }: Context, path: string): unknown[] =>
  listIn(documentIn(deps, path), 'parameters') ?? stop('usage', `${path} holds no list of parameters.`);

const parameters = async (context: Context, runbook: string, { file }: { readonly file?: string }): Promise<void> => {
  const path = `/temper/v1/runbooks/${encodeURIComponent(runbook)}/parameters`;
  const answer =
    file === undefined
      ? await context.api.send('GET', path)
      : await context.api.send('PUT', path, { parameters: parametersIn(context, file) });
  context.printRows(answer, (answer as RunbookParameters).parameters, parametersTable);
};

type RunOptions = Pick<RunbookOptions, 'verb' | 'param'> & { readonly reason?: string };

/** By default, a plan finds the verb that the node's state permits. */
const runRunbook = async (context: Context, runbook: string, node: string, given: RunOptions): Promise<void> => {
  const { verb, param, reason } = given;
  const headers: Record<string, string> = reason === undefined ? {} : { 'X-Temper-Reason': reason };
  const body = { runbook, ...(param && { temper: { parameters: parametersOf(param) } }) };
  const at = encodeURIComponent(node);
  const target =
    verb ?? ((await context.api.send('POST', `/temper/v1/nodes/${at}/plan`, body, headers)) as NodePlan).verb;
  await context.api.send('PUT', `/v1/nodes/${at}/states/provision`, { target, ...body }, headers);
  context.print({ node, target, runbook }, () => `${runbook} was accepted for ${node}: ${target}.\n`);
};

export const addRunbooks = (program: Command, acting: Acting): void => {
  const runbooks = program.command('runbooks').description('check runbooks, and see what they were before');
  const about = (act: string, says: string): Command =>
    runbooks.command(act).description(says).argument('<runbook>', 'UUID or name of a runbook');
  pageOptions(about('revisions', 'every state that a runbook was in, the newest first'), 'revision').action(
    acting(revisions),
  );
  withFormats(about('diff', 'what a revision changed'))
    .argument('<revision>', 'its number')
    .option('--from <revision>', 'compare with this revision and not with the one before')
    .action(acting(diff));
  about('withdraw', 'let nothing be run by a revision any more; runs under way go on')
    .argument('<revision>', 'its number')
    .requiredOption('--reason <text>', 'why; callers who are refused read it')
    .action(acting(withdraw));
  withFormats(about('parameters', 'what a runbook leaves open; with --file they are replaced'))
    .option('--file <path>', 'the new ones, JSON or YAML')
    .action(acting(parameters));
  about('run', 'run it on a node')
    .argument('<node>', 'UUID or name of a node')
    .option('--param <name=value>', 'a parameter of the runbook; may come several times', collect)
    .option('--verb <verb>', 'clean or service; what the node’s state admits if it is absent')
    .option('--reason <text>', 'why a project’s private runbook runs on another project’s node')
    .action(acting(runRunbook));
  runbooks
    .command('check')
    .description('steps, arguments and URLs, and on named nodes what was last seen of them; fails if there is an error')
    .argument('[runbook]', 'UUID or name of a runbook')
    .option('--file <path>', 'one that is not stored yet, JSON or YAML')
    .option('--node <node>', 'a node it is to run on; may come several times', collect)
    .option('--verb <verb>', 'clean or service, if it is for one of them only')
    .option('--param <name=value>', 'a parameter of the runbook; may come several times', collect)
    .action(acting(check));
};
