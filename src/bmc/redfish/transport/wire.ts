/** Sockets to one BMC. A request is sent exactly once and only to that BMC. */
import { Client, request } from 'undici';
import { bytesWithin } from '../../../model/bodies';
import { isTemperError, raise, type TemperError } from '../../../model/errors';
import { type StructureLimits, structureFault } from '../../../model/json-structure';
import type { BmcRequestKind, DriverDeps } from '../../contract';
import { guardedConnector, type Tls } from '../../network';
import { lateError, whileOpen } from '../../send-window';
import { errorOfFailure, type Reply } from './replies';
import type { RedfishSettings } from './settings';

type RedfishMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

export type WireRequest = {
  readonly method: RedfishMethod;
  /** Needed if the method does not imply it. */
  readonly kind?: BmcRequestKind;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** For answers as large as a BIOS registry. */
  readonly large?: boolean;
  readonly signal: AbortSignal;
  /** For a command: checked when its connection is open, right before it is written. */
  readonly mayStillSend?: () => boolean;
  /** For errors. */
  readonly node: string;
  readonly what: string;
};

/** `neverSent` false on a write: its outcome is unknown. */
type Failed = { readonly error: TemperError; readonly neverSent: boolean };
export type WireAnswer = { readonly reply: Reply } | { readonly failed: Failed };

export type Wire = {
  /** Throws BmcAddressRefused, BmcTlsFailed, BmcRejected for a link to another host, and the signal's reason. */
  send(ask: WireRequest, credentials: Readonly<Record<string, string>>): Promise<WireAnswer>;
  close(): Promise<void>;
};

type ReplyLimits = StructureLimits & { readonly bytes: number };

// The largest valid documents are BIOS registries of two to three megabytes.
const ordinary: ReplyLimits = { bytes: 2 * 1024 * 1024, depth: 40, values: 100_000 };
const large: ReplyLimits = { bytes: 8 * 1024 * 1024, depth: 40, values: 400_000 };
const connectMs = 30_000;
const answerMs = 60_000;

const tooMuch = (): Error => Object.assign(new Error('too much'), { code: 'BMC_REPLY_TOO_MUCH' });

/** Values are counted before parsing: a nested reply of some megabytes would block the worker for seconds. */
const replyText = async (body: AsyncIterable<Uint8Array>, limits: ReplyLimits): Promise<string> => {
  const bytes = await bytesWithin(body, limits.bytes);
  if (structureFault(bytes, limits)) throw tooMuch();
  return new TextDecoder().decode(bytes);
};

const parseReply = (text: string): { body: unknown; garbled: boolean } => {
  if (text.trim() === '') return { body: undefined, garbled: false };
  try {
    return { body: JSON.parse(text), garbled: false };
  } catch {
    return { body: undefined, garbled: true };
  }
};

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]));

const always = { accept: 'application/json', 'accept-encoding': 'identity', 'odata-version': '4.0' } as const;

/** True if no later attempt can mend the failure. */
const isLasting = (error: TemperError): boolean =>
  isTemperError(error, 'BmcAddressRefused') ||
  isTemperError(error, 'BmcTlsFailed') ||
  isTemperError(error, 'CommandLate');

type Connector = ReturnType<typeof guardedConnector>;
type BmcCredentials = Readonly<Record<string, string>>;

const socketsTo = (origin: string, connect: Connector, limitMs: number): Client =>
  new Client(origin, {
    connect,
    // No keep-alive: several BMCs drop the connection after a reply, and the next request on it fails.
    pipelining: 0,
    headersTimeout: limitMs,
    bodyTimeout: limitMs,
  });

const exchange = async (
  sockets: Client,
  url: URL,
  ask: WireRequest,
  credentials: BmcCredentials,
): Promise<WireAnswer> => {
  const { method, signal, body, headers } = ask;
  const answer = await request(url, {
    dispatcher: sockets,
    method,
    signal,
    reset: true,
    headers: {
      ...always,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...credentials,
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await replyText(answer.body, ask.large ? large : ordinary);
  return { reply: { status: answer.statusCode, headers: flat(answer.headers), ...parseReply(text) } };
};

export const createWire = ({ address }: RedfishSettings, tls: Tls, deps: DriverDeps): Wire => {
  const limitMs = deps.limits?.answerMs ?? answerMs;
  const connect = guardedConnector(deps, tls, deps.limits?.connectMs ?? connectMs);
  const open = new Set<Client>();
  let closed = false;

  /** Each request has its own sockets, closed afterwards: a worker may have a hundred thousand BMCs. */
  const sendOne = async (
    ask: WireRequest,
    url: URL,
    credentials: BmcCredentials,
    facts: object,
  ): Promise<WireAnswer> => {
    const { mayStillSend } = ask;
    const own = mayStillSend ? whileOpen(connect, mayStillSend, () => lateError({ ...facts })) : connect;
    const sockets = socketsTo(address.origin, own, limitMs);
    if (closed) await sockets.destroy();
    open.add(sockets);
    try {
      // The answer closes its socket (`reset`). Destroying a client without sockets would cost an error with its stack.
      return await exchange(sockets, url, ask, credentials);
    } catch (thrown) {
      void sockets.destroy();
      throw thrown;
    } finally {
      open.delete(sockets);
    }
  };

  return {
    async send(ask, credentials) {
      const facts = { node: ask.node, bmc: address.label, what: ask.what };
      ask.signal.throwIfAborted();
      const url = new URL(ask.path, address.origin);
      // Credentials go only to the node's BMC, whatever a link contains.
      if (url.origin !== address.origin)
        raise('BmcRejected', { ...facts, status: 'link', reason: 'it points to another host' });
      try {
        return await sendOne(ask, url, credentials, facts);
      } catch (thrown) {
        ask.signal.throwIfAborted();
        const failed = errorOfFailure(thrown, facts);
        if (isLasting(failed.error)) throw failed.error;
        return { failed };
      }
    },
    async close() {
      closed = true;
      await Promise.all([...open].map((sockets) => sockets.destroy()));
    },
  };
};
