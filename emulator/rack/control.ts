/** The rack's own door, on a port of its own: who is there, what was written, what shall go wrong. JSON in and out. */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import { isTemperError, raise } from '../../src/model/errors';
import { AgentFault, type Agents, agentFaultKinds } from '../agent';
import type { Gate, GateLook } from '../agent/gate';
import { type Fault, faultKinds } from './fault-kinds';
import { faultDoc } from './faults';
import type { Traffic } from './traffic';
import type { ActiveFault, BmcState, JournalEntry } from './types';

export type JournalFilter = { since?: number; bmc?: number; accepted?: boolean; session?: boolean };

/** What the control server can ask of the rack. */
export type RackDeps = {
  list(): readonly unknown[];
  journal(filter: JournalFilter): JournalEntry[];
  fault(index: number, fault: Fault): ActiveFault;
  faults(index: number): readonly ActiveFault[];
  clearFaults(index: number, id?: number): void;
  pressPowerButton(index: number): void;
  gate(index: number): Gate;
  /** Of every BMC, in their order. */
  gates(): readonly GateLook[];
  renew(index: number, power: 'On' | 'Off'): void;
  rotateCertificate(): Promise<void>;
  /** The ramdisks, where this rack boots them. */
  agents(): Agents | undefined;
  macOf(index: number): string;
  state(index: number): BmcState & { requests: Record<string, number> };
  /** How each BMC was treated, in their order. */
  traffic(): readonly Traffic[];
};

const readJson = async (req: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > 100_000) raise('BodyTooLarge', { limit: 100_000 });
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return raise('MalformedBody', { reason: 'send one JSON object' });
  }
};

const flag = (query: URLSearchParams, name: string): boolean | undefined =>
  query.has(name) ? query.get(name) === 'true' : undefined;
const count = (query: URLSearchParams, name: string): number | undefined => {
  if (!query.has(name)) return undefined;
  const value = Number(query.get(name));
  return Number.isInteger(value) ? value : raise('InvalidInput', { field: name, reason: 'must be a whole number' });
};

const agentsOf = (rack: RackDeps): Agents =>
  rack.agents() ?? raise('InvalidInput', { field: 'agents', reason: 'this rack boots no ramdisks' });

const parsed = <T>(schema: z.ZodType<T>, body: unknown, what = ''): T => {
  const { data, error } = schema.safeParse(body);
  const issue = error?.issues[0];
  const field = `${what} ${issue?.path.join('.')}`.trim();
  return data ?? raise('InvalidInput', { field, reason: `${issue?.message}` });
};

const GateOrder = z.strictObject({ after: z.int().nonnegative(), answer: z.boolean().optional() });
const Renewal = z.strictObject({ power: z.enum(['On', 'Off']) });

type Route = {
  method: string;
  path: RegExp;
  act: (rack: RackDeps, args: { ids: number[]; query: URLSearchParams; body: unknown }) => unknown;
};

const routes: readonly Route[] = [
  { method: 'GET', path: /^\/control\/bmcs$/, act: (rack) => ({ bmcs: rack.list() }) },
  { method: 'GET', path: /^\/control\/fault-kinds$/, act: () => faultKinds },
  {
    method: 'GET',
    path: /^\/control\/journal$/,
    act: (rack, { query }) => ({
      entries: rack.journal({
        since: count(query, 'since'),
        bmc: count(query, 'bmc'),
        accepted: flag(query, 'accepted'),
        session: flag(query, 'session'),
      }),
    }),
  },
  { method: 'GET', path: /^\/control\/traffic$/, act: (rack) => ({ bmcs: rack.traffic() }) },
  { method: 'GET', path: /^\/control\/bmcs\/(\d+)\/state$/, act: (rack, { ids }) => rack.state(ids[0]!) },
  {
    method: 'GET',
    path: /^\/control\/bmcs\/(\d+)\/faults$/,
    act: (rack, { ids }) => ({ faults: rack.faults(ids[0]!).map(faultDoc) }),
  },
  {
    method: 'POST',
    path: /^\/control\/bmcs\/(\d+)\/faults$/,
    act: (rack, { ids, body }) => faultDoc(rack.fault(ids[0]!, body as Fault)),
  },
  { method: 'DELETE', path: /^\/control\/bmcs\/(\d+)\/faults$/, act: (rack, { ids }) => rack.clearFaults(ids[0]!) },
  {
    method: 'DELETE',
    path: /^\/control\/bmcs\/(\d+)\/faults\/(\d+)$/,
    act: (rack, { ids }) => rack.clearFaults(ids[0]!, ids[1]),
  },
  {
    method: 'POST',
    path: /^\/control\/bmcs\/(\d+)\/press-power-button$/,
    act: (rack, { ids }) => rack.pressPowerButton(ids[0]!),
  },
  { method: 'GET', path: /^\/control\/gates$/, act: (rack) => ({ gates: rack.gates() }) },
  {
    method: 'POST',
    path: /^\/control\/bmcs\/(\d+)\/gate$/,
    act: (rack, { ids, body }) => rack.gate(ids[0]!).set(parsed(GateOrder, body)),
  },
  { method: 'POST', path: /^\/control\/bmcs\/(\d+)\/gate\/step$/, act: (rack, { ids }) => rack.gate(ids[0]!).step() },
  { method: 'DELETE', path: /^\/control\/bmcs\/(\d+)\/gate$/, act: (rack, { ids }) => rack.gate(ids[0]!).open() },
  {
    method: 'POST',
    path: /^\/control\/bmcs\/(\d+)\/renew$/,
    act: (rack, { ids, body }) => rack.renew(ids[0]!, parsed(Renewal, body).power),
  },
  { method: 'POST', path: /^\/control\/certificate$/, act: (rack) => rack.rotateCertificate() },
  { method: 'GET', path: /^\/control\/agents$/, act: (rack) => ({ agents: agentsOf(rack).list() }) },
  {
    method: 'GET',
    path: /^\/control\/agents\/journal$/,
    act: (rack, { query }) => ({ entries: agentsOf(rack).journal({ mac: query.get('mac') ?? undefined }) }),
  },
  { method: 'GET', path: /^\/control\/agents\/fault-kinds$/, act: () => agentFaultKinds },
  {
    method: 'POST',
    path: /^\/control\/bmcs\/(\d+)\/agent-faults$/,
    act: (rack, { ids, body }) => {
      agentsOf(rack).fault(rack.macOf(ids[0]!), parsed(AgentFault, body, 'fault'));
      return {};
    },
  },
  {
    method: 'DELETE',
    path: /^\/control\/bmcs\/(\d+)\/agent-faults$/,
    act: (rack, { ids }) => agentsOf(rack).clearFaults(rack.macOf(ids[0]!)),
  },
];

const answer = (res: ServerResponse, status: number, body: unknown): void => {
  if (body === undefined) return void res.writeHead(204).end();
  res.writeHead(status, { 'Content-Type': 'application/json' });
  res.end(JSON.stringify(body));
};

const act = async (rack: RackDeps, req: IncomingMessage, res: ServerResponse): Promise<void> => {
  const url = new URL(req.url ?? '/', 'http://rack');
  const route =
    routes.find(({ method, path }) => method === req.method && path.test(url.pathname)) ?? raise('PathNotFound');
  const ids = (route.path.exec(url.pathname) ?? []).slice(1).map(Number);
  const body = req.method === 'POST' ? await readJson(req) : undefined;
  answer(res, req.method === 'POST' ? 201 : 200, await route.act(rack, { ids, query: url.searchParams, body }));
};

/** Answers control requests with the hands it is given. */
export const controlListener =
  (rack: RackDeps): RequestListener =>
  (req, res) => {
    act(rack, req, res).catch((thrown: unknown) => {
      const known = isTemperError(thrown) ? thrown : undefined;
      answer(res, known?.status ?? 500, {
        error: { code: known?.code ?? 'Unexpected', message: known?.message ?? 'unexpected' },
      });
    });
  };
