/** What the identity tests share: requests, a clock that is set by hand, an identity service that answers as set. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Presented } from '../../src/identity';
import { isTemperError, type TemperError } from '../../src/model/errors';

/** A request that presents nothing but what is given. */
export const presenting = (given: Partial<Presented>): Presented => ({
  token: null,
  serviceToken: null,
  authorization: null,
  scope: null,
  method: 'GET',
  path: '/v1/nodes',
  ...given,
});

export const basic = (user: string, password: string): Presented =>
  presenting({ authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` });

export type Clock = { (): number; pass(ms: number): void };

export const clock = (): Clock => {
  let at = Date.now();
  return Object.assign(() => at, {
    pass: (ms: number) => {
      at += ms;
    },
  });
};

/** The error of the list that a promise ends with; fails when it ends well or with anything else. */
export const faultOf = async (work: Promise<unknown>): Promise<TemperError> => {
  const thrown = await work.then(
    () => new Error('expected an error'),
    (error: unknown) => error,
  );
  if (isTemperError(thrown)) return thrown;
  throw thrown;
};

/** A text that can be changed and broken, as a source. */
export const textSource = (text: string) => {
  const state = { text, version: 1, loads: 0 };
  return {
    name: 'the test file',
    load: async () => {
      state.loads += 1;
      return state.text;
    },
    stamp: async () => String(state.version),
    write(next: string) {
      state.text = next;
      state.version += 1;
    },
    state,
  };
};

type Answer = { status: number; body?: unknown; headers?: Record<string, string> } | 'hang' | 'hang up';

/** An identity service whose every answer the test decides. `asked` lists method, url and headers in order. */
export const startScriptedKeystone = async (answer: (request: IncomingMessage) => Answer | Promise<Answer>) => {
  const asked: { method: string; url: string; headers: IncomingMessage['headers'] }[] = [];
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    const given = await answer(request);
    if (given === 'hang') return;
    if (given === 'hang up') {
      request.socket.destroy();
      return;
    }
    response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers });
    response.end(typeof given.body === 'string' ? given.body : JSON.stringify(given.body ?? {}));
  };
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => void reply(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    count: (method: string) => asked.filter((one) => one.method === method).length,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

/** A token's body as Keystone gives it. */
export const tokenBody = (more: Record<string, unknown> = {}) => ({
  token: {
    methods: ['password'],
    user: { id: 'u1', name: 'ann', domain: { id: 'default', name: 'Default' } },
    issued_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 3600_000).toISOString(),
    audit_ids: ['a'],
    roles: [
      { id: 'r1', name: 'member' },
      { id: 'r2', name: 'reader' },
    ],
    project: { id: 'p1', name: 'one', domain: { id: 'default', name: 'Default' } },
    ...more,
  },
});

/** The answer to our service user's login. */
export const ownLogin = (token = 'own-token') => ({
  status: 201,
  headers: { 'X-Subject-Token': token },
  body: tokenBody(),
});
