/** Requests of one act on one BMC: reads that are parsed, writes that say whether their outcome is known. */
import type { z } from 'zod';
import { raise, type TemperError } from '../../../model/errors';
import type { ActContext, BmcNode } from '../../contract';
import type { Connection } from './connection';
import { isTransientRefusal, type Reply, wordsOf } from './replies';
import type { Answer } from './wire';

/** How a write ended. `unknown`: no answer came, or one that says nothing; only a later read can show it. */
export type Sent =
  | { readonly is: 'accepted'; readonly reply: Reply }
  | { readonly is: 'refused'; readonly reply: Reply; readonly error: TemperError; readonly transient: boolean }
  | { readonly is: 'unknown'; readonly error: TemperError };

export type Read<T> = { readonly value: T; readonly etag: string | undefined; readonly headers: Reply['headers'] };

export type Client = {
  readonly node: BmcNode;
  readonly context: ActContext;
  readonly connection: Connection;
  readonly label: string;
  /** Facts for an error of this node and BMC. */
  facts(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  /** Throws an error of the list. */
  get<T>(path: string, schema: z.ZodType<T>): Promise<Read<T>>;
  /** Like get; undefined when the BMC does not have it: 404, 405, 501, or a licence is missing. */
  find<T>(
    path: string | undefined,
    schema: z.ZodType<T>,
    how?: { readonly large?: boolean },
  ): Promise<Read<T> | undefined>;
  /** Throws only where nothing was sent (BmcUnreachable, BmcAddressRefused, ...), where credentials fail, or on abort. */
  post(path: string, body: unknown, what: string): Promise<Sent>;
  /** Sends If-Match, working down the ladder of what BMCs accept. */
  patch(path: string, body: unknown, what: string): Promise<Sent>;
  /** Like post. */
  remove(path: string, body: unknown, what: string): Promise<Sent>;
};

const redirects: readonly number[] = [301, 302, 303, 307, 308];

const strong = (etag: string): string => etag.replace(/^W\//, '');

/** Answers that are about the precondition, not about the body. */
const isPrecondition = (reply: Reply): boolean =>
  reply.status === 412 || reply.status === 428 || /Precondition(Failed|HeaderMissing|Required)/.test(wordsOf(reply));

export const createClient = (node: BmcNode, context: ActContext, connection: Connection): Client => {
  const { address } = connection.settings;
  const label = address.label;
  const called = node.name ?? node.uuid;
  const facts = (more?: Readonly<Record<string, unknown>>) => ({ node: called, bmc: label, ...more });

  /** A link stays at the BMC: whatever leads elsewhere is refused before anything is sent there. */
  const resolve = (path: string, what: string): string => {
    const url = URL.canParse(path, address.origin) ? new URL(path, address.origin) : undefined;
    if (url?.origin !== address.origin)
      return raise('BmcRejected', facts({ what, status: 'link', reason: 'it points to another host' }));
    return `${url.pathname}${url.search}`;
  };

  const read = async (path: string, large = false, follow = 3): Promise<Reply> => {
    const what = `GET ${path}`;
    const ask = {
      method: 'GET' as const,
      path: resolve(path, what),
      large,
      signal: context.signal,
      node: called,
      what,
    };
    let answer = await connection.ask(ask);
    // Some BMCs refuse uncompressed replies for their registries.
    if ('reply' in answer && answer.reply.status === 406)
      answer = await connection.ask({ ...ask, headers: { 'accept-encoding': '*' } });
    if ('failed' in answer) throw answer.failed.error;
    const { reply } = answer;
    if (!redirects.includes(reply.status)) return reply;
    const to = reply.headers.location;
    if (to === undefined || follow === 0)
      return raise('BmcRejected', facts({ what, status: reply.status, reason: 'it redirects nowhere' }));
    return read(resolve(to, what), large, follow - 1);
  };

  const parsed = <T>(reply: Reply, schema: z.ZodType<T>, path: string): Read<T> => {
    const what = `GET ${path}`;
    if (reply.status >= 400 || reply.garbled) throw connection.errorOf(reply, { node: called, what });
    const result = schema.safeParse(reply.body);
    if (!result.success) {
      const [issue] = result.error.issues;
      const reason = `its reply to ${what} makes no sense at ${issue?.path.join('.') || 'the top'}`;
      return raise('BmcServerError', facts({ status: reply.status, reason, what }));
    }
    const inBody = (reply.body as Record<string, unknown>)['@odata.etag'];
    const etag = reply.headers.etag || (typeof inBody === 'string' ? inBody : undefined);
    return { value: result.data, etag: etag === '""' || etag === '' ? undefined : etag, headers: reply.headers };
  };

  const settle = (answer: Answer, what: string): Sent => {
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

  const write = async (
    method: 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body: unknown,
    what: string,
    etag?: string,
  ) => {
    const headers = etag === undefined ? undefined : { 'if-match': etag };
    const { signal, mayStillSend } = context;
    const asked = { method, path: resolve(path, what), body, headers, signal, mayStillSend, node: called, what };
    return settle(await connection.ask(asked), what);
  };

  const etagOf = async (path: string): Promise<string | undefined> => {
    const reply = await read(path);
    const inBody = (reply.body as Record<string, unknown> | undefined)?.['@odata.etag'];
    return reply.headers.etag || (typeof inBody === 'string' && inBody !== '' ? inBody : undefined);
  };

  /**
   * As given, again if it changed meanwhile (sensors in the same document), weak turned strong, without, and a last time as
   * given. A refused precondition means that nothing was written, so each rung may send.
   */
  const patch = async (path: string, body: unknown, what: string): Promise<Sent> => {
    let sent: Sent | undefined;
    // Each rung is a request of its own, and with slow BMCs the ladder is long.
    const renew = async () => sent && context.intents.renew();
    for (const rung of ['given', 'given', 'strong', 'none', 'any', 'given'] as const) {
      if (rung === 'any' && sent?.is === 'refused' && sent.reply.status !== 428) continue;
      const etag = rung === 'none' ? undefined : await etagOf(path);
      if (rung === 'strong' && (etag === undefined || strong(etag) === etag)) continue;
      const match = { given: etag, strong: etag && strong(etag), none: undefined, any: '*' }[rung];
      await renew();
      sent = await write('PATCH', path, body, what, match);
      if (sent.is !== 'refused' || !isPrecondition(sent.reply)) return sent;
    }
    return sent!;
  };

  return {
    node,
    context,
    connection,
    label,
    facts,
    get: async (path, schema) => parsed(await read(path), schema, path),
    async find(path, schema, how) {
      if (path === undefined) return undefined;
      const reply = await read(path, how?.large);
      const absent = connection.errorOf(reply, { node: called, what: `GET ${path}` });
      if (reply.status === 404 || (reply.status >= 400 && absent.code === 'BmcUnsupported')) return undefined;
      return parsed(reply, schema, path);
    },
    post: (path, body, what) => write('POST', path, body, what),
    remove: (path, body, what) => write('DELETE', path, body, what),
    patch,
  };
};
