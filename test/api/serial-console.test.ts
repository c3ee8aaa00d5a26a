/** A ticket for a serial line: used once, by one reader a node, as long as node and console stay what they were. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect as connectSocket, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Driver, SerialLine } from '../../src/bmc/contract';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { createSerialConsole } from '../../src/process/workers/serial-console';
import { temper } from '../cli/support/command';
import { startTestApi, type TestApi } from '../support/api';
import { type TestDatabase, testDatabase } from '../support/servers';
import { testVault } from '../support/vault';
import { lessee, owner, type Persona } from '../support/world';

/** A line of this test: what is typed, what it says, and whether it was given back. */
const startLine = () => {
  const output = new PassThrough();
  const typed = new PassThrough();
  let close: () => void = () => undefined;
  const closed = new Promise<void>((done) => {
    close = done;
  });
  const line: SerialLine = {
    output,
    ended: new Promise(() => undefined),
    write: (bytes) => typed.write(bytes),
    drained: (resume) => void typed.once('drain', resume),
    close: async () => close(),
  };
  return { line, output, typed, closed };
};

let api: TestApi;
let database: TestDatabase;
let store: Inventory;
let worker: ReturnType<typeof createSerialConsole>;
let home: string;
let lines: ReturnType<typeof startLine>[];
let nextLine: Promise<ReturnType<typeof startLine>>;
/** What a BMC takes before its line is open. */
let opening: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  database = await testDatabase();
  api = await startTestApi({ database });
  store = createInventory(connect(database.bmcUrl, { max: 3 }));
});
afterAll(async () => {
  await store.close();
  await api.close();
  await database.drop();
});

beforeEach(async () => {
  await api.sql`delete from nodes`;
  const columns = { name: 'n1', driver: 'ipmi', console_interface: 'ipmitool-socat', owner, lessee };
  const [row] = await api.sql<{ uuid: string }[]>`insert into nodes ${api.sql(columns)} returning uuid`;
  home = row!.uuid;
  lines = [];
  opening = undefined;
  let announce: (line: ReturnType<typeof startLine>) => void = () => undefined;
  nextLine = new Promise((done) => {
    announce = done;
  });
  const driver: Driver = {
    name: 'ipmi',
    laneKey: () => null,
    acts: {},
    close: async () => undefined,
    openSerialLine: async () => {
      await opening?.();
      const made = startLine();
      lines.push(made);
      announce(made);
      return made.line;
    },
  };
  worker = createSerialConsole({
    inventory: store,
    vault: testVault,
    driverOf: () => driver,
    conductor_group: '',
    timeouts: { headersMs: 60_000, requestMs: 60_000, keepAliveMs: 60_000, connections: 50, ofSender: 50 },
    log: { info: () => undefined, warn: () => undefined },
    // A reader is taken for gone after twelve of these, which a busy machine may take.
    askEveryMs: 500,
  });
  worker.server.listen(0, '127.0.0.1');
  await once(worker.server, 'listening');
  const console_url = `http://127.0.0.1:${(worker.server.address() as AddressInfo).port}`;
  await store.workers.beat({ hostname: 'w1', conductor_group: '', drivers: ['ipmi'], role: 'bmc', console_url });
});
afterEach(() => worker.close());

const enable = (enabled: boolean) =>
  api.as('owner-member', 'PUT', '/v1/nodes/n1/states/console', { body: { enabled } });
const ask = (who: Persona = 'owner-member') => api.as(who, 'POST', '/temper/v1/nodes/n1/console');

/** The socket of a reader, or the status that refused it. */
const read = ({ url, ticket }: { url: string; ticket: string }): Promise<Socket | number> =>
  new Promise((done, fail) => {
    const headers = { connection: 'Upgrade', upgrade: 'temper-console', authorization: `Bearer ${ticket}` };
    const asked = request(url, { headers });
    asked.on('upgrade', (_: IncomingMessage, socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      done(socket.on('error', () => undefined));
    });
    asked.on('response', (response) => {
      response.resume();
      done(response.statusCode!);
    });
    asked.on('error', fail).end();
  });

const opened = async (): Promise<Socket> => {
  const socket = await read((await ask()).body);
  if (!(socket instanceof Socket)) throw new Error(`refused: ${socket}`);
  return socket;
};

/** The line that is opened next, or was just now. */
const someLine = async (): Promise<ReturnType<typeof startLine>> => lines[0] ?? (await nextLine);

/** What a stream has given once that holds a text. */
const untilText = async (stream: PassThrough, wanted: string): Promise<string> => {
  let text = '';
  for await (const bytes of stream) {
    text += bytes;
    if (text.includes(wanted)) break;
  }
  return text;
};

/** All that a reader is sent until its end. */
const untilEnd = async (socket: Socket): Promise<string> => {
  let text = '';
  for await (const bytes of socket) text += bytes;
  return text;
};

test.each([
  ['owner-member', 200],
  ['owner-reader', 403],
  ['lessee-admin', 403],
  ['stranger-admin', 404],
] as const)('%s asks for a ticket: %i', async (who, status) => {
  await enable(true);
  expect((await ask(who)).status).toBe(status);
});

test('none for a frozen node, to whose BMC nothing is written', async () => {
  await enable(true);
  const { body: ticket } = await ask();
  await api.sql`insert into freezes (node_uuid, reason, requester) values (${home}, 'evidence', '{"user_id": "u"}')`;
  const reply = await ask();
  expect([reply.status, reply.text]).toEqual([409, expect.stringContaining('evidence')]);
  expect(await read(ticket)).toBe(403);
});

test('none for a console that is off, for a node without one, and where no worker reads lines', async () => {
  expect((await ask()).status).toBe(409);
  await enable(true);
  await store.workers.leave('w1');
  const none = await ask();
  expect([none.status, none.text]).toEqual([
    503,
    expect.stringContaining('must set TEMPER_SERIAL_CONSOLE_PUBLIC_URL on one'),
  ]);
  await api.sql`update nodes set console_interface = 'no-console'`;
  expect((await ask()).status).toBe(400);
});

test('bytes go both ways, and both ends are in the audit trail', async () => {
  await enable(true);
  const socket = await opened();
  const [{ typed, output, closed }] = lines as [ReturnType<typeof startLine>];
  socket.write('root\r');
  expect(String((await once(typed, 'data'))[0])).toBe('root\r');
  output.write('login: ');
  expect(String((await once(socket, 'data'))[0])).toBe('login: ');
  socket.end();
  await closed;
  await worker.close();
  const rows = await api.sql<{ action: string }[]>`
    select action from audit where resource_id = ${home} and action like 'node.console_%' order by action`;
  expect(rows.map(({ action }) => action)).toEqual(['node.console_close', 'node.console_open', 'node.console_ticket']);
});

test('a ticket is used once, kept only as a digest, and a second reader is refused', async () => {
  await enable(true);
  const first = (await ask()).body;
  const second = (await ask()).body;
  expect(await api.sql`select 1 from console_tickets where ticket_hash = ${first.ticket}`).toHaveLength(0);
  const socket = (await read(first)) as Socket;
  expect(await read(first)).toBe(403);
  expect(await read(second)).toBe(409);
  socket.destroy();
  await lines[0]!.closed;
  expect(await read({ ...first, ticket: 'x'.repeat(43) })).toBe(403);
});

test('a ticket that is too old, or of another group, is refused', async () => {
  await enable(true);
  const late = (await ask()).body;
  await api.sql`update console_tickets set use_before = now() - interval '1 second'`;
  expect(await read(late)).toBe(403);
  const elsewhere = (await ask()).body;
  await api.sql`update nodes set conductor_group = 'other'`;
  expect(await read(elsewhere)).toBe(403);
});

test.each([
  ['its lessee changes', (sql: TestApi['sql']) => sql`update nodes set lessee = null`],
  [
    'its lessee leases it a second time',
    (sql: TestApi['sql']) =>
      sql.begin(async (tx) => {
        await tx`update nodes set lessee = null`;
        await tx`update nodes set lessee = ${lessee}`;
      }),
  ],
  ['its owner changes', (sql: TestApi['sql']) => sql`update nodes set owner = 'other'`],
  ['the console is switched off', (sql: TestApi['sql']) => sql`update nodes set console_enabled = false`],
  [
    'the node is frozen',
    (sql: TestApi['sql']) => sql`insert into freezes (node_uuid, reason, requester) values (${home}, 'x', '{}')`,
  ],
  ['its hour is over', (sql: TestApi['sql']) => sql`update console_tickets set ends_at = now()`],
] as const)('a reading ends when %s', async (_, change) => {
  await enable(true);
  const socket = await opened();
  await change(api.sql);
  expect(await untilEnd(socket)).toContain('it may no longer be read');
  await lines[0]!.closed;
});

test('a reader that does not read is cut off, with a bound on what is kept for it', async () => {
  await enable(true);
  const socket = await opened();
  socket.pause();
  const { output, closed } = lines[0]!;
  let ended = false;
  void closed.then(() => {
    ended = true;
  });
  while (!ended) {
    output.write(Buffer.alloc(65_536));
    await new Promise((done) => setImmediate(done));
  }
  socket.destroy();
});

/** Resolves when the worker's next connection is gone. */
const nextGone = async (): Promise<unknown> => {
  const [socket] = (await once(worker.server, 'connection')) as [Socket];
  return new Promise((done) => socket.once('close', done));
};

/** A client that never closes its side, by what it writes. */
const stubborn = (text: string): Socket => {
  const { port } = worker.server.address() as AddressInfo;
  const socket = connectSocket({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
  socket.write(text);
  return socket;
};

test('a reader that leaves while the line is being opened keeps no later one away', async () => {
  await enable(true);
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((tell) => {
    opening = () => {
      tell();
      return new Promise<void>((done) => {
        answer = done;
      });
    };
  });
  const gone = nextGone();
  const { ticket } = (await ask()).body;
  const first = stubborn(
    `GET / HTTP/1.1\r\nHost: w\r\nConnection: Upgrade\r\nUpgrade: temper-console\r\nAuthorization: Bearer ${ticket}\r\n\r\n`,
  );
  await asked;
  first.resetAndDestroy();
  await gone;
  answer();
  await (await someLine()).closed;
});

test('a client that was refused is let go of, though it never closes its side', async () => {
  const gone = nextGone();
  const client = stubborn('GET / HTTP/1.1\r\nHost: w\r\nConnection: Upgrade\r\nUpgrade: temper-console\r\n\r\n');
  // Not as an iteration, which closes the socket at its end.
  const [said] = await once(client, 'data');
  expect(String(said)).toContain('400 Bad Request');
  client.resume();
  await gone;
  client.destroy();
});

test('a reader that was cut off and reads no more keeps neither its connection nor the end of the worker', async () => {
  await enable(true);
  const gone = nextGone();
  const socket = await opened();
  socket.pause();
  const { output, closed } = lines[0]!;
  output.write(Buffer.alloc(16 * 1024 * 1024));
  await closed;
  await gone;
  await worker.close();
  socket.destroy();
});

test('a worker that ends gives its lines back', async () => {
  await enable(true);
  const socket = await opened();
  const text = untilEnd(socket);
  await worker.close();
  expect(await text).toContain('this worker is ending');
  await lines[0]!.closed;
});

describe('temper console', () => {
  const connected = (env: Record<string, string> = {}) => {
    const [keyboard, screen] = [new PassThrough(), new PassThrough()];
    const said = temper('console n1', {
      env: { TEMPER_URL: api.url, TEMPER_TOKEN: 'owner-member', ...env },
      keyboard,
      screen,
    });
    return { keyboard, screen, said };
  };

  test('joins a pipe to the line until the line ends', async () => {
    await enable(true);
    const { keyboard, screen, said } = connected();
    keyboard.write('~.typed\r');
    const shown = untilText(screen, 'it may no longer be read');
    const { typed, output } = await someLine();
    expect(String((await once(typed, 'data'))[0])).toBe('~.typed\r');
    output.write('said');
    await enable(false);
    expect(await shown).toContain('said');
    expect((await said).status).toBe(0);
  });

  test('ends with ~. on a terminal, which is itself again afterwards', async () => {
    await enable(true);
    const modes: boolean[] = [];
    const keyboard = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (raw: boolean) => modes.push(raw) });
    const said = temper('console n1', {
      env: { TEMPER_URL: api.url, TEMPER_TOKEN: 'owner-member' },
      keyboard,
      screen: new PassThrough(),
    });
    const { typed, closed } = await someLine();
    keyboard.write('ls\r~.more');
    expect(String((await once(typed, 'data'))[0])).toBe('ls\r');
    expect((await said).status).toBe(0);
    await closed;
    expect(modes).toEqual([true, false]);
  });

  test('says why a second reader is refused', async () => {
    await enable(true);
    const socket = await opened();
    const { said } = connected();
    expect(await said).toMatchObject({ status: 1, err: expect.stringContaining('is being read') });
    socket.destroy();
  });
});
