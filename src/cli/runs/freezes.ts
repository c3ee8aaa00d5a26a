/** `temper freezes`: freezes of nodes by operators. */
import type { Command } from 'commander';
import type { Freeze } from '../../wire/records';
import { type PageOptions, pageOptions, printPage } from '../access/pages';
import type { Acting, Context } from '../context';
import { stop } from '../faults';
import { spanMs } from '../spans';
import { listing, plainText } from '../tables';

type FreezeListed = PageOptions & { readonly all?: boolean };
type Added = { readonly reason: string; readonly until?: string; readonly for?: string };

const frozenTable = listing<Freeze>(
  'freezes',
  ['FREEZE', 'NODE', 'ACTIVE', 'BY', 'SINCE', 'UNTIL', 'REASON'],
  (one) => [
    one.uuid,
    one.node_name ?? one.node_uuid,
    one.active ? 'yes' : 'no',
    one.requester.user_name ?? one.requester.user_id,
    one.created_at,
    one.until ?? 'it is ended',
    one.reason,
  ],
);

/** End as ISO time; null for a freeze without end. Throws CliFault (usage). */
export const untilOf = ({ until, for: span }: Pick<Added, 'until' | 'for'>, now: number): string | null => {
  if (until !== undefined && span !== undefined) stop('usage', 'Give --until or --for, not both.');
  if (until !== undefined) return until;
  if (span === undefined) return null;
  const ms = spanMs(span) ?? stop('usage', '--for must be such as 30m, 2h or 3d.');
  return new Date(now + ms).toISOString();
};

const listFreezes = async (
  context: Context,
  node: string | undefined,
  { all, ...page }: FreezeListed,
): Promise<void> => {
  const path = node === undefined ? '/temper/v1/freezes' : `/temper/v1/nodes/${encodeURIComponent(node)}/freezes`;
  const list = { path, rows: 'freezes' };
  await printPage(context, list, { ...(all && { all: 'true' }), ...page }, frozenTable);
};

const addFreeze = async ({ api, print }: Context, node: string, given: Added): Promise<void> => {
  const body = { reason: given.reason, until: untilOf(given, Date.now()) };
  const made = (await api.send('POST', `/temper/v1/nodes/${encodeURIComponent(node)}/freezes`, body)) as Freeze;
  print(
    made,
    (one) =>
      `Node ${plainText(one.node_name ?? one.node_uuid)} is frozen until ${plainText(one.until ?? 'it is ended')}: freeze ${plainText(one.uuid)}.\n`,
  );
};

const endFreeze = async ({ api, print }: Context, freeze: string): Promise<void> => {
  await api.send('DELETE', `/temper/v1/freezes/${encodeURIComponent(freeze)}`);
  print({ uuid: freeze, active: false }, ({ uuid }) => `Freeze ${plainText(uuid)} has ended.\n`);
};

export const addFreezes = (program: Command, acting: Acting): void => {
  const freezes = program.command('freezes').description('lock nodes out: nothing is written to a frozen node’s BMC');
  pageOptions(
    freezes
      .command('list')
      .description('active freezes, of all nodes you may see or of one')
      .argument('[node]', 'UUID or name of a node')
      .option('--all', 'those that are over as well'),
    'freeze',
  ).action(acting(listFreezes));
  freezes
    .command('add')
    .description('freeze a node; the write that is under way ends first, and its run waits')
    .argument('<node>', 'UUID or name of a node')
    .requiredOption('--reason <text>', 'why; refused callers read it')
    .option('--until <time>', 'when it ends automatically, such as 2026-11-30T18:00:00Z')
    .option('--for <span>', 'the same as a span: 30m, 2h, 3d')
    .action(acting(addFreeze));
  freezes
    .command('end')
    .description('end a freeze; the node stays frozen while it has another')
    .argument('<freeze>', 'UUID of a freeze')
    .action(acting(endFreeze));
};
