/** An API on a database of its own: real policy and store, a fake identity that knows the personas, and runs that are recorded. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ApiContext, createApi, createStreams, type Settings } from '../../src/api';
import type { Identity } from '../../src/identity';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { createVault } from '../../src/inventory/secrets/vault';
import type { Caller } from '../../src/model/access/callers';
import { raise } from '../../src/model/errors';
import type { RunUuid } from '../../src/model/ids';
import { maxVersion } from '../../src/model/resources/microversions';
import { createPolicy, type PolicyOptions } from '../../src/policy';
import type { ActOrder, CallOrder, MessageOrder, RunOrder, Runs } from '../../src/runs/contract';
import { undescribed } from './described';
import { type TestDatabase, testDatabase } from './servers';
import { defaultSettings } from './settings';
import { testVault } from './vault';
import { type Persona, passersBy, personas } from './world';

type Moved = Parameters<Runs['move']>[0];
type Contact = Parameters<Runs['agentContact']>[0];

/** What the API asked of runs, in order. */
type Recorded = {
  started: RunOrder[];
  moved: Moved[];
  sent: MessageOrder[];
  operated: ActOrder[];
  called: CallOrder[];
  contacts: Contact[];
};

export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined where there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at bodies of every shape
  readonly body: any;
};

export type Request = {
  /** Minor version; the newest unless it is given, null for no header. */
  readonly minor?: number | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is instead of `body`. */
  readonly raw?: string | Buffer;
};

export type TestApi = {
  readonly url: string;
  readonly rooms: ApiContext;
  readonly inventory: Inventory;
  readonly runs: Recorded;
  /** As the owner of the database: for looking at what the API may not, and for setting states that runs would set. */
  readonly sql: Sql;
  /** The same database, for what makes a connection of its own. */
  readonly databaseUrl: string;
  /** As the role of control workers. */
  readonly controlUrl: string;
  /** Lines that were logged. */
  readonly log: unknown[];
  as(who: Persona | null, method: string, path: string, request?: Request): Promise<Reply>;
  /** Replaces the policy, as a reload does. */
  setPolicy(options: PolicyOptions): void;
  close(): Promise<void>;
};

/** The faultstring or description inside an error body. */
export const faultOf = (reply: Reply): string => {
  const inner = JSON.parse(reply.body.error_message);
  return inner.faultstring ?? inner.description;
};

const fakeIdentity: Pick<Identity, 'identify'> = {
  identify: async ({ token }) => {
    const known: Readonly<Record<string, Caller | undefined>> = { ...personas, ...passersBy };
    const caller = token === null ? undefined : known[token];
    return caller ?? raise('Unauthenticated', { challenge: 'Keystone uri="http://identity.example.org"' });
  },
};

const recordingRuns = (recorded: Recorded): Runs => ({
  start: async (order) => {
    recorded.started.push(order);
    return { run: randomUUID() as RunUuid };
  },
  move: async (order) => {
    recorded.moved.push(order);
  },
  send: async (order) => {
    recorded.sent.push(order);
  },
  operate: async (order) => {
    recorded.operated.push(order);
    return 'taken';
  },
  call: async (order) => {
    recorded.called.push(order);
    return undefined;
  },
  agentContact: async (contact) => {
    recorded.contacts.push(contact);
  },
  look: async () => ({ sources: [] }),
  recover: async () => ({ recovery: null, lines: [] }),
});

/** @param options settings that differ from the defaults, and a policy other than the built-in one */
export const startTestApi = async (
  options: {
    settings?: Partial<Settings>;
    policy?: PolicyOptions;
    runs?: Partial<Runs>;
    streams?: { limit?: number; limitOfOne?: number };
    webhooks?: boolean;
    /** A store that is there already, and stays. */
    database?: TestDatabase;
    /** Another way of knowing callers than by the names of the personas. */
    identity?: Pick<Identity, 'identify'>;
    /** Whether users who approved rollouts still have their roles. */
    voters?: ApiContext['voters'];
    /** Images of Glance. */
    glance?: ApiContext['glance'];
  } = {},
): Promise<TestApi> => {
  const database = options.database ?? (await testDatabase());
  const api = connect(database.apiUrl, { max: 4 });
  const sql = connect(database.ownerUrl, { max: 2 });
  const inventory = createInventory(api);
  const recorded: Recorded = { started: [], moved: [], sent: [], operated: [], called: [], contacts: [] };
  const log: unknown[] = [];
  const line = (level: string) => (says: string, facts?: unknown) => log.push({ level, says, facts });
  let policy = createPolicy(options.policy ?? { set: 'temper' });
  const lines = { info: line('info'), warn: line('warn'), error: line('error') };
  const streams = createStreams({ inventory, log: lines, ...options.streams });
  const rooms: ApiContext = {
    policy: () => policy,
    identity: options.identity ?? fakeIdentity,
    inventory,
    vault: testVault,
    runs: { ...recordingRuns(recorded), ...options.runs },
    streams,
    ...(options.voters && { voters: options.voters }),
    ...(options.glance && { glance: options.glance }),
    ...(options.webhooks && { webhookVault: createVault(new Map([['test', Buffer.alloc(32, 9)]])) }),
    log: lines,
    settings: { ...defaultSettings, ...options.settings },
  };
  // Never closed for being idle: at that moment a stalled client in this process would send its next request on it.
  const server: Server = createServer({ keepAliveTimeout: 0 }, createApi(rooms));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    rooms,
    inventory,
    runs: recorded,
    sql,
    databaseUrl: database.ownerUrl,
    controlUrl: database.controlUrl,
    log,
    as: (who, method, path, request) => ask(`${url}${path}`, who, method, request),
    setPolicy: (given) => {
      policy = createPolicy(given);
    },
    close: async () => {
      streams.close();
      server.closeAllConnections();
      server.close();
      await inventory.close();
      await sql.end({ timeout: 5 });
      if (!options.database) await database.drop();
    },
  };
};

const ask = async (
  url: string,
  who: string | null,
  method: string,
  { minor, body, headers, raw }: Request = {},
): Promise<Reply> => {
  const reply = await fetch(url, {
    method,
    headers: {
      ...(who === null ? {} : { 'x-auth-token': who }),
      ...(minor === null ? {} : { 'x-openstack-ironic-api-version': minor === undefined ? maxVersion : `1.${minor}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: (raw ?? (body === undefined ? undefined : JSON.stringify(body))) as string | undefined,
  });
  const [text, type] = [await reply.text(), reply.headers.get('content-type')];
  const shown = text === '' ? undefined : type?.startsWith('application/json') ? JSON.parse(text) : text;
  const fault = undescribed({ method, path: new URL(url).pathname, status: reply.status, type, body: shown });
  // What was made and is gone again is answered by its address alone to who asks once more.
  const keyed = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'idempotency-key');
  if (fault && !(keyed && shown === undefined)) throw new Error(fault);
  return { status: reply.status, headers: reply.headers, text, body: shown };
};

/** Makes a live worker for a driver and group, so that verbs find one. */
export const addWorker = async (
  sql: Sql,
  { hostname = 'worker-1', group = '', drivers = ['redfish', 'fake-hardware'] } = {},
): Promise<void> => {
  // No ramdisk beats for it: with a heartbeat ahead of time, it does not fall silent while a busy machine takes its time over a file.
  await sql`
    insert into workers (hostname, conductor_group, drivers, role, updated_at)
    values (${hostname}, ${group}, ${drivers}, 'bmc', now() + interval '1 hour')`;
};
