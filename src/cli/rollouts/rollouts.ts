/** `temper rollouts`: one runbook or verb on many nodes in waves, from plan to end. */
import type { Command } from 'commander';
import type { Rollout, RolloutVotes } from '../../wire/rollouts';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { withFormats } from '../formats';
import { findRollout, rolloutsPath as path, planHashOf, rolloutList } from './find-rollout';
import { readPlanFile } from './plan-file';
import { type ActedRollout, actedText, planText, rolloutTable, targetTable, votesText } from './rollout-texts';
import { watchRollout } from './rollout-watch';
import { addRolloutTargets } from './targets';

type Work = { readonly runbook?: string; readonly verb?: string; readonly power?: string };
type Planned = Work & {
  readonly query?: readonly string[];
  readonly node?: readonly string[];
  readonly limit?: string;
  readonly percent?: string;
  readonly budget?: string;
  readonly name?: string;
};

const workOf = ({ runbook, verb, power }: Work) => ({
  ...(runbook !== undefined && { runbook }),
  ...(verb !== undefined && { verb }),
  ...(power !== undefined && { verb: 'power', power: { target: power } }),
});

// Expands `r1..r9`.
const ranged = (text: string): string[] => {
  const [, before, first, , last] = /^(.*?)(\d+)\.\.(.*?)(\d+)$/.exec(text) ?? [];
  if (first === undefined || Number(last) < Number(first) || Number(last) - Number(first) > 1_000) return [text];
  return Array.from({ length: Number(last) - Number(first) + 1 }, (_, index) => `${before}${Number(first) + index}`);
};

/** Parses `key=value,value` pairs. Throws CliFault (usage). */
const nodeQuery = (pairs: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) stop('usage', `--query is key=value, such as resource_class=gold; got ${pair}.`);
      return [
        pair.slice(0, at),
        pair
          .slice(at + 1)
          .split(',')
          .flatMap(ranged),
      ];
    }),
  );

/** Options override the file. */
const bodyOf = (document: Readonly<Record<string, unknown>>, given: Planned): Record<string, unknown> => {
  const select = {
    ...(document.select as object | undefined),
    ...(given.query && { query: nodeQuery(given.query) }),
    ...(given.node && { nodes: given.node }),
    ...(given.limit !== undefined && { limit: Number(given.limit) }),
    ...(given.percent !== undefined && { percent: given.percent }),
  };
  const total = given.budget !== undefined && (/^\d+$/.test(given.budget) ? Number(given.budget) : given.budget);
  return {
    ...document,
    ...(Object.keys(select).length > 0 && { select }),
    ...workOf(given),
    ...(given.name !== undefined && { name: given.name }),
    ...(total !== false && { budget: { ...(document.budget as object | undefined), total } }),
  };
};

const planRollout = async (context: Context, file: string | undefined, given: Planned): Promise<void> => {
  const plan = file === undefined ? undefined : readPlanFile(context, file);
  const body = bodyOf(plan?.document ?? {}, given);
  const answer = await context.api.send('POST', path, body).catch((thrown: unknown) => {
    throw plan ? plan.placed(thrown) : thrown;
  });
  context.print(answer as Rollout, planText);
};

const listRollouts = (context: Context, given: PageOptions & { readonly state?: string }): Promise<void> =>
  printPage(context, rolloutList, given, rolloutTable);

const showRollout = async (context: Context, ident: string): Promise<void> =>
  context.print((await context.api.send('GET', `${path}/${await findRollout(context, ident)}`)) as Rollout, planText);

type Listed = PageOptions & { readonly state?: string; readonly wave?: string; readonly reason?: string };

const listTargets = async (context: Context, ident: string, given: Listed): Promise<void> => {
  const one = await findRollout(context, ident);
  const list = { path: `${path}/${one}/targets`, rows: 'targets' };
  await printPage(context, list, given, targetTable);
};

type ActOptions = {
  readonly reason: string;
  readonly plan?: string;
  readonly wave?: string;
  readonly running?: string;
  readonly at?: string;
};

const acting =
  (act: string, hashed: boolean) =>
  async (context: Context, ident: string, given: ActOptions): Promise<void> => {
    const uuid = await findRollout(context, ident);
    const answer = await context.api.send('POST', `${path}/${uuid}/${act}`, {
      reason: given.reason,
      ...(hashed && { plan_hash: await planHashOf(context, uuid, given.plan) }),
      ...(given.wave !== undefined && { expected_wave: Number(given.wave) }),
      ...(given.running !== undefined && { running: given.running }),
      ...(given.at !== undefined && { start_at: given.at }),
    });
    context.print(answer as ActedRollout, (one) => actedText(act, one));
  };

/** A vote names the plan that the user has read, so its hash is required. */
const voting =
  (act: string) =>
  async (context: Context, ident: string, { plan, reason }: { readonly plan: string; readonly reason: string }) => {
    const uuid = await findRollout(context, ident);
    const body = { plan_hash: await planHashOf(context, uuid, plan), reason };
    context.print((await context.api.send('POST', `${path}/${uuid}/${act}`, body)) as RolloutVotes, votesText);
  };

const rollback = async (
  context: Context,
  ident: string,
  { reason, targets, ...given }: Work & { readonly reason: string; readonly targets: string },
): Promise<void> => {
  const uuid = await findRollout(context, ident);
  const body = { reason, targets, ...workOf(given) };
  context.print((await context.api.send('POST', `${path}/${uuid}/rollback`, body)) as Rollout, planText);
};

const watchCommand = async (context: Context, ident: string, given: { untilPaused?: boolean }): Promise<void> =>
  watchRollout(context, await findRollout(context, ident), given.untilPaused);

const rolloutCommands: readonly (readonly [act: string, says: string, hashed: boolean])[] = [
  ['submit', 'ask others to approve its plan', true],
  ['start', 'begin its first wave, by your rights', true],
  ['pause', 'begin nothing more for now; what runs, runs on', false],
  ['resume', 'go on', false],
  ['advance', 'open the next wave', false],
  ['adopt', 'have it go on by your rights', false],
  ['abort', 'end it', false],
];

const votes: readonly (readonly [act: string, does: string])[] = [
  ['approve', 'approve the plan that you have read'],
  ['reject', 'reject the plan that you have read; a submitted rollout is back at planned'],
];

const addVotes = (rollouts: Command, run: Acting): void => {
  for (const [act, does] of votes)
    rollouts
      .command(act)
      .description(does)
      .argument('<rollout>', 'its UUID, the beginning of it, or its name')
      .requiredOption('--plan <hash>', 'the plan that you have read, or the beginning of its hash')
      .requiredOption('--reason <text>', 'why; it stands in the audit trail')
      .action(run(voting(act)));
};

const addActs = (rollouts: Command, run: Acting): void => {
  for (const [act, says, hashed] of rolloutCommands) {
    const command = rollouts
      .command(act)
      .description(says)
      .argument('<rollout>', 'its UUID, the beginning of it, or its name')
      .requiredOption('--reason <text>', 'why; it stands in the audit trail');
    if (hashed) command.option('--plan <hash>', 'the plan that you have read, or the beginning of its hash');
    if (act === 'start') command.option('--at <time>', 'automatically at a time, such as 2026-11-30T18:00:00Z');
    if (act === 'advance') command.option('--wave <number>', 'the wave that you have seen end');
    if (act === 'abort') command.option('--running <what>', 'finish, or abort what runs', 'finish');
    command.action(run(acting(act, hashed)));
  }
};

export const addRollouts = (program: Command, run: Acting): void => {
  const rollouts = program.command('rollouts').description('one runbook or verb on many nodes, in waves');
  rollouts
    .command('plan')
    .description('say what would happen to which nodes; nothing is touched')
    .argument('[file]', 'a plan as YAML; options are laid over it')
    .option('--query <key=value...>', 'which nodes: resource_class=gold properties.rack=r1..r9')
    .option('--node <node...>', 'which nodes, by UUID or name')
    .option('--limit <number>', 'of these so many')
    .option('--percent <share>', 'of these a share, such as 10%')
    .option('--runbook <runbook>', 'its name or UUID')
    .option('--verb <verb>', 'service if absent')
    .option('--power <target>', 'verb power: power on, power off, rebooting, soft power off or soft rebooting')
    .option('--budget <amount>', 'how many nodes may be harmed: 2, or 1%')
    .option('--name <name>')
    .action(run(planRollout));
  const list = rollouts.command('list').description('those you may see').option('--state <state>');
  pageOptions(list, 'rollout').action(run(listRollouts));
  withFormats(rollouts.command('show').description('the plan of one').argument('<rollout>')).action(run(showRollout));
  rollouts
    .command('watch')
    .description('follow one until it ends')
    .argument('<rollout>')
    .option('--until-paused', 'or waits for a person: paused, not started, not approved')
    .action(run(watchCommand));
  const targets = rollouts
    .command('targets')
    .description('its nodes, each with its state and why')
    .argument('<rollout>')
    .option('--state <state>')
    .option('--wave <number>')
    .option('--reason <code>');
  pageOptions(targets, 'position').action(run(listTargets));
  addActs(rollouts, run);
  addVotes(rollouts, run);
  addRolloutTargets(rollouts, run);
  rollouts
    .command('rollback')
    .description('plan another rollout on its nodes; nothing is undone automatically')
    .argument('<rollout>')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .option('--runbook <runbook>', 'that reverts it')
    .option('--verb <verb>')
    .option('--power <target>', 'verb power: power off, power on, ...')
    .option('--targets <which>', 'done or failed', 'done')
    .action(run(rollback));
};
