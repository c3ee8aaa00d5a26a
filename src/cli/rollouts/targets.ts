/** `temper rollouts consent|refuse|skip|retry`: acts on single nodes of a rollout. */
import type { Command } from 'commander';
import type { RolloutTarget } from '../../wire/rollouts';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { plainText } from '../tables';
import { findRollout, rolloutsPath } from './find-rollout';

type ConsentOptions = { readonly now?: boolean; readonly at?: string; readonly in?: string; readonly reason?: string };

/** Throws CliFault (usage). */
const termsOf = ({ now, at, in: window }: ConsentOptions): Readonly<Record<string, unknown>> => {
  const given = [now && { now: true }, at !== undefined && { at }, window !== undefined && { in: window }];
  const [terms, ...more] = given.filter((one) => typeof one === 'object');
  return terms && more.length === 0 ? terms : stop('usage', 'Give one of --now, --at <time> and --in <window>.');
};

const send = async (
  { api, print }: Context,
  [ident, node, act]: readonly [ident: string, node: string, act: string],
  body: object,
  say: (target: RolloutTarget) => string,
): Promise<void> => {
  const uuid = await findRollout({ api }, ident);
  const target = (await api.send(
    'POST',
    `${rolloutsPath}/${uuid}/targets/${encodeURIComponent(node)}/${act}`,
    body,
  )) as RolloutTarget;
  print(target, (one) => `Node ${plainText(one.node_name ?? one.node_uuid)} ${say(one)}\n`);
};

const consent = async (context: Context, ident: string, node: string, given: ConsentOptions): Promise<void> => {
  const body = { ...termsOf(given), ...(given.reason !== undefined && { reason: given.reason }) };
  await send(context, [ident, node, 'consent'], body, ({ not_before }) =>
    given.in !== undefined
      ? 'may be worked on while the window is open.'
      : `may be worked on ${not_before === null ? 'as soon as the rollout has room' : `from ${plainText(not_before)} on`}.`,
  );
};

const targetCommands: readonly (readonly [act: string, does: string, said: string])[] = [
  ['refuse', 'have the rollout of another project pass over your node', 'is refused; the rollout passes over it.'],
  ['skip', 'pass over a node that has not begun', 'is passed over.'],
  [
    'retry',
    'try a failed node again',
    'is tried again as soon as the rollout has room, and counts as failed until then. A paused rollout needs resume as well.',
  ],
];

const aboutNode = (rollouts: Command, act: string, does: string): Command =>
  rollouts
    .command(act)
    .description(does)
    .argument('<rollout>', 'its UUID, the beginning of it, or its name')
    .argument('<node>', 'its UUID or name');

export const addRolloutTargets = (rollouts: Command, run: Acting): void => {
  aboutNode(rollouts, 'consent', 'let the rollout of another project work on your node')
    .option('--now', 'as soon as it has room')
    .option('--at <time>', 'from a time on, such as 2026-11-30T18:00:00Z')
    .option('--in <window>', 'while a window of the project is open; its UUID')
    .option('--reason <text>')
    .action(run(consent));
  for (const [act, does, said] of targetCommands)
    aboutNode(rollouts, act, does)
      .requiredOption('--reason <text>', 'why; it stands in the audit trail')
      .action(
        run((context: Context, ident: string, node: string, { reason }: { readonly reason: string }) =>
          send(context, [ident, node, act], { reason }, () => said),
        ),
      );
};
