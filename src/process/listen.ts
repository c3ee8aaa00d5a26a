/** Listening sockets: address faults are reported by setting. Also the graceful end of servers. */

import type { Server as HttpServer, RequestListener, ServerResponse } from 'node:http';
import type { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics } from '../observe/metrics';
import { ConfigFault } from './settings/fault';

/** `hostSetting` is absent if the host is fixed. */
export type Listening = {
  readonly host: string;
  readonly port: number;
  readonly portSetting: string;
  readonly hostSetting?: string;
  readonly reusePort?: boolean;
};

type ListenError = NodeJS.ErrnoException & { readonly port?: number };

const portFaults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another process; stop that one, or choose another port',
  EACCES: 'may not be opened by this user; choose a port above 1023',
};
const hostFaults: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'is no address of this machine; choose one that it has',
  ENOTFOUND: 'is no address and no name that resolves; choose an address of this machine',
  EAI_AGAIN: 'is no address and no name that resolves now; choose an address of this machine',
  EINVAL: 'cannot be listened on; choose an address of this machine',
};

/** A ConfigFault for an error of `listen`; other errors are returned unchanged. */
export const listenFault = (thrown: unknown, sockets: readonly Listening[]): unknown => {
  const { code = '', port, syscall } = thrown as ListenError;
  const socket = sockets.find((one) => one.port === port) ?? sockets[0];
  if (!socket || !['listen', 'getaddrinfo'].includes(syscall ?? '')) return thrown;
  if (portFaults[code])
    return new ConfigFault([`${socket.portSetting}: port ${socket.port} of ${socket.host} ${portFaults[code]}.`]);
  if (hostFaults[code] && socket.hostSetting)
    return new ConfigFault([`${socket.hostSetting}: ${socket.host} ${hostFaults[code]}.`]);
  return thrown;
};

/**
 * Later errors of the server go to `later`; unhandled they would end the process.
 * @throws ConfigFault if the address is unavailable
 */
export const listen = (server: Server, at: Listening, later: (error: Error) => void): Promise<void> =>
  new Promise((done, fail) => {
    server.on('error', (error) => (server.listening ? later(error) : fail(listenFault(error, [at]))));
    server.listen({ port: at.port, host: at.host, ...(at.reusePort && { reusePort: true }) }, done);
  });

// Below the 30 s that orchestrators usually wait before SIGKILL.
const answerWithinMs = 25_000;

/**
 * Answers running requests and closes idle connections at once, because a silent client would keep the process alive.
 * Call it before the server listens.
 * @param drainMs how long new requests are still accepted, each with Connection: close
 */
export const gentleEnd = (server: HttpServer, graceMs = answerWithinMs, drainMs = 0): (() => Promise<void>) => {
  const answering = new Set<ServerResponse>();
  let ending = false;
  let closing = false;
  const closeIfIdle = () => {
    if (closing && answering.size === 0) server.closeAllConnections();
  };
  server.prependListener('request', ({ socket }, response) => {
    if (socket.destroyed) return;
    if (ending) response.setHeader('Connection', 'close');
    answering.add(response);
    response.once('close', () => {
      answering.delete(response);
      closeIfIdle();
    });
  });
  return async () => {
    ending = true;
    if (drainMs > 0) await sleep(drainMs);
    closing = true;
    await new Promise<void>((done) => {
      setTimeout(() => server.closeAllConnections(), graceMs).unref();
      server.close(() => done());
      server.closeIdleConnections();
      closeIfIdle();
    });
  };
};

/** Measures all requests under one route. */
export const counted =
  ({ requests }: Pick<Metrics, 'requests'>, route: string, listener: RequestListener): RequestListener =>
  (request, response) => {
    const stop = requests.startTimer();
    response.on('close', () => stop({ method: request.method, route, status: response.statusCode }));
    listener(request, response);
  };
