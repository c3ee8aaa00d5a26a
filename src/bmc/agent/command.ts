/**
 * A ramdisk command, run once. The protocol has no conditional post, so an intent is recorded first: command, start time of the
 * ramdisk, and the command before it. An attempt that finds the intent looks for its command and watches that. Running commands do not
 * show their arguments, so their position in the list identifies them.
 */
import { isTemperError, raise, unreachable } from '../../model/errors';
import { refuseIfOutcomeUnknown } from '../announce';
import { backOff, pause } from '../wait';
import { type AgentClient, isClosed } from './client';
import { isRunning, judged, type Order, orderDigest, refusal, unknown } from './order';
import type { Command } from './replies';
import {
  type AgentStandingFound,
  type CommandStanding,
  findStanding,
  findUnrecorded,
  isCommand,
  noteSilence,
  trace,
} from './standing';

const passing: readonly string[] = ['AgentUnreachable', 'AgentServerError', 'AgentBusy'];

/**
 * Runs an order to its end, in any attempt. @returns the command that SUCCEEDED
 * @throws StepRejected, StepOutcomeUnknown, AgentUnreachable and the other Agent errors
 */
export const runCommand = async (client: AgentClient, order: Order): Promise<Command> => {
  try {
    return judged(client, order, await ended(client, order));
  } catch (error) {
    await noteSilence(client, order, error);
    throw error;
  }
};

const ended = async (client: AgentClient, order: Order): Promise<Command> => {
  const found = await findStanding(client, order);
  if (!found) return begin(client, order);
  const traced = await trace(client, order, found);
  if (traced === 'lost' && order.effect === 'once') return unknown(client, order);
  if (!isCommand(traced)) return begin(client, order);
  const { lost, ...standing } = found.standing;
  if (lost) await client.context.intents.record(standing);
  return watch(client, order, traced);
};

/** An equal command that succeeds during the wait for an idle ramdisk counts instead. */
const begin = async (client: AgentClient, order: Order): Promise<Command> => {
  const { timing, signal } = client.context;
  const deadline = performance.now() + timing.powerTimeoutMs;
  for (;;) {
    const { equal, after } = await whenIdle(client, order);
    const done = equal ?? (await findUnrecorded(client, order));
    const begun = done ?? (await announceAndPost(client, order, after));
    if (!(begun instanceof Error)) return watch(client, order, begun);
    if (performance.now() >= deadline) throw begun;
    await pause(timing.pollMs, signal);
  }
};

/** @returns the command, or the error after which it may be posted again */
const announceAndPost = async (client: AgentClient, order: Order, after: string | null): Promise<Command | Error> => {
  const { signal, intents } = client.context;
  const digest = orderDigest(order);
  const standing: CommandStanding = { command: order.name, digest, started_at: await client.startedAt(), after };
  const params = await order.params();
  signal.throwIfAborted();
  if (order.effect === 'once') refuseIfOutcomeUnknown(client);
  await intents.record(standing);
  const sentAt = performance.now();
  const posted = await client.post(order.name, params).catch(async (error: unknown) => {
    // An error means that nothing was sent, unless the signal aborted midway: then the intent stays.
    if (!signal.aborted) await intents.record({ digest, withdrawn: true });
    throw error;
  });
  switch (posted.is) {
    case 'taken':
      await intents.record({ ...standing, id: posted.command.id });
      return posted.command;
    case 'refused':
      await intents.record({ digest, withdrawn: true });
      if (posted.error.code === 'AgentBusy') return posted.error;
      throw refusal(client, order, posted.error);
    case 'unknown':
      return afterSilence(client, order, { standing, sentAt }, posted.error);
    default:
      return unreachable(posted);
  }
};

const afterSilence = async (
  client: AgentClient,
  order: Order,
  found: AgentStandingFound,
  error: Error,
): Promise<Command | Error> => {
  client.context.log.warn('a command got no answer', {
    node_uuid: client.node.uuid,
    what: order.what,
    why: error.message,
  });
  const traced = await patiently(client, order, () => trace(client, order, found));
  if (isCommand(traced)) return traced;
  return traced === 'lost' && order.effect === 'once' ? unknown(client, order) : error;
};

/** The ramdisk runs one command at a time. */
const whenIdle = async (client: AgentClient, order: Order): Promise<{ after: string | null; equal?: Command }> => {
  const { timing, signal, beat } = client.context;
  const nextPause = backOff(timing.pollMs);
  const deadline = performance.now() + timing.powerTimeoutMs;
  let awaited: string | undefined;
  for (;;) {
    const commands = await client.commands();
    const last = commands.at(-1);
    if (!last || !isRunning(last)) {
      const ended = commands.find(({ id }) => id === awaited);
      const equal = ended?.command_status === 'SUCCEEDED' && order.fits?.(ended) ? ended : undefined;
      return { after: last?.id ?? null, ...(equal && { equal }) };
    }
    awaited = last.id;
    beat({ what: order.what, doing: 'waiting for another command', command: last.command_name });
    // Another run's command may take hours, too long for a worker's slot.
    if (performance.now() >= deadline)
      raise('AgentBusy', client.facts({ reason: `it is executing ${last.command_name}` }));
    await pause(nextPause(), signal);
  }
};

/** Repeats a look after passing failures, until the power timeout has passed. */
const patiently = async <T>(client: AgentClient, order: Order, look: () => Promise<T>): Promise<T> => {
  const { timing, signal, beat } = client.context;
  const nextPause = backOff(timing.pollMs);
  const deadline = performance.now() + timing.powerTimeoutMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      signal.throwIfAborted();
      if (!isTemperError(error) || !passing.includes(error.code) || performance.now() >= deadline) throw error;
      if (order.closes && isClosed(error)) throw error;
      beat({ what: order.what, doing: 'waiting for the ramdisk to answer', why: error.message });
      await pause(nextPause(), signal);
    }
  }
};

const watch = async (client: AgentClient, order: Order, from: Command): Promise<Command> => {
  const { timing, signal, beat } = client.context;
  const nextPause = backOff(timing.pollMs);
  let command = from;
  while (isRunning(command)) {
    beat({ what: order.what, command: command.id, status: command.command_status });
    await pause(nextPause(), signal);
    const now = await patiently(client, order, () => client.command(command.id));
    // The restart lost the command's outcome. The next attempt repeats only a `converge` order.
    if (!now)
      return order.effect === 'once'
        ? unknown(client, order)
        : raise(
            'AgentServerError',
            client.facts({ status: 404, reason: 'it has restarted and forgotten the command' }),
          );
    command = now;
  }
  return command;
};

/** For commands that change nothing. Throws like runCommand. */
export const askAgent = async (
  client: AgentClient,
  order: Pick<Order, 'name' | 'what' | 'params'>,
): Promise<Command> => {
  const asked: Order = { ...order, identity: null, effect: 'converge' };
  await whenIdle(client, asked);
  const posted = await client.ask(order.name, await order.params());
  if (posted.is === 'taken') return judged(client, asked, await watch(client, asked, posted.command));
  throw posted.is === 'refused' ? refusal(client, asked, posted.error) : posted.error;
};
