/** The server that all listeners share: what it bears of one client, so that no other waits for its sake. */
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

/** What a server bears of its clients. */
export type ServerTimeouts = {
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  readonly connections: number;
  /** Connections of one sender, trusted proxies excepted. */
  readonly ofSender: number;
  readonly trusts?: Trusts;
};

/** What the servers beside the API bear of their clients, by the settings of their process. */
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

/** Closes connections of a sender beyond its share at once, so that none takes those of all others. */
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
 * Requests of one connection that wait for their answers at once. Node hands out all that a read of 64 KiB holds, thousands of them. Clients
 * wait for an answer before they ask again; one that is quick may ask before this process has noticed the end of its answer.
 */
export const unansweredAtMost = 8;

/**
 * Closes connections with too many requests under way, and ends the answers that wait behind another of their connection when that is
 * closed. Node ends the one that is being sent and forgets the others, so that whatever waits for their end would wait for good: places,
 * streams, the list of open answers.
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
    // Node goes on to hand out what it has read of a connection after that was closed.
    if (socket.destroyed) return;
    const unanswered = (open.get(socket) ?? opened(socket)).add(response);
    response.once('close', () => unanswered.delete(response));
    // Each layer listens for the end of an answer: more than the ten that Node takes for a leak.
    response.setMaxListeners(30);
    if (unanswered.size > unansweredAtMost) socket.destroy();
  });
};

/** RFC 9112, section 3.2. Node takes the first one, and what stands in front may have taken the last. */
const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((name, index) => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host').length > 1;

const answerable =
  (answer: RequestListener): RequestListener =>
  (request, response) => {
    // Destroyed here, it costs Node no error with a stack when the connection closes.
    if (request.socket.destroyed) return void request.destroy();
    if (hasSeveralHosts(request)) return void response.writeHead(400, { connection: 'close' }).end();
    answer(request, response);
  };

/** The prototypes that an Express application gives to requests and responses. */
type Prototypes = { request: object; response: object };

/**
 * The classes of a server's requests and responses.
 *
 * Of a connection that has been closed, Node parses and hands out what it has read, thousands of requests. It stops behind a request that
 * asks for another protocol (nodejs/node:lib/_http_server.js, `parserOnIncoming`), and so behind the first one that is made after the close.
 *
 * Express sets the prototype of each request and response. If that changes it, all that the request holds survives the collections of
 * young objects (22 kB of each; Node 20), and a show costs half as much again (decision 0035). So the classes have Express' prototypes.
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

/** After a connection another is probably waiting for so long. */
const acceptingMs = 5;

/**
 * An HTTP server that cuts clients off who send slowly, or nothing, or more than they wait for.
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
      // Node looks only so often.
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
