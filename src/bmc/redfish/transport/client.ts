/** Redfish requests of one act to one BMC: parsed reads and writes. */
import type { z } from 'zod';
import { raise, type TemperError } from '../../../model/errors';
import type { ActContext, BmcNode } from '../../contract';
import type { Connection } from './connection';
import { isTransientRefusal, messageTextOf, type Reply } from './replies';
import type { WireAnswer } from './wire';

/** `unknown`: no answer or a meaningless one; only a later read can show the effect. */
export type Sent =
  | { readonly is: 'accepted'; readonly reply: Reply }
  | { readonly is: 'refused'; readonly reply: Reply; readonly error: TemperError; readonly transient: boolean }
  | { readonly is: 'unknown'; readonly error: TemperError };

export type ReadResource<T> = {
  readonly value: T;
  readonly etag: string | undefined;
  readonly headers: Reply['headers'];
};

export type Client = {
  readonly node: BmcNode;
  readonly context: ActContext;
  readonly connection: Connection;
  readonly label: string;
  facts(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Throws an error of the list. */
  get<T>(path: string, schema: z.ZodType<T>): Promise<ReadResource<T>>;
  /** Undefined for 404, 405, 501, or a missing licence. */
  find<T>(
    path: string | undefined,
    schema: z.ZodType<T>,
    how?: { readonly large?: boolean },
  ): Promise<ReadResource<T> | undefined>;
  /** Throws only if nothing was sent (BmcUnreachable, BmcAddressRefused, ...), if credentials fail, or on abort. */
  post(path: string, body: unknown, what: string): Promise<Sent>;
  /** Sends If-Match, in all forms that BMCs accept. */
  patch(path: string, body: unknown, what: string): Promise<Sent>;
  /** Throws like post. */
  remove(path: string, body: unknown, what: string): Promise<Sent>;
};

const redirects: readonly number[] = [301, 302, 303, 307, 308];

const strong = (etag: string): string => etag.replace(/^W\//, '');

/** The refusal is about the precondition, not the body. */
const isPrecondition = (reply: Reply): boolean =>
  reply.status === 412 ||
  reply.status === 428 ||
  /Precondition(Failed|HeaderMissing|Required)/.test(messageTextOf(reply));

type Peer = Pick<Client, 'node' | 'context' | 'connection' | 'label' | 'facts'> & {
  /** The node's name or UUID, for errors. */
  readonly called: string;
};

/** Refuses links to another host before anything is sent. */
const pathAtBmc = ({ connection, facts }: Peer, path: string, what: string): string => {
  const { origin } = connection.settings.address;
  const url = URL.canParse(path, origin) ? new URL(path, origin) : undefined;
  if (url?.origin !== origin)
    return raise('BmcRejected', facts({ what, status: 'link', reason: 'it points to another host' }));
  return `${url.pathname}${url.search}`;
};

const readPath = async (peer: Peer, path: string, large = false, follow = 3): Promise<Reply> => {
  const what = `GET ${path}`;
  const { connection, context, called: node } = peer;
  const ask = { method: 'GET' as const, path: pathAtBmc(peer, path, what), large, signal: context.signal, node, what };
  let answer = await connection.ask(ask);
  // Some BMCs refuse uncompressed replies for their registries.
  if ('reply' in answer && answer.reply.status === 406)
    answer = await connection.ask({ ...ask, headers: { 'accept-encoding': '*' } });
  if ('failed' in answer) throw answer.failed.error;
  const { reply } = answer;
  if (!redirects.includes(reply.status)) return reply;
  const to = reply.headers.location;
  if (to === undefined || follow === 0)
    return raise('BmcRejected', peer.facts({ what, status: reply.status, reason: 'it redirects nowhere' }));
  return readPath(peer, pathAtBmc(peer, to, what), large, follow - 1);
};

/** Header first; an empty one counts as absent. */
const etagIn = ({ headers, body }: Reply): string | undefined => {
  const inBody = (body as Record<string, unknown> | undefined)?.['@odata.etag'];
  return headers.etag || (typeof inBody === 'string' && inBody !== '' ? inBody : undefined);
};

const parsedReply = <T>(peer: Peer, reply: Reply, schema: z.ZodType<T>, path: string): ReadResource<T> => {
  const what = `GET ${path}`;
  if (reply.status >= 400 || reply.garbled) throw peer.connection.errorOf(reply, { node: peer.called, what });
  const result = schema.safeParse(reply.body);
  if (!result.success) {
    const [issue] = result.error.issues;
    const reason = `its reply to ${what} makes no sense at ${issue?.path.join('.') || 'the top'}`;
    return raise('BmcServerError', peer.facts({ status: reply.status, reason, what }));
  }
  const etag = etagIn(reply);
  return { value: result.data, etag: etag === '""' ? undefined : etag, headers: reply.headers };
};

const find = async <T>(peer: Peer, path: string, schema: z.ZodType<T>, large?: boolean) => {
  const reply = await readPath(peer, path, large);
  const absent = peer.connection.errorOf(reply, { node: peer.called, what: `GET ${path}` });
  if (reply.status === 404 || (reply.status >= 400 && absent.code === 'BmcUnsupported')) return undefined;
  return parsedReply(peer, reply, schema, path);
};

const outcomeOf = ({ connection, called }: Peer, answer: WireAnswer, what: string): Sent => {
  if ('failed' in answer) {
    if (answer.failed.neverSent) throw answer.failed.error;
    return { is: 'unknown', error: answer.failed.error };
  }
  const { reply } = answer;
  if (reply.status < 300) return { is: 'accepted', reply };
  const error = connection.errorOf(reply, { node: called, what });
  if (redirects.includes(reply.status)) throw error;
  const transient = isTransientRefusal(reply);
  if (reply.status >= 500 && ![501, 503].includes(reply.status) && !transient) return { is: 'unknown', error };
  return { is: 'refused', reply, error, transient };
};

type WriteRequest = {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body: unknown;
  readonly what: string;
  readonly etag?: string;
};

const write = async (peer: Peer, { method, path, body, what, etag }: WriteRequest): Promise<Sent> => {
  const headers = etag === undefined ? undefined : { 'if-match': etag };
  const { signal, mayStillSend } = peer.context;
  const to = pathAtBmc(peer, path, what);
  return outcomeOf(
    peer,
    await peer.connection.ask({ method, path: to, body, headers, signal, mayStillSend, node: peer.called, what }),
    what,
  );
};

/**
 * Tries the ETag twice, as sensors in the document may change it, then strong, none, `*`, and as given. A refused precondition means
 * that nothing was written.
 */
const patch = async (peer: Peer, path: string, body: unknown, what: string): Promise<Sent> => {
  let sent: Sent | undefined;
  for (const rung of ['given', 'given', 'strong', 'none', 'any', 'given'] as const) {
    if (rung === 'any' && sent?.is === 'refused' && sent.reply.status !== 428) continue;
    const etag = rung === 'none' ? undefined : etagIn(await readPath(peer, path));
    if (rung === 'strong' && (etag === undefined || strong(etag) === etag)) continue;
    const match = { given: etag, strong: etag && strong(etag), none: undefined, any: '*' }[rung];
    // With slow BMCs the tries outlast the send window.
    if (sent) await peer.context.intents.renew();
    sent = await write(peer, { method: 'PATCH', path, body, what, etag: match });
    if (sent.is !== 'refused' || !isPrecondition(sent.reply)) return sent;
  }
  return sent!;
};

export const createRedfishClient = (node: BmcNode, context: ActContext, connection: Connection): Client => {
  const { label } = connection.settings.address;
  const called = node.name ?? node.uuid;
  const facts = (more?: Readonly<Record<string, unknown>>) => ({ node: called, bmc: label, ...more });
  const peer = { node, context, connection, label, called, facts };
  return {
    node,
    context,
    connection,
    label,
    facts,
    get: async (path, schema) => parsedReply(peer, await readPath(peer, path), schema, path),
    find: async (path, schema, how) => (path === undefined ? undefined : find(peer, path, schema, how?.large)),
    post: (path, body, what) => write(peer, { method: 'POST', path, body, what }),
    remove: (path, body, what) => write(peer, { method: 'DELETE', path, body, what }),
    patch: (path, body, what) => patch(peer, path, body, what),
  };
};
