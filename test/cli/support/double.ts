/** A server that answers what the test says and remembers what it was asked. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
};
export type Answer = {
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
};
/** Answers by returning, or by writing to the response itself and returning nothing. */
export type Handler = (asked: Asked, response: ServerResponse) => Answer | undefined | Promise<Answer | undefined>;

export type Double = { readonly url: string; readonly asked: Asked[]; close(): Promise<void> };

/** An error body as the API writes it. */
export const fault = (status: number, faultstring: string): Answer => ({
  status,
  json: { error_message: JSON.stringify({ faultcode: 'Client', faultstring, debuginfo: null }) },
});

export const startDouble = async (handler: Handler): Promise<Double> => {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const one = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    asked.push(one);
    const answer = await handler(one, response);
    if (!answer) return;
    const body = answer.text ?? (answer.json === undefined ? '' : JSON.stringify(answer.json));
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** An address without a listener any more. */
export const nowhere = async (): Promise<string> => {
  const gone = await startDouble(() => ({}));
  await gone.close();
  return gone.url;
};
