/**
 * A command of the ramdisk, run once. The protocol cannot say "only if you have not yet", so before it is posted an intent
 * is recorded: what, to which life of the ramdisk, and after which other command. Whoever finds the intent looks for the
 * command behind it and goes on watching that one. Running commands do not show their arguments, their place shows whose
 * they are.
 */
import { createHash } from 'node:crypto';
import { isTemperError, raise, type TemperError } from '../../model/errors';
import { backOff, pause } from '../wait';
import { type AgentClient, isClosed } from './client';
import { type Command, wordsOf } from './replies';

export type Order = {
  /** With its extension: `standby.prepare_image`. */
  readonly name: string;
  /** For operators and errors: `write the image`. */
  readonly what: string;
  /** What makes two orders the same; only its digest is kept. */
  readonly identity: unknown;
  /** Made only when it is posted. */
  readonly params: () => Promise<Readonly<Record<string, unknown>>> | Readonly<Record<string, unknown>>;
  /** `once`: a command that a restart of the ramdisk has wiped out is never posted again. */
  readonly effect: 'once' | 'converge';
  /** Whether the ramdisk serves nobody any more once it is done. */
  readonly closes?: true;
  /** Whether a finished command that nobody here announced is this one all the same. */
  readonly fits?: (command: Command) => boolean;
};

/** What an intent of ours says. */
type Standing = {
  readonly digest: string;
  readonly started_at: number | string;
  readonly after: string | null;
  readonly id?: string;
  readonly sentAt: number;
};

/** The command behind an order, `lost` with the life of the ramdisk that had it, or `absent`: it never arrived. */
type Traced = Command | 'lost' | 'absent';

const methodOf = (name: string): string => name.replace(/^.*\./, '');
const running = ({ command_status }: Command): boolean => command_status === 'RUNNING';
const isCommand = (traced: Traced): traced is Command => typeof traced === 'object';

const passing: readonly string[] = ['AgentUnreachable', 'AgentServerError', 'AgentBusy'];

const digestOf = (order: Order): string =>
  createHash('sha256')
    .update(JSON.stringify([order.name, order.identity]))
    .digest('hex');

/** Throws what the command's failure amounts to. */
const judged = (client: AgentClient, order: Order, command: Command): Command => {
  const refuse = (reason: string) => raise('StepRejected', client.facts({ step: order.what, reason }));
  switch (command.command_status) {
    case 'SUCCEEDED':
      return command;
    case 'FAILED':
      return refuse(`the ramdisk failed: ${wordsOf(command.command_error)}`);
    case 'VERSION_MISMATCH':
    case 'CLEAN_VERSION_MISMATCH':
      return refuse(
        'the ramdisk has other versions of its hardware managers than when it listed its steps; start anew',
      );
    default:
      return refuse(`the ramdisk ended it with the unknown status ${command.command_status}`);
  }
};

/**
 * Runs an order to its end, whatever attempt this is. @returns the command that SUCCEEDED
 * @throws StepRejected (it failed, with the ramdisk's words), StepOutcomeUnknown, AgentUnreachable and the other Agent errors
 */
export const runCommand = async (client: AgentClient, order: Order): Promise<Command> => {
  const digest = digestOf(order);
  const { context } = client;
  const last = await context.intents.last();
  const mine = last && last.detail.withdrawn !== true && last.detail.digest === digest ? last : undefined;
  const standing = mine && ({ ...mine.detail, sentAt: Date.parse(mine.sent_at) } as Standing);
  const traced = standing ? await trace(client, order, standing) : 'absent';
  if (traced === 'lost' && order.effect === 'once') return unknown(client, order);
  return judged(
    client,
    order,
    isCommand(traced) ? await watch(client, order, traced) : await begin(client, order, digest),
  );
};

const unknown = (client: AgentClient, order: Order): never =>
  raise(
    'StepOutcomeUnknown',
    client.facts({ step: order.what, reason: 'the ramdisk has restarted since and remembers no commands' }),
  );

/** A command that has ended well shows what it was; any other only its name. */
const mayBe = (order: Order, command: Command): boolean =>
  methodOf(command.command_name) === methodOf(order.name) &&
  (command.command_status !== 'SUCCEEDED' || order.fits === undefined || order.fits(command));

/** Waits out the settle window before it calls a command absent: it may still be on its way. */
const trace = async (client: AgentClient, order: Order, standing: Standing): Promise<Traced> => {
  const { timing, signal, beat } = client.context;
  for (;;) {
    if ((await client.startedAt()) !== standing.started_at) return 'lost';
    if (standing.id !== undefined) return (await client.command(standing.id)) ?? 'lost';
    const commands = await client.commands();
    const since = commands.findIndex(({ id }) => id === standing.after) + 1;
    const found = commands.slice(since).find((command) => mayBe(order, command));
    if (found) return found;
    if (Date.now() - standing.sentAt >= timing.settleMs) return 'absent';
    beat({ what: order.what, doing: 'looking whether the command arrived' });
    await pause(timing.pollMs, signal);
  }
};

/** Posts the order once the ramdisk is idle. An equal command that ends well while we wait for it is as good. */
const begin = async (client: AgentClient, order: Order, digest: string): Promise<Command> => {
  const deadline = Date.now() + client.context.timing.powerTimeoutMs;
  for (;;) {
    const idle = await whenIdle(client, order);
    if (idle.equal) return idle.equal;
    const { context } = client;
    const detail = { command: order.name, digest, started_at: await client.startedAt(), after: idle.after };
    const params = await order.params();
    context.signal.throwIfAborted();
    await context.intents.record(detail);
    const sentAt = Date.now();
    const posted = await client.post(order.name, params).catch(async (error: unknown) => {
      // Thrown means that nothing was sent, unless we were stopped in the middle: then the intent must stand.
      if (!context.signal.aborted) await context.intents.record({ digest, withdrawn: true });
      throw error;
    });
    switch (posted.is) {
      case 'taken':
        await context.intents.record({ ...detail, id: posted.command.id });
        return watch(client, order, posted.command);
      case 'refused':
        await context.intents.record({ digest, withdrawn: true });
        if (posted.error.code !== 'AgentBusy' || Date.now() >= deadline) throw refusal(client, order, posted.error);
        await pause(context.timing.pollMs, context.signal);
        continue;
      case 'unknown': {
        context.log.warn('a command got no answer', {
          node_uuid: client.node.uuid,
          what: order.what,
          why: posted.error.message,
        });
        const traced = await patiently(client, order, () => trace(client, order, { ...detail, sentAt }));
        if (isCommand(traced)) return watch(client, order, traced);
        if (traced === 'lost' && order.effect === 'once') return unknown(client, order);
        if (Date.now() >= deadline) throw posted.error;
      }
    }
  }
};

/** A command that the ramdisk does not take is the step's failure, not the connection's. */
const refusal = (client: AgentClient, order: Order, error: TemperError): unknown => {
  if (error.code !== 'AgentRejected' || Number(error.facts.status) < 400) return error;
  try {
    return raise(
      'StepRejected',
      client.facts({ step: order.what, reason: `the ramdisk refused: ${error.facts.reason}` }),
    );
  } catch (refused) {
    return refused;
  }
};

/** Waits for whatever the ramdisk is doing; its commands are one at a time. */
const whenIdle = async (client: AgentClient, order: Order): Promise<{ after: string | null; equal?: Command }> => {
  const { timing, signal, beat } = client.context;
  const nextPause = backOff(timing.pollMs);
  const deadline = Date.now() + timing.powerTimeoutMs;
  let awaited: string | undefined;
  for (;;) {
    const commands = await client.commands();
    const last = commands.at(-1);
    if (!last || !running(last)) {
      const ended = commands.find(({ id }) => id === awaited);
      const equal = ended?.command_status === 'SUCCEEDED' && order.fits?.(ended) ? ended : undefined;
      return { after: last?.id ?? null, ...(equal && { equal }) };
    }
    awaited = last.id;
    beat({ what: order.what, doing: 'waiting for another command', command: last.command_name });
    // Somebody else's command may take hours; waiting for it is not worth a worker's slot.
    if (Date.now() >= deadline) raise('AgentBusy', client.facts({ reason: `it is executing ${last.command_name}` }));
    await pause(nextPause(), signal);
  }
};

/** Repeats a look that fails in passing, until that has lasted as long as a power state may. */
const patiently = async <T>(client: AgentClient, order: Order, look: () => Promise<T>): Promise<T> => {
  const { timing, signal, beat } = client.context;
  const nextPause = backOff(timing.pollMs);
  const deadline = Date.now() + timing.powerTimeoutMs;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      signal.throwIfAborted();
      if (!isTemperError(error) || !passing.includes(error.code) || Date.now() >= deadline) throw error;
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
  while (running(command)) {
    beat({ what: order.what, command: command.id, status: command.command_status });
    await pause(nextPause(), signal);
    const now = await patiently(client, order, () => client.command(command.id));
    // Whatever it did, the ramdisk that did it is gone. What converges is tried anew by the next attempt.
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

/** Asks a question that changes nothing. Throws like runCommand. */
export const askAgent = async (
  client: AgentClient,
  order: Pick<Order, 'name' | 'what' | 'params'>,
): Promise<Command> => {
  const asked: Order = { ...order, identity: null, effect: 'converge' };
  await whenIdle(client, asked);
  const posted = await client.post(order.name, await order.params());
  if (posted.is === 'taken') return judged(client, asked, await watch(client, asked, posted.command));
  throw posted.is === 'refused' ? refusal(client, asked, posted.error) : posted.error;
};
