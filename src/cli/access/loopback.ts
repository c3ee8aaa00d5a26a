/** The end of a login in a browser: one request to a free port of this machine (RFC 8252, 7.3). */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endingWithin } from '../../model/signals';
import { stop } from '../faults';

const waitMs = 10 * 60_000;

const answer = (response: ServerResponse, status: number, says: string): void => {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', connection: 'close' };
  response.writeHead(status, headers).end(`${says}\n`);
};

/** Undefined for a request that does not end this login: any page of the browser can send one. */
const addressIn = (request: IncomingMessage, redirect: string, state: string): URL | undefined => {
  if (request.method !== 'GET' || !URL.canParse(request.url ?? '', redirect)) return undefined;
  const url = new URL(request.url!, redirect);
  return url.pathname === new URL(redirect).pathname && url.searchParams.get('state') === state ? url : undefined;
};

/**
 * @param begin gets the address that the browser is to come back to
 * @returns the address with which it came
 * Throws CliFault (refused) after ten minutes.
 */
export const loopbackAnswer = async (
  state: string,
  begin: (redirect: string) => void,
  signal: AbortSignal,
): Promise<URL> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  try {
    const came = new Promise<URL>((done) => {
      server.on('request', (request, response) => {
        const url = addressIn(request, redirect, state);
        if (!url) return answer(response, 404, 'This address waits for the end of a login only.');
        response.once('close', () => done(url));
        answer(response, 200, 'You can close this page, and go on in the terminal.');
      });
    });
    begin(redirect);
    const ending = endingWithin(signal, waitMs);
    const ended = once(ending, 'abort').then((): never => {
      signal.throwIfAborted();
      return stop('refused', 'The login was not finished within ten minutes. Run "temper login" again.');
    });
    return await Promise.race([came, ended]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};
