/** The intents of a command: what was announced to which life of the ramdisk, and what became of it. */
import { isTemperError } from '../../model/errors';
import { pause } from '../wait';
import type { AgentClient } from './client';
import { type Order, orderDigest, unknown } from './order';
import type { Command } from './replies';

/** A command that may have been posted. Its detail is what the store keeps. */
export type CommandStanding = {
  readonly digest: string;
  readonly command: string;
  /** Which life of the ramdisk it was for. */
  readonly started_at: number | string;
  /** Id of the last command before it. */
  readonly after: string | null;
  readonly id?: string;
  /** The ramdisk has not answered since this was recorded. */
  readonly lost?: true;
};

/** The command behind an order, `lost` with the life of the ramdisk that had it, or `absent`: it never arrived. */
export type Traced = Command | 'lost' | 'absent';
export const isCommand = (traced: Traced): traced is Command => typeof traced === 'object';

export type AgentStandingFound = {
  readonly standing: CommandStanding;
  /** When it was recorded: milliseconds of this process's monotonic clock. */
  readonly sentAt: number;
  /** The same by the store's clock, ISO, for people. */
  readonly since?: string;
};

/** The last intent, if it is for this very order and its command is not known to have been refused. */
export const findStanding = async ({ context }: AgentClient, order: Order): Promise<AgentStandingFound | undefined> => {
  const last = await context.intents.last();
  return last && last.detail.withdrawn !== true && last.detail.digest === orderDigest(order)
    ? { standing: last.detail as CommandStanding, sentAt: last.at, since: last.sent_at }
    : undefined;
};

const methodOf = (name: string): string => name.replace(/^.*\./, '');

/** A command that has ended well shows what it was; any other only its name. */
const mayBe = (order: Order, command: Command): boolean =>
  methodOf(command.command_name) === methodOf(order.name) &&
  (command.command_status !== 'SUCCEEDED' || order.fits === undefined || order.fits(command));

/** Waits out the settle window before it calls a command absent: it may still be on its way. */
export const trace = async (
  client: AgentClient,
  order: Order,
  { standing, sentAt }: AgentStandingFound,
): Promise<Traced> => {
  const { timing, signal, beat } = client.context;
  for (;;) {
    if ((await client.startedAt()) !== standing.started_at) return 'lost';
    if (standing.id !== undefined) return (await client.command(standing.id)) ?? 'lost';
    const commands = await client.commands();
    const since = commands.findIndex(({ id }) => id === standing.after) + 1;
    const found = commands.slice(since).find((command) => mayBe(order, command));
    if (found) return found;
    if (performance.now() - sentAt >= timing.settleMs) return 'absent';
    beat({ what: order.what, doing: 'looking whether the command arrived' });
    await pause(timing.pollMs, signal);
  }
};

/**
 * The command of an order whose intent the store has lost to a restore; undefined where the ramdisk's list does not prove it.
 * One that failed shows no arguments, so that beside it no command is known to be this order's.
 */
export const findUnrecorded = async (client: AgentClient, order: Order): Promise<Command | undefined> => {
  const { doubted, unrepeated } = client.context;
  if (!doubted || !unrepeated || order.effect !== 'once') return undefined;
  const ofKind = (await client.commands()).filter((one) => methodOf(one.command_name) === methodOf(order.name));
  if (ofKind.some(({ command_status }) => command_status !== 'SUCCEEDED')) return undefined;
  const fitting = ofKind.filter((one) => order.fits?.(one) === true);
  return fitting.length === 1 ? fitting[0] : undefined;
};

/** Errors after which the outcome of a command is unknown: another life of the ramdisk stands behind them. */
const otherLife: readonly string[] = ['AgentAuthFailed', 'AgentTlsFailed'];
const halfAnHour = 30 * 60_000;

/**
 * Ends waiting for a ramdisk that is gone for good, where its command must not be posted again: throws StepOutcomeUnknown
 * once it has been silent, over all attempts, for as long as a ramdisk may take to call back.
 */
export const noteSilence = async (client: AgentClient, order: Order, error: unknown): Promise<void> => {
  const { context } = client;
  if (order.effect !== 'once' || context.signal.aborted || !isTemperError(error)) return;
  const silent = error.code === 'AgentUnreachable';
  const found = silent || otherLife.includes(error.code) ? await findStanding(client, order) : undefined;
  if (!found) return;
  if (!silent) unknown(client, order, error.message);
  if (!found.standing.lost) return context.intents.record({ ...found.standing, lost: true });
  if (performance.now() - found.sentAt >= (context.timing.agentTimeoutMs ?? halfAnHour))
    unknown(client, order, `the ramdisk has not answered since ${found.since}`);
};
