/** Passes what ramdisks ask on to the API's listener for ramdisks, so that their network reaches no port but the boot service's. */
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
  /** The API's listener for ramdisks. */
  readonly api: URL;
  /** Whether an address is that of a proxy in front of the boot service, whose X-Forwarded-For is believed. */
  readonly trusts: Trusts;
  readonly log: Log;
  /** How long the API may take to answer, milliseconds. */
  readonly answerMs?: number;
  /** Requests of each kind (with a body, without) that are passed on at once: of all senders, and of one. */
  readonly atOnce?: number;
  readonly ofOne?: number;
};

const usualAnswerMs = 60_000;
// The API reads 32 bodies of ramdisks at once and 4 of one sender: a few more wait here, and memory has its bound.
const usualAtOnce = 64;
const usualOfOne = 8;

// RFC 3986, without #: a path with any other character is none of these.
const query = String.raw`(?:\?[\w.~!$&'()*+,;=:@%/?-]*)?`;
const looking = ['GET', 'HEAD'];

/** What ramdisks ask, each path as they spell it; no other leads to the API. */
const offered: readonly { readonly path: RegExp; readonly methods: readonly string[] }[] = [
  { path: /^\/(?:v1\/?)?$/, methods: looking },
  { path: new RegExp(`^/v1/lookup${query}$`), methods: looking },
  { path: new RegExp(String.raw`^/v1/heartbeat/(?!\.{1,2}(?:\?|$))[\w.~-]{1,255}${query}$`), methods: ['POST'] },
  { path: new RegExp(`^/v1/continue_inspection${query}$`), methods: ['POST'] },
];

const offeredAt = (url: string | undefined) => offered.find(({ path }) => path.test(url ?? ''));

/** Whether a request's URL is one that is passed on. */
export const isRelayed = (url: string | undefined): boolean => offeredAt(url) !== undefined;

/** Headers of a request that the API looks at. Everything else stays here, above all what says who asks and where a body ends. */
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

/** RFC 9110, section 7.6.1: of one connection, and not of the next. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** How the API knows a request that came this way; it wants this service among its trusted proxies then. */
const via = '1.1 temper-boot';
/** Whom it takes for the sender: the API has to see the same address, or one of them trusts too few or too many proxies. */
const senderHeader = 'x-temper-ramdisk';

const hostPattern = /^[\w.:[\]-]{1,255}$/;

/** X-Forwarded-For as it is sent on: what a sender wrote there itself is believed of trusted proxies alone. */
const forwardedFor = ({ trusts }: RelayDeps, request: IncomingMessage): string => {
  const address = peerAddress(request.socket.remoteAddress);
  const given = request.headers['x-forwarded-for'];
  return given !== undefined && trusts(address) ? `${given}, ${address}` : address;
};

/** How the end of the body is given to the API; undefined for a request without one. */
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
    // Links of the answer are made of it, for the ramdisk that asked.
    host: hostPattern.test(host) ? host : deps.api.host,
    'x-forwarded-for': forwardedFor(deps, request),
    via,
    [senderHeader]: senderAddress(request, deps.trusts),
    // The rest of a body that is refused is read by the API; a closed connection could take its answer with it.
    connection: 'keep-alive',
  };
};

/** A connection of its own for each request: none can be taken for the beginning of another's. */
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

/** Sends the API's answer on. What the sender still has of its body is read and dropped, so that it comes to read the answer. */
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
  // A sender that goes away in the middle takes its request with it.
  response.on('close', () => onward.destroy());
  // Before the first byte of a body: the API's time for it begins as it does for a sender of its own.
  onward.flushHeaders();
  if (framingOf(request)) request.pipe(onward);
  else onward.end();
};

/** Takes a place among all and one among its sender's; undefined where there is none. @returns gives both back */
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

/** @returns answers requests for which `isRelayed` holds */
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
