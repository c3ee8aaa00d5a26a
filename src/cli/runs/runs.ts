/** `temper runs`: lists, shows and operates runs. */
import type { Command } from 'commander';
import { type Document, isDocument } from '../../model/document';
import type { Rerun, Run, Will } from '../../wire/runs';
import { pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { withFormats } from '../formats';
import { spanMs } from '../spans';
import { plainText } from '../tables';
import { findRun } from './find-run';
import { abortWill, runSheet, runTable } from './run-texts';
import { watchRun } from './watch';

type RunListed = Readonly<
  Partial<Record<'state' | 'verb' | 'runbook' | 'revision' | 'since' | 'limit' | 'marker', string>>
>;
type ActOptions = { readonly reason: string; readonly args?: string; readonly yes?: boolean };

/** Only `retry` takes arguments. */
const cliRunActs = {
  abort: 'end the run; it says first what that means for the step under way',
  pause: 'stop the run before its next step; it keeps the node',
  resume: 'let a paused run go on',
  retry: 'run the step again that the run stopped in, with the same arguments or with others',
  skip: 'go on as if the step were done',
  fail: 'end a parked run as failed',
} as const;
type RunCommand = keyof typeof cliRunActs;

const runPath = (run: string): string => `/temper/v1/runs/${encodeURIComponent(run)}`;

/** Throws CliFault (usage). */
const argsOf = (text: string | undefined): Document | undefined => {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isDocument(value)) return value;
  return stop('usage', `--args must be a JSON object, such as --args '{"boot_device": "pxe"}'.`);
};

/** From a time, or a span before now. Throws CliFault (usage). */
export const sinceOf = (text: string, now: number): string => {
  const ms = spanMs(text);
  const at = ms === undefined ? Date.parse(text) : now - ms;
  if (Number.isNaN(at)) stop('usage', '--since must be a time, such as 2026-11-30T18:00:00Z, or a span, such as 2h.');
  return new Date(at).toISOString();
};

const runList = { path: '/temper/v1/runs', rows: 'runs' };

const listRuns = async (context: Context, node: string | undefined, given: RunListed): Promise<void> => {
  const { since, revision, ...filters } = given;
  // For one node all runs, else only the unfinished ones.
  const query = {
    ...(node !== undefined && { node, state: 'any' }),
    ...filters,
    runbook_revision: revision,
    ...(since !== undefined && { since: sinceOf(since, Date.now()) }),
  };
  await printPage(context, runList, query, runTable);
};

const confirmed = async ({ deps }: Context, run: Run): Promise<void> => {
  const will = abortWill(run);
  if (!deps.confirm) stop('usage', `${will} There is no terminal to confirm that: give --yes.`);
  if (
    !(await deps.confirm!(
      `${plainText(run.verb)} of node ${plainText(run.node_name ?? run.node_uuid)}: ${will} Go on?`,
    ))
  )
    stop('refused', 'Left as it was.');
};

const runCommand =
  (act: RunCommand) =>
  async (context: Context, ident: string, { reason, args, yes }: ActOptions): Promise<void> => {
    const changed = argsOf(args);
    const run = (await context.api.send('GET', runPath(await findRun(context, ident)))) as Run;
    if (act === 'abort' && !yes) await confirmed(context, run);
    // The step that the user saw: the API refuses if the run has advanced since.
    const body = { reason, step: run.cursor, ...(changed && { args: changed }) };
    const said = (await context.api.send('POST', `${runPath(run.uuid)}/${act}`, body)) as Will;
    context.print(said, ({ will }) => `${plainText(will)}\n`);
  };

const rerun = async (
  context: Context,
  ident: string,
  { from, reason }: { from?: string; reason: string },
): Promise<void> => {
  const step = from === undefined ? undefined : Number(from);
  if (step !== undefined && !(Number.isInteger(step) && step >= 0))
    stop('usage', '--from must be the number of a step, as `temper runs show` lists them.');
  const body = { reason, ...(step !== undefined && { from: step }) };
  const said = (await context.api.send('POST', `${runPath(await findRun(context, ident))}/rerun`, body)) as Rerun;
  context.print(said, ({ run }) => `Run ${plainText(run)} was accepted.\n`);
};

const showRun = async (context: Context, ident: string): Promise<void> => {
  const run = (await context.api.send('GET', runPath(await findRun(context, ident)))) as Run;
  context.print(run, (shown) => runSheet(shown, context.width));
};

const which = 'UUID of a run, its first characters, or a node';

const addList = (runs: Command, acting: Acting): void => {
  const list = runs
    .command('list')
    .description('runs that are going on, on all nodes you may see; with a node, all runs of that node')
    .argument('[node]', 'UUID or name of a node')
    .option('--state <state>', 'open, ended, any, retrying, or a state such as parked or failed')
    .option('--verb <verb>', 'only these, such as clean')
    .option('--runbook <runbook>', 'only runs of this runbook, by UUID or name')
    .option('--revision <number>', 'only runs of this revision of the runbook')
    .option('--since <time>', 'accepted since then: a time, or a span such as 30m, 2h, 3d');
  pageOptions(list, 'run').action(acting(listRuns));
};

export const addRuns = (program: Command, acting: Acting): void => {
  const runs = program.command('runs').description('see and operate runs');
  addList(runs, acting);
  withFormats(runs.command('show').description('one run with its steps').argument('<run>', which)).action(
    acting(showRun),
  );
  runs
    .command('watch')
    .description('print the events of a run until it ends; fails when the run does')
    .argument('<run>', which)
    .action(acting(async (context, ident: string) => watchRun(context, await findRun(context, ident))));
  for (const [act, says] of Object.entries(cliRunActs)) {
    const command = runs.command(act).description(says).argument('<run>', which);
    command.requiredOption('--reason <text>', 'why; it stands in the audit trail');
    if (act === 'retry') command.option('--args <json>', 'other arguments for the step, as a JSON object');
    if (act === 'abort') command.option('--yes', 'do not ask');
    command.action(acting(runCommand(act as RunCommand)));
  }
  runs
    .command('rerun')
    .description('take up a failed run in a new one, from the step it failed in or from another')
    .argument('<run>', which)
    .option('--from <step>', 'number of the step to begin with')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .action(acting(rerun));
};
