/** The `temper` command for operators: a client of the API, with some direct access to the installation. */
import { Command, CommanderError } from 'commander';
import { addLogin } from './access/login-command';
import { addCompletion } from './completion';
import { actingWith } from './context';
import type { CliDeps } from './deps';
import { CliFault, exits } from './faults';
import { addAudit } from './installation/audit';
import { addDoctor } from './installation/doctor';
import { addImport } from './installation/import';
import { addRecover } from './installation/recover';
import { addReplay } from './installation/replay';
import { addSecrets } from './installation/secrets';
import { addBoot } from './nodes/boot';
import { addConsole } from './nodes/console';
import { addDiscovered } from './nodes/discovered';
import { addImages } from './nodes/images';
import { addIncidents } from './nodes/incidents';
import { addRamdisks } from './nodes/ramdisks';
import { addSearch } from './nodes/search';
import { addSummary } from './nodes/summary';
import { addWebhooks } from './nodes/webhooks';
import { addPolicy } from './policy';
import { addDisruptionBudgets } from './rollouts/disruption-budgets';
import { addRollouts } from './rollouts/rollouts';
import { addWindows } from './rollouts/windows';
import { addPlan } from './runbooks/plan';
import { addRunbooks } from './runbooks/runbooks';
import { addFreezes } from './runs/freezes';
import { addReports } from './runs/reports';
import { addRuns } from './runs/runs';
import { safeLines } from './tables';

export type * from './deps';
export { CliFault, stop } from './faults';
export { safeLines } from './tables';

const environmentHelp = `
The API is found by TEMPER_URL with TEMPER_TOKEN, or TEMPER_USERNAME and TEMPER_PASSWORD; else by --os-cloud, OS_CLOUD and
clouds.yaml, or OS_AUTH_URL and its companions, as for the OpenStack clients; else by the login that "temper login" keeps.

Exit status: 0 done, 1 refused or failed, 2 wrong usage or settings, 3 not reachable.
`;

const programOf = (deps: CliDeps, end: (status: number) => void): Command => {
  const program = new Command('temper')
    .description('See and operate what Temper is doing.')
    .version(`temper ${deps.version}`, '--version', 'print the version')
    .option('--json', 'print JSON')
    .option('--os-cloud <name>', 'a cloud of clouds.yaml')
    .addHelpText('after', environmentHelp)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .configureOutput({ writeOut: (text) => deps.out(text), writeErr: (text) => deps.err(text) });
  const acting = actingWith(deps, end);
  addLogin(program, acting);
  addRuns(program, acting);
  addRunbooks(program, acting);
  addPlan(program, acting);
  addRollouts(program, acting);
  addFreezes(program, acting);
  addSummary(program, acting);
  addSearch(program, acting);
  addIncidents(program, acting);
  addReports(program, acting);
  addAudit(program, acting);
  addDisruptionBudgets(program, acting);
  addWindows(program, acting);
  addWebhooks(program, acting);
  addRamdisks(program, acting);
  addImages(program, acting);
  addDiscovered(program, acting);
  addBoot(program, acting);
  addDoctor(program, acting);
  addConsole(program, acting);
  addRecover(program, acting);
  addReplay(program, acting);
  addSecrets(program, acting);
  addImport(program, acting);
  addPolicy(program, acting);
  addCompletion(program, deps);
  return program;
};

/** All commands with their options, to be read. Their actions must not be called. */
export const commandTree = (): Command => programOf({} as CliDeps, () => {});

// --help is no wrong usage; commander gives it exit code 0.
const usageOf = (thrown: CommanderError): number => (thrown.exitCode === 0 ? exits.ok : exits.usage);

/** Texts of the API, of files and of arguments are printed. No part of them may steer the terminal. */
const guarded = (given: CliDeps): CliDeps => {
  const { confirm } = given;
  const safe: Partial<CliDeps> = {
    out: (text) => given.out(safeLines(text)),
    err: (text) => given.err(safeLines(text)),
    ...(confirm && { confirm: (question) => confirm(safeLines(question)) }),
  };
  // Not a copy, which would open standard input for commands that do not read it.
  return Object.setPrototypeOf(safe, given);
};

/** @param args without the command's name @returns its exit status */
export const runCli = async (args: readonly string[], given: CliDeps): Promise<number> => {
  const deps = guarded(given);
  let status: number = exits.ok;
  const program = programOf(deps, (given) => {
    status = given;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return status;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return usageOf(thrown);
    if (deps.signal.aborted) return exits.refused;
    if (!(thrown instanceof CliFault)) throw thrown;
    deps.err(`temper: ${thrown.message}\n`);
    return exits[thrown.exit];
  }
};
