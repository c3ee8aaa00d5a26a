/** Intents of ramdisk commands, and the search for the commands. */
import { isTemperError } from '../../model/errors';
import { pause } from '../wait';
import type { AgentClient } from './client';
import { type Order, orderDigest, unknown } from './order';
import type { Command } from './replies';

/** Detail of an intent for a ramdisk command. */
export type CommandStanding = {
  readonly digest: string;
  readonly command: string;
  /** Start time of the ramdisk that got the command. */
  readonly started_at: number | string;
  /** Id of the last command before it. */
  readonly after: string | null;
  readonly id?: string;
  readonly lost?: true;
};

/** `lost`: by a restart of the ramdisk. `absent`: it never arrived. */
export type Traced = Command | 'lost' | 'absent';
export const isCommand = (traced: Traced): traced is Command => typeof traced === 'object';

export type AgentStandingFound = {
  readonly standing: CommandStanding;
  /** Time of the record in milliseconds of this process's monotonic clock. */
  readonly sentAt: number;
  /** The same in ISO form by PostgreSQL's clock, for display. */
  readonly since?: string;
};

export const findStanding = async ({ context }: AgentClient, order: Order): Promise<AgentStandingFound | undefined> => {
  const last = await context.intents.last();
  return last && last.detail.withdrawn !== true && last.detail.digest === orderDigest(order)
    ? { standing: last.detail as CommandStanding, sentAt: last.at, since: last.sent_at }
    : undefined;
};

const methodOf = (name: string): string => name.replace(/^.*\./, '');

/** Only a succeeded command shows its arguments; others match by name. */
const mayBe = (order: Order, command: Command): boolean =>
  methodOf(command.command_name) === methodOf(order.name) &&
  (command.command_status !== 'SUCCEEDED' || order.fits === undefined || order.fits(command));

/** Waits for the settle window before it returns `absent`, as the command may still arrive. */
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
 * Finds the command of an order whose intent was lost when the database was restored. A failed command shows no arguments, so beside
 * one the list proves nothing.
 */
export const findUnrecorded = async (client: AgentClient, order: Order): Promise<Command | undefined> => {
  const { doubted, unrepeated } = client.context;
  if (!doubted || !unrepeated || order.effect !== 'once') return undefined;
  const ofKind = (await client.commands()).filter((one) => methodOf(one.command_name) === methodOf(order.name));
  if (ofKind.some(({ command_status }) => command_status !== 'SUCCEEDED')) return undefined;
  const fitting = ofKind.filter((one) => order.fits?.(one) === true);
  return fitting.length === 1 ? fitting[0] : undefined;
};

/** These errors mean another start of the ramdisk, so the command's outcome is unknown. */
const otherLife: readonly string[] = ['AgentAuthFailed', 'AgentTlsFailed'];
const halfAnHour = 30 * 60_000;

/**
 * Ends the wait for a command that must not be repeated. Throws StepOutcomeUnknown if the silence over all attempts exceeds the time
 * to call back.
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
