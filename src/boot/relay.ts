/** Relays ramdisk requests to the API's ramdisk listener. The ramdisks' network then reaches only the boot service's port. */
import { type ClientRequest, type IncomingMessage, request as requestPlainly, type ServerResponse } from 'node:http';
import { request as requestByTls } from 'node:https';
import { pipeline } from 'node:stream';
import { peerAddress } from '../model/access/bmc-addresses';
import { senderAddress, senderKey, type Trusts } from '../model/access/senders';
import { boundedLines } from '../model/bounded-lines';
import { createTurnstile, type Turnstile } from '../model/turnstile';
import type { Log } from './contents';
import { answerEmpty } from './send';

export type RelayDeps = {
  readonly api: URL;
  /** True for a proxy in front of the boot service. Its X-Forwarded-For is trusted. */
  readonly trusts: Trusts;
  readonly log: Log;
  /** Time limit of the API's response, in milliseconds. */
  readonly answerMs?: number;
  /** Concurrent requests, with a body and without: in total, and per sender. */
  readonly atOnce?: number;
  readonly ofOne?: number;
};

const usualAnswerMs = 60_000;
// The API reads 32 ramdisk bodies at once, 4 of one sender. A few more wait here; this bounds memory.
const usualAtOnce = 64;
const usualOfOne = 8;

// RFC 3986, without #. Paths with other characters do not match.
const query = String.raw`(?:\?[\w.~!$&'()*+,;=:@%/?-]*)?`;
const looking = ['GET', 'HEAD'];

/** Paths as ramdisks spell them. No other path reaches the API. */
const offered: readonly { readonly path: RegExp; readonly methods: readonly string[] }[] = [
  { path: /^\/(?:v1\/?)?$/, methods: looking },
  { path: new RegExp(`^/v1/lookup${query}$`), methods: looking },
  { path: new RegExp(String.raw`^/v1/heartbeat/(?!\.{1,2}(?:\?|$))[\w.~-]{1,255}${query}$`), methods: ['POST'] },
  { path: new RegExp(`^/v1/continue_inspection${query}$`), methods: ['POST'] },
];

const offeredAt = (url: string | undefined) => offered.find(({ path }) => path.test(url ?? ''));

export const isRelayed = (url: string | undefined): boolean => offeredAt(url) !== undefined;

/** Drops all other headers, above all those that name the sender or frame the body. */
const passedOn = [
  'accept',
  'content-encoding',
  'content-type',
  'if-match',
  'openstack-api-version',
  'openstack-request-id',
  'user-agent',
  'x-openstack-ironic-api-version',
  'x-openstack-request-id',
];

/** RFC 9110, section 7.6.1: hop-by-hop headers. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Marks relayed requests. The API then requires this service among its trusted proxies. */
const via = '1.1 temper-boot';
/** The sender's address. If the API resolves another one, one of the two trusts too few or too many proxies. */
const senderHeader = 'x-temper-ramdisk';

const hostPattern = /^[\w.:[\]-]{1,255}$/;

/** The sender's own X-Forwarded-For is kept only from a trusted proxy. */
const forwardedFor = ({ trusts }: RelayDeps, request: IncomingMessage): string => {
  const address = peerAddress(request.socket.remoteAddress);
  const given = request.headers['x-forwarded-for'];
  return given !== undefined && trusts(address) ? `${given}, ${address}` : address;
};

/** Undefined without a body. */
const framingOf = ({ method, headers }: IncomingMessage): Record<string, string> | undefined => {
  if (method !== 'POST') return undefined;
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' };
  const length = headers['content-length'];
  return length === undefined ? undefined : { 'content-length': length };
};

const headersOn = (deps: RelayDeps, request: IncomingMessage): Record<string, string> => {
  const { headers } = request;
  const given = passedOn.flatMap((name) =>
    headers[name] === undefined ? [] : [[name, String(headers[name])] as const],
  );
  const host = headers.host ?? '';
  return {
    ...Object.fromEntries(given),
    ...framingOf(request),
    // The API builds links from it.
    host: hostPattern.test(host) ? host : deps.api.host,
    'x-forwarded-for': forwardedFor(deps, request),
    via,
    [senderHeader]: senderAddress(request, deps.trusts),
    // The API reads the rest of a refused body. Closing the connection could lose its response.
    connection: 'keep-alive',
  };
};

/** One connection per request rules out request smuggling. */
const open = (deps: RelayDeps, request: IncomingMessage): ClientRequest => {
  const { api, answerMs = usualAnswerMs } = deps;
  const send = api.protocol === 'https:' ? requestByTls : requestPlainly;
  return send({
    protocol: api.protocol,
    hostname: api.hostname.replace(/^\[|\]$/g, ''),
    port: api.port,
    path: `${api.pathname.replace(/\/$/, '')}${request.url}`,
    method: request.method,
    headers: headersOn(deps, request),
    agent: false,
    timeout: answerMs,
  });
};

const answerHeaders = ({ headers }: IncomingMessage) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));

/** Sends the API's response. Drains the request body, so that the sender gets to read the response. */
const answerWith = (
  request: IncomingMessage,
  response: ServerResponse,
  onward: ClientRequest,
  answer: IncomingMessage,
) => {
  request.unpipe(onward);
  request.resume();
  response.writeHead(answer.statusCode!, answerHeaders(answer));
  pipeline(answer, response, () => onward.destroy());
};

type Passing = RelayDeps & { readonly warn: ReturnType<typeof boundedLines> };

const passOn = (deps: Passing, request: IncomingMessage, response: ServerResponse): void => {
  const onward = open(deps, request);
  onward.on('response', (answer) => answerWith(request, response, onward, answer));
  onward.on('timeout', () => onward.destroy(new Error('no answer in time')));
  onward.on('error', (error: NodeJS.ErrnoException) => {
    if (response.destroyed || response.headersSent) return;
    const sender = senderKey(senderAddress(request, deps.trusts));
    deps.warn({ sender }, 'ramdisk request not passed on', { reason: error.code ?? error.message });
    request.unpipe(onward);
    answerEmpty(response, 502, { 'retry-after': '5', connection: 'close' });
  });
  // The sender's disconnect aborts the API's request.
  response.on('close', () => onward.destroy());
  // The API's body timeout then starts as for a direct sender.
  onward.flushHeaders();
  if (framingOf(request)) request.pipe(onward);
  else onward.end();
};

/** @returns frees both slots, in total and of the sender; undefined if there is none */
const placeOf = (
  deps: RelayDeps,
  { all, senders }: { readonly all: Turnstile; readonly senders: Turnstile },
  request: IncomingMessage,
): (() => void) | undefined => {
  const kind = framingOf(request) ? 'with a body' : 'without';
  const sender = `${kind} ${senderKey(senderAddress(request, deps.trusts))}`;
  if (!senders.enter(sender)) return undefined;
  if (all.enter(kind)) return () => [all.leave(kind), senders.leave(sender)];
  senders.leave(sender);
  return undefined;
};

/** @returns handles requests for which `isRelayed` is true */
export const createRelay = (deps: RelayDeps): ((request: IncomingMessage, response: ServerResponse) => void) => {
  const warn = boundedLines((message, facts) => deps.log.warn(message, facts));
  const turnstiles = {
    all: createTurnstile(deps.atOnce ?? usualAtOnce),
    senders: createTurnstile(deps.ofOne ?? usualOfOne),
  };
  return (request, response) => {
    const methods = offeredAt(request.url)?.methods ?? [];
    const refuse = (status: number, headers: Record<string, string>) => {
      request.resume();
      answerEmpty(response, status, headers);
    };
    if (!methods.includes(request.method ?? '')) return refuse(405, { allow: methods.join(', ') });
    const leave = placeOf(deps, turnstiles, request);
    if (!leave) return refuse(503, { 'retry-after': '1' });
    response.once('close', leave);
    passOn({ ...deps, warn }, request, response);
  };
};
