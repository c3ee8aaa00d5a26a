/** A server that is made with the API's messages has requests of Express' kind from the start: none is given another prototype. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express, type Request, type Response } from 'express';
import { createDirect } from '../../src/api/http/direct';
import { messagesOf } from '../../src/api/http/messages';
import { createApi } from '../../src/api/http/server';
import { patientServer } from '../../src/process/patient-server';
import { startTestApi, type TestApi } from '../support/api';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const patience = { headersMs: 10_000, requestMs: 10_000, keepAliveMs: 1_000, connections: 10, ofSender: 10 };

const listening = async (server: ReturnType<typeof createServer>): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

test('a route of the API leaves their prototypes as they are', async () => {
  const app: Express = express();
  const messages = messagesOf(app);
  const seen: unknown[] = [];
  const note = (request: object, response: object) =>
    seen.push(
      Object.getPrototypeOf(request) === messages.IncomingMessage.prototype,
      Object.getPrototypeOf(response) === messages.ServerResponse.prototype,
    );
  const direct = createDirect(app, () => undefined);
  direct.add('/v1/asked/:word', {
    GET: async (request, response) => {
      note(request, response);
      response.end(`${request.get('x-asked')} ${request.path} ${request.query.a} ${request.params.word}`);
    },
  });
  const server = createServer(messages, (request, response) => {
    note(request, response);
    direct.serve(request as Request, response as Response);
  });
  const answer = await fetch(`${await listening(server)}/v1/asked/one?a=b`, { headers: { 'x-asked': 'this' } });
  expect([await answer.text(), seen]).toEqual(['this /v1/asked/one b one', [true, true, true, true]]);
  server.closeAllConnections();
  server.close();
});

test('a server of the API answers as any other does', async () => {
  const listener = createApi(api.rooms);
  const server = patientServer(patience, listener, listener.messages);
  const url = await listening(server);
  for (const path of ['/v1/nodes', '/v1/nodes/missing', '/v1/nodes/a%2fb', '/nowhere']) {
    const asked = { headers: { 'X-Auth-Token': 'operator', 'X-OpenStack-Ironic-API-Version': '1.90' } };
    const [one, other] = await Promise.all([url, api.url].map((base) => fetch(base + path, asked)));
    const texts = await Promise.all([one!, other!].map((answer) => answer.text()));
    expect([one!.status, texts[0]]).toEqual([other!.status, texts[1]]);
  }
  server.closeAllConnections();
  server.close();
});
