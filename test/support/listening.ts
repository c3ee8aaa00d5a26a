/** Servers of a test on a port that the system chooses. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

// Never closed for being idle: at that moment a stalled client in this process would send its next request on it.
const plainServer = (listener: RequestListener): Server => createServer({ keepAliveTimeout: 0 }, listener);

/** @returns the port on 127.0.0.1. The test closes the server, which is added to `servers`. */
export const listenOn = async (
  servers: Server[],
  listener: RequestListener,
  serverOf = plainServer,
): Promise<number> => {
  const server = serverOf(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
