/** The HTTP server of all listeners. Limits per client keep clients from blocking others. */
import {
  createServer,
  type Server as HttpServer,
  IncomingMessage,
  type RequestListener,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { peerAddress } from '../model/access/bmc-addresses';
import { senderKey, type Trusts, trustIn } from '../model/access/senders';
import { createTurnstile } from '../model/turnstile';
import { inTurn } from './request-turns';

export type ServerTimeouts = {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  readonly connections: number;
  /** Trusted proxies are exempt. */
  readonly ofSender: number;
  readonly trusts?: Trusts;
};

/** For servers other than the API. */
export const timeoutsWith = (
  config: {
    readonly TEMPER_HEADERS_TIMEOUT_MS: number;
    readonly TEMPER_KEEP_ALIVE_TIMEOUT_MS: number;
    readonly TEMPER_MAX_CONNECTIONS: number;
    readonly TEMPER_CONNECTIONS_PER_ADDRESS: number;
    readonly TEMPER_TRUSTED_PROXIES?: readonly string[] | undefined;
  },
  requestMs: number,
): ServerTimeouts => ({
  headersMs: config.TEMPER_HEADERS_TIMEOUT_MS,
  requestMs,
  keepAliveMs: config.TEMPER_KEEP_ALIVE_TIMEOUT_MS,
  connections: config.TEMPER_MAX_CONNECTIONS,
  ofSender: config.TEMPER_CONNECTIONS_PER_ADDRESS,
  trusts: trustIn(config.TEMPER_TRUSTED_PROXIES ?? []),
});

const boundSenders = (server: HttpServer, { ofSender, trusts }: ServerTimeouts): void => {
  const senders = createTurnstile(ofSender);
  server.prependListener('connection', (socket) => {
    if (trusts?.(peerAddress(socket.remoteAddress))) return;
    const sender = senderKey(socket.remoteAddress);
    if (!senders.enter(sender)) return socket.destroy();
    socket.once('close', () => senders.leave(sender));
  });
};

/**
 * Per connection. Node emits thousands of pipelined requests from one 64 KiB read. Usual clients wait for a response.
 * A fast one may send a request before this process has noticed the end of the last response.
 */
export const unansweredAtMost = 8;

/**
 * Closes connections with too many unanswered requests. Node closes only the current response of a closed connection.
 * The queued ones are closed here; otherwise cleanup on `close` never runs: slots, streams, open responses.
 */
const boundUnanswered = (server: HttpServer): void => {
  const open = new WeakMap<Socket, Set<ServerResponse>>();
  const opened = (socket: Socket): Set<ServerResponse> => {
    const unanswered = new Set<ServerResponse>();
    open.set(socket, unanswered);
    socket.once('close', () => {
      for (const one of [...unanswered].filter((answer) => answer.socket === null)) one.destroy().emit('close');
    });
    return unanswered;
  };
  server.prependListener('request', ({ socket }, response) => {
    // Node still emits requests read before the close.
    if (socket.destroyed) return;
    const unanswered = (open.get(socket) ?? opened(socket)).add(response);
    response.once('close', () => unanswered.delete(response));
    // Several layers listen for `close`, above Node's leak warning.
    response.setMaxListeners(30);
    if (unanswered.size > unansweredAtMost) socket.destroy();
  });
};

/** RFC 9112, section 3.2. Node uses the first Host; a proxy may have used the last. */
const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length > 1;

const answerable =
  (answer: RequestListener): RequestListener =>
  (request, response) => {
    // Otherwise Node creates an error with a stack when the connection closes.
    if (request.socket.destroyed) return void request.destroy();
    if (hasSeveralHosts(request)) return void response.writeHead(400, { connection: 'close' }).end();
    answer(request, response);
  };

/** Prototypes that Express sets on requests and responses. */
type Prototypes = { request: object; response: object };

/**
 * After a close, Node still parses and emits thousands of requests that it has read. It stops after a request with an
 * Upgrade (nodejs/node:lib/_http_server.js, `parserOnIncoming`). So each request on a closed connection gets
 * `upgrade`.
 *
 * Express sets the prototype of each request and response. If that changes the prototype, the request's objects
 * survive young-generation collections (22 kB each; Node 20), and a show costs 50 % more (decision 0035). So the
 * classes already have Express' prototypes.
 */
const messagesFor = (app?: Prototypes) => {
  class Message extends IncomingMessage {
    constructor(socket: Socket) {
      super(socket);
      if (socket.destroyed) Object.defineProperty(this, 'upgrade', { get: () => true, set: () => {} });
    }
  }
  class Response<Asked extends IncomingMessage> extends ServerResponse<Asked> {}
  if (app) {
    app.request = Object.setPrototypeOf(Message.prototype, app.request);
    app.response = Object.setPrototypeOf(Response.prototype, app.response);
  }
  return { IncomingMessage: Message, ServerResponse: Response };
};

/** Another connection is probably waiting within this time. */
const acceptingMs = 5;

/**
 * Disconnects clients that are slow, silent, or have too many requests.
 * @param app the Express application behind `answer`; it serves this server alone
 */
export const guardedServer = (timeouts: ServerTimeouts, answer: RequestListener, app?: Prototypes): HttpServer => {
  const { headersMs, requestMs, keepAliveMs, connections } = timeouts;
  let acceptedAt = Number.NEGATIVE_INFINITY;
  const server = createServer(
    {
      ...messagesFor(app),
      headersTimeout: headersMs,
      requestTimeout: Math.max(headersMs, requestMs),
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: Math.min(5_000, Math.max(50, headersMs / 4)),
    },
    answerable(inTurn(answer, { ...timeouts, isAccepting: () => performance.now() - acceptedAt < acceptingMs })),
  );
  server.maxConnections = connections;
  server.prependListener('connection', () => {
    acceptedAt = performance.now();
  });
  boundSenders(server, timeouts);
  boundUnanswered(server);
  return server;
};
