/** The door of all emulated ramdisks: one listener, each below /agent/<id>, as their callback URLs say. */
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Certificate } from './certificate';
import { NotTaken, type Params } from './commands';
import type { AgentFaultKind, Faults } from './faults';
import type { Gate } from './gate';
import { agentVersion, type Life } from './life';
import type { Machine } from './types';

const maxBodyBytes = 96 * 1024 * 1024;

type Reply = { status: number; body?: unknown; text?: string; headers?: Record<string, string> } | 'drop' | 'hold';

const fault = (status: number, says: string): Reply => ({
  status,
  body: { faultcode: status < 500 ? 'Client' : 'Server', faultstring: says },
});

const readBody = async (req: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new NotTaken(413, 'too large');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null');
  } catch {
    throw new NotTaken(400, 'not JSON');
  }
};

/** Faults that need no look at the request. */
const struck: Partial<Record<AgentFaultKind, Reply>> = {
  'wrong-token': fault(401, 'Token invalid.'),
  silent: 'hold',
  'drop-before': 'drop',
  redirect: { status: 302, headers: { location: 'http://192.0.2.66/v1/commands/' } },
  huge: { status: 200, text: JSON.stringify({ commands: [], filler: 'x'.repeat(2 * 1024 * 1024) }) },
  garbled: { status: 200, text: '<html><body>Bad gateway</body></html>', headers: { 'content-type': 'text/html' } },
};

type Request = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
};

/** What may go wrong with a ramdisk. */
type Trouble = {
  readonly faults: Faults;
  /** The machine starts again by itself, with another certificate. */
  readonly reset: (machine: Machine) => Promise<void>;
};

const post = async (life: Life, { query, body }: Request, { faults, reset }: Trouble, mac: string): Promise<Reply> => {
  const { name, params } = (body ?? {}) as { name?: unknown; params?: unknown };
  if (typeof name !== 'string' || typeof params !== 'object' || params === null)
    return fault(400, 'Missing or invalid name or params');
  if (faults.strike(mac, ['busy'], { method: 'POST', name }))
    return fault(409, 'Agent is busy: executing command something');
  const command = life.executor.take(name, params as Params);
  if (faults.strike(mac, ['gone'], { method: 'POST', name })) {
    life.fallSilent();
    return 'drop';
  }
  if (faults.strike(mac, ['reset'], { method: 'POST', name })) {
    await reset(life.machine);
    return 'drop';
  }
  if (query.get('wait')?.toLowerCase() === 'true') await life.executor.join(command.id);
  return faults.strike(mac, ['lost-reply'], { method: 'POST', name }) ? 'drop' : { status: 200, body: command };
};

const get = async (life: Life, { path, query }: Request): Promise<Reply> => {
  const id = decodeURIComponent(path.slice('/v1/commands/'.length));
  if (id === '') return { status: 200, body: { commands: life.executor.list() } };
  const command = life.executor.get(id);
  if (!command) return fault(404, `Command with id ${id} not found.`);
  if (query.get('wait')?.toLowerCase() === 'true') await life.executor.join(id);
  return { status: 200, body: command };
};

const answer = async (life: Life, request: Request, trouble: Trouble): Promise<Reply> => {
  const { faults } = trouble;
  const { method, path, query } = request;
  const mac = life.machine.macs[0] ?? '';
  if (faults.strike(mac, ['restart'], { method })) life.restart();
  const hit = faults.strike(mac, Object.keys(struck) as AgentFaultKind[], { method });
  if (hit) return struck[hit]!;
  if (method === 'GET' && path === '/v1/status')
    return { status: 200, body: { started_at: life.startedAt, version: agentVersion } };
  if (method === 'GET' && (path === '/' || path === '/v1/')) return { status: 200, body: { id: 'v1', links: [] } };
  if (!path.startsWith('/v1/commands/')) return fault(404, 'The requested URL was not found.');
  if (life.token === null || query.get('agent_token') !== life.token) return fault(401, 'Token invalid.');
  if (method === 'POST') return post(life, request, trouble, mac);
  return method === 'GET' ? get(life, request) : fault(405, 'The method is not allowed.');
};

const send = (res: ServerResponse, reply: Reply): void => {
  if (reply === 'hold') return;
  if (reply === 'drop' || res.destroyed) return void res.destroy();
  res.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
  res.end(reply.text ?? (reply.body === undefined ? '' : JSON.stringify(reply.body)));
};

/** A ramdisk that is down, or serves nobody any more, does not even answer. */
const serves = (life: Life | undefined): life is Life => life?.state() === 'serving';

export const agentListener =
  (
    lifeOf: (id: string) => Life | undefined,
    trouble: Trouble,
    gateOf: (mac: string) => Gate | undefined = () => undefined,
  ): RequestListener =>
  async (req, res) => {
    const url = new URL(req.url ?? '/', 'http://agent');
    const [, id = '', path = '/'] = /^\/agent\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? [];
    const life = lifeOf(id);
    if (!serves(life)) return void res.destroy();
    try {
      const body = req.method === 'POST' ? await readBody(req) : undefined;
      const method = req.method ?? 'GET';
      const left = new AbortController();
      res.once('close', () => left.abort());
      const gate = gateOf(life.machine.macs[0] ?? '');
      const passer = { method, path: `/agent${path}`, write: method === 'POST' };
      if (gate && !(await gate.enter(passer, left.signal))) return void res.destroy();
      // The machine may have gone down meanwhile.
      if (!serves(life)) return void res.destroy();
      const reply = await answer(life, { method, path, query: url.searchParams, body }, trouble);
      if (gate && !(await gate.leave(passer, left.signal))) return void res.destroy();
      send(res, reply);
    } catch (thrown) {
      send(res, thrown instanceof NotTaken ? fault(thrown.status, thrown.says) : fault(500, 'unexpected'));
    }
  };

export type Door = {
  readonly url: string;
  renew(certificate: Certificate): void;
  /** Ends every connection, as a machine does that is reset. */
  cut(): void;
  close(): Promise<void>;
};

/** Fails with the system's error when the port is taken. */
export const openDoor = (
  listener: RequestListener,
  { host, port, certificate }: { host: string; port: number; certificate: Certificate | null },
): Promise<Door> =>
  new Promise((resolve, reject) => {
    const secure = certificate ? https.createServer(certificate, listener) : undefined;
    const server = secure ?? http.createServer(listener);
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const shown = host.includes(':') ? `[${host}]` : host;
      resolve({
        url: `${secure ? 'https' : 'http'}://${shown}:${(server.address() as AddressInfo).port}`,
        renew: (next) => secure?.setSecureContext(next),
        cut: () => server.closeAllConnections(),
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
    });
  });
