/** Requests of one act to one ramdisk: bounded, and without redirects or repeats. */
import { Agent, type buildConnector, request } from 'undici';
import type { z } from 'zod';
import { hideSecrets } from '../../model/access/secrets';
import { bytesWithin } from '../../model/bodies';
import { isTemperError, TemperError } from '../../model/errors';
import { structureFault } from '../../model/json-structure';
import { storable } from '../../model/texts';
import type { ActContext, BmcNode, DriverDeps } from '../contract';
import { guardedConnector } from '../network';
import { lateError, whileOpen } from '../send-window';
import { type Contact, contactOf } from './contact';
import { Command, Commands, errorOfSilence, errorOfStatus, Status } from './replies';

/** `unknown`: the command may run; only a read can show it. */
type Posted =
  | { readonly is: 'taken'; readonly command: Command }
  | { readonly is: 'refused'; readonly error: TemperError }
  | { readonly is: 'unknown'; readonly error: TemperError };

export type AgentClient = {
  readonly node: BmcNode;
  readonly context: ActContext;
  facts(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Changes with each restart of the ramdisk. */
  startedAt(): Promise<number | string>;
  /** Oldest first. */
  commands(): Promise<Command[]>;
  /** Undefined if the ramdisk does not have it. */
  command(id: string): Promise<Command | undefined>;
  /** `name` includes the extension, like `clean.execute_clean_step`. Throws only if nothing was sent (CommandLate ...), or on abort. */
  post(name: string, params: Readonly<Record<string, unknown>>): Promise<Posted>;
  /** The same for a read-only command without an announcement. */
  ask(name: string, params: Readonly<Record<string, unknown>>): Promise<Posted>;
};

const maxAnswerBytes = 1024 * 1024;
const connectMs = 30_000;
const answerMs = 60_000;
const lastingCodes: readonly string[] = ['AgentTlsFailed', 'AgentAddressRefused'];

type AgentAnswer = { readonly status: number; readonly body: unknown };
type AgentRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly what: string;
  readonly mayStillSend?: () => boolean;
};

const structure = { depth: 40, values: 50_000 };

const parsedOrText = (bytes: Uint8Array): unknown => {
  if (structureFault(bytes, structure)) return undefined;
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Thrown if no answer came; never leaves this file. */
class Silence extends Error {
  constructor(readonly failed: ReturnType<typeof errorOfSilence>) {
    super('silence');
  }
}

/** Runs `work`, then closes the client's sockets. Throws contactOf's errors. */
export const withAgent = async <T>(
  deps: DriverDeps,
  node: BmcNode,
  context: ActContext,
  work: (client: AgentClient) => Promise<T>,
): Promise<T> => {
  const contact = contactOf(node);
  const limitMs = deps.limits?.answerMs ?? answerMs;
  const networks = deps.agentNetworks ?? deps.networks;
  const connect = guardedConnector({ ...deps, networks }, contact.tls, deps.limits?.connectMs ?? connectMs);
  const open: Sockets = (guard = (connector) => connector) =>
    new Agent({
      connect: guard(connect),
      headersTimeout: limitMs,
      bodyTimeout: limitMs,
      maxRedirections: 0,
      connections: 1,
    });
  const sockets = open();
  try {
    return await work(agentClient(contact, { sockets, open }, node, context));
  } finally {
    await sockets.destroy();
  }
};

type Connector = buildConnector.connector;
type Sockets = (guard?: (connector: Connector) => Connector) => Agent;

type Peer = {
  readonly contact: Contact;
  readonly sockets: Agent;
  readonly open: Sockets;
  readonly context: ActContext;
  /** The node's name or UUID, for errors. */
  readonly called: string;
};

const requestFacts = ({ called, contact }: Peer, what: string) => ({ node: called, agent: contact.label, what });

/** A ramdisk may quote the request, and with it the token. */
const masked = ({ contact }: Peer, error: TemperError): TemperError =>
  new TemperError(error.code, {
    ...error.facts,
    ...(typeof error.facts.reason === 'string' && { reason: hideSecrets(error.facts.reason, [contact.token]) }),
  });

const exchange = async (peer: Peer, { method, path, body, what, mayStillSend }: AgentRequest): Promise<AgentAnswer> => {
  const { contact, context, sockets, open } = peer;
  context.signal.throwIfAborted();
  const url = new URL(`${contact.base}${path}`);
  if (path !== '/v1/status') url.searchParams.set('agent_token', contact.token);
  // A command has its own connection, which checks the send window when it is open.
  const late = () => lateError(requestFacts(peer, what));
  const own = mayStillSend && open((connector) => whileOpen(connector, mayStillSend, late));
  try {
    const answer = await request(url, {
      dispatcher: own ?? sockets,
      method,
      signal: context.signal,
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const bytes = await bytesWithin(answer.body, maxAnswerBytes);
    context.answered?.();
    return { status: answer.statusCode, body: parsedOrText(bytes) };
  } catch (thrown) {
    context.signal.throwIfAborted();
    throw new Silence(errorOfSilence(thrown, requestFacts(peer, what)));
  } finally {
    void own?.destroy();
  }
};

const parsedAnswer = <T>(peer: Peer, { status, body }: AgentAnswer, schema: z.ZodType<T>, what: string): T => {
  const facts = requestFacts(peer, what);
  if (status >= 300) throw masked(peer, errorOfStatus(status, body, facts));
  const result = schema.safeParse(storable(body));
  if (result.success) return result.data;
  const where =
    body === undefined
      ? 'it is not JSON'
      : `it makes no sense at ${result.error.issues[0]?.path.join('.') || 'the top'}`;
  throw new TemperError('AgentServerError', { ...facts, status, reason: `of its reply to ${what}, ${where}` });
};

/** A read changes nothing, so a missing answer is an ordinary error. */
const reading = async (peer: Peer, path: string, what: string): Promise<AgentAnswer> => {
  try {
    return await exchange(peer, { method: 'GET', path, what });
  } catch (thrown) {
    throw thrown instanceof Silence ? thrown.failed.error : thrown;
  }
};

const get = async <T>(peer: Peer, path: string, schema: z.ZodType<T>, what: string): Promise<T> =>
  parsedAnswer(peer, await reading(peer, path, what), schema, what);

const findCommand = async (peer: Peer, id: string): Promise<Command | undefined> => {
  const what = 'the question for a command';
  const answer = await reading(peer, `/v1/commands/${encodeURIComponent(id)}`, what);
  return answer.status === 404 ? undefined : parsedAnswer(peer, answer, Command, what);
};

const post = async (
  peer: Peer,
  name: string,
  params: Readonly<Record<string, unknown>>,
  mayStillSend?: () => boolean,
): Promise<Posted> => {
  const path = '/v1/commands/?wait=false';
  try {
    const answer = await exchange(peer, { method: 'POST', path, body: { name, params }, what: name, mayStillSend });
    return { is: 'taken', command: parsedAnswer(peer, answer, Command, name) };
  } catch (thrown) {
    if (thrown instanceof Silence) {
      const { error, neverSent } = thrown.failed;
      if (neverSent || lastingCodes.includes(error.code)) throw error;
      return { is: 'unknown', error };
    }
    if (!isTemperError(thrown)) throw thrown;
    return { is: thrown.code === 'AgentServerError' ? 'unknown' : 'refused', error: thrown };
  }
};

const agentClient = (
  contact: Contact,
  sockets: { readonly sockets: Agent; readonly open: Sockets },
  node: BmcNode,
  context: ActContext,
): AgentClient => {
  const called = node.name ?? node.uuid;
  const peer: Peer = { contact, ...sockets, context, called };
  return {
    node,
    context,
    facts: (more) => ({ node: called, agent: contact.label, ...more }),
    startedAt: async () => (await get(peer, '/v1/status', Status, 'the question for its status')).started_at,
    commands: async () => (await get(peer, '/v1/commands/', Commands, 'the question for its commands')).commands,
    command: (id) => findCommand(peer, id),
    post: (name, params) => post(peer, name, params, context.mayStillSend),
    ask: (name, params) => post(peer, name, params),
  };
};

const closed: readonly unknown[] = ['the connection was refused', 'the connection was closed without an answer'];

/** True if the ramdisk serves no requests any more, while its host still answers. */
export const isClosed = (thrown: unknown): boolean =>
  isTemperError(thrown, 'AgentUnreachable') && closed.includes(thrown.facts.reason);
