/** One API on several processes: they share a port and its limits, one that is killed comes back, and the first answers for all. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../demo/nodes';
import { type Entry, endAll, good, run, start } from './support/entries';

afterEach(endAll);

const processes = 3;
const several = {
  ...good.api,
  TEMPER_API_PROCESSES: String(processes),
  TEMPER_HEALTH_PORT: '0',
};

const linesOf = (out: string, message: string): Record<string, unknown>[] =>
  out
    .split('\n')
    .filter((line) => line.includes(`"message":"${message}"`))
    .map((line) => JSON.parse(line));

/** Collects what a process prints, and waits until it has printed so many lines of one message. */
const listenTo = ({ child, ended }: Entry) => {
  const over = ended.then(({ out: all, err }) => Promise.reject(new Error(`it ended:\n${all}${err}`)));
  over.catch(() => undefined);
  let out = '';
  child.stdout!.on('data', (chunk) => {
    out += chunk;
  });
  return async (message: string, count: number): Promise<Record<string, unknown>[]> => {
    while (linesOf(out, message).length < count) await Promise.race([once(child.stdout!, 'data'), over]);
    return linesOf(out, message);
  };
};

const begin = async (settings: Readonly<Record<string, string>> = {}) => {
  const entry = start('api', { ...several, ...settings });
  const printed = listenTo(entry);
  const [{ port: health }] = (await printed('health', 1)) as [{ port: number }];
  const listening = await printed('listening', processes);
  await printed('ready', processes + 1);
  return { entry, printed, health, port: Number(listening[0]!.port), ports: listening.map(({ port }) => port) };
};

/** Asks on a connection of its own, which the next process in turn is given. */
const ask = async (port: number, path: string): Promise<IncomingMessage & { text: string }> => {
  const asked = request({ host: '127.0.0.1', port, path, agent: false, headers: { 'x-auth-token': 'any' } });
  asked.end();
  const [reply] = (await once(asked, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk);
  return Object.assign(reply, { text: Buffer.concat(chunks).toString() });
};

/** A connection that has said nothing yet. What it is answered is not kept. */
const connected = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').resume();
  // One that is closed while it is written to.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};

/** Resolves when a connection is closed, be it with an error. */
const closeOf = (socket: Socket): Promise<undefined> =>
  new Promise((done) => (socket.closed ? done(undefined) : socket.once('close', () => done(undefined))));

/** When each process began, by its name in the metrics. */
const startedAt = async (health: number): Promise<Map<string, string>> => {
  const { text } = await ask(health, '/metrics');
  return new Map(
    [...text.matchAll(/^process_start_time_seconds\{process="([^"]+)"\} (\S+)$/gm)].map(([, name, at]) => [name!, at!]),
  );
};

test('all of them serve one port, and the first process has the metrics of all', async () => {
  const { port, ports, health } = await begin();
  expect(new Set(ports)).toEqual(new Set([port]));
  for (let number = 0; number < 2 * processes; number += 1) expect((await ask(port, '/v1')).statusCode).toBe(200);
  // A process counts a request once its answer has left, which its reader may know first.
  const served = await until('every request to be counted', 60_000, async () => {
    const { text } = await ask(health, '/metrics');
    const counts = [...text.matchAll(/^temper_api_request_seconds_count\{.*process="(api-\d)".*\} (\d+)$/gm)];
    return counts.reduce((sum, [, , count]) => sum + Number(count), 0) === 2 * processes ? counts : undefined;
  });
  expect(served.length).toBeGreaterThan(1);
  expect([...(await startedAt(health)).keys()].sort()).toEqual(['api', 'api-1', 'api-2', 'api-3']);
});

test('readiness is that of the processes that serve', async () => {
  const { health } = await begin();
  // A busy machine may keep one of them from answering in time, which is a reason of its own.
  await until('the reason of a process that serves', 120_000, async () => {
    const reply = await ask(health, '/readyz');
    expect(reply.statusCode).toBe(503);
    return JSON.parse(reply.text).reason.includes('ECONNREFUSED') || undefined;
  });
  expect((await ask(health, '/healthz')).statusCode).toBe(200);
});

test('a limit is that of all together', async () => {
  const { port } = await begin({ TEMPER_RATE_LIMIT_PER_MINUTE: '7' });
  const replies = await Promise.all(Array.from({ length: 30 }, () => ask(port, '/v1/drivers?detail=nonsense')));
  const statuses = replies.map(({ statusCode }) => statusCode);
  expect(statuses.filter((status) => status !== 429)).toHaveLength(7);
  expect(replies.find(({ statusCode }) => statusCode === 429)!.headers['retry-after']).toMatch(/^\d+$/);
});

test('one that is killed is started again, and the others serve meanwhile', async () => {
  const { port, health, printed, entry } = await begin();
  const before = await startedAt(health);
  const pids = await childrenOf(entry.child.pid!);
  expect(pids).toHaveLength(processes);
  process.kill(pids[1]!, 'SIGKILL');
  const [said] = await printed('an API process ended, it is started again', 1);
  expect(said).toMatchObject({ signal: 'SIGKILL', level: 50 });
  // Two are left, and each is given every other connection.
  for (let number = 0; number < 4; number += 1) expect((await ask(port, '/v1')).statusCode).toBe(200);
  await printed('ready', processes + 2);
  const name = `api-${said!.api_process}`;
  // Until the new one answers, the counts of the one before it stand in.
  const after = await until('the metrics of the new process', 120_000, async () => {
    const now = await startedAt(health);
    return now.get(name) === before.get(name) ? undefined : now;
  });
  expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
});

test('one that stands still is ended and started again, and takes no health or metrics of the others with it', async () => {
  const { health, printed, entry } = await begin();
  const before = await startedAt(health);
  const [, still] = await childrenOf(entry.child.pid!);
  process.kill(still!, 'SIGSTOP');
  // Its own counts stand in, which were asked for before.
  expect(await startedAt(health)).toEqual(before);
  await until('the reason of the processes that do answer', 120_000, async () => {
    const { text } = await ask(health, '/readyz');
    return JSON.parse(text).reason.includes('ECONNREFUSED') || undefined;
  });
  const [found] = await printed('an API process stands still, it is ended', 1);
  const [said] = await printed('an API process ended, it is started again', 1);
  expect(said).toMatchObject({ signal: 'SIGKILL', api_process: found!.api_process });
  await printed('ready', processes + 2);
});

test('a client whose connection was on its way to one that is killed does not wait for good', async () => {
  const { port, entry } = await begin();
  const [, still] = await childrenOf(entry.child.pid!);
  process.kill(still!, 'SIGSTOP');
  const sockets = await Promise.all(Array.from({ length: 2 * processes }, () => connected(port)));
  let open = sockets.length;
  const one = new Promise<void>((done) => {
    for (const socket of sockets)
      socket.once('close', () => {
        open -= 1;
        if (open === 1) done();
      });
  });
  for (const socket of sockets) socket.write('GET /v1 HTTP/1.1\r\nhost: one\r\nconnection: close\r\n\r\n');
  await one;
  process.kill(still!, 'SIGKILL');
  await Promise.all(sockets.map(closeOf));
});

test('connections beyond the share of each are closed, and none goes from one to the next without end', async () => {
  const most = 2 * processes;
  const { port } = await begin({ TEMPER_MAX_CONNECTIONS: String(most), TEMPER_KEEP_ALIVE_TIMEOUT_MS: '300000' });
  /** A connection that is answered on, and stays; undefined where it is closed. */
  const kept = async (): Promise<Socket | undefined> => {
    const socket = await connected(port);
    const answered = new Promise<Socket>((done) => socket.once('data', () => done(socket)));
    socket.write('GET /v1 HTTP/1.1\r\nhost: one\r\n\r\n');
    return Promise.race([answered, closeOf(socket)]);
  };
  const held: Socket[] = [];
  const fill = () =>
    until('each of them to have its share', 60_000, async () => {
      const socket = await kept();
      if (socket) held.push(socket);
      return held.length === most || undefined;
    });
  await fill();
  expect(await kept()).toBeUndefined();
  held.pop()!.destroy();
  await fill();
  expect(held.filter(({ closed }) => closed)).toEqual([]);
  for (const socket of held) socket.destroy();
});

test('SIGTERM before the first of them listens starts no other', async () => {
  const entry = start('api', several);
  await entry.says('"health"');
  const begun = await until('the first of them', 60_000, async () => {
    const pids = await childrenOf(entry.child.pid!);
    return pids.length > 0 ? pids : undefined;
  });
  expect(begun).toHaveLength(1);
  entry.child.kill('SIGTERM');
  const { status, err } = await entry.ended;
  expect({ status, err }).toEqual({ status: 0, err: '' });
});

test('one that stands still keeps the others from ending no longer than that is noticed', async () => {
  const { entry } = await begin();
  const pids = await childrenOf(entry.child.pid!);
  process.kill(pids[1]!, 'SIGSTOP');
  entry.child.kill('SIGTERM');
  expect((await entry.ended).status).toBe(0);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('one that is started again refuses a policy file that was emptied meanwhile, as the others do', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'api-processes-'));
  const file = join(folder, 'policy.yaml');
  const text = '"baremetal:node:get": "role:reader"\n';
  try {
    await writeFile(file, text);
    const { entry, printed } = await begin({ TEMPER_POLICY_FILE: file });
    const pids = await childrenOf(entry.child.pid!);
    await writeFile(file, '');
    process.kill(pids[1]!, 'SIGKILL');
    const [, refused] = await printed('an API process ended, it is started again', 2);
    expect(refused).toMatchObject({ status: 78 });
    await writeFile(file, text);
    await printed('ready', processes + 2);
    entry.child.kill('SIGTERM');
    expect((await entry.ended).err).toContain('policy.yaml holds no rules, and held 1 before');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('SIGTERM to the first ends them all, with what is under way answered', async () => {
  const { entry, port } = await begin();
  const pids = await childrenOf(entry.child.pid!);
  const asked = request({
    host: '127.0.0.1',
    port,
    path: '/v1/nodes',
    method: 'POST',
    headers: {
      'x-auth-token': 'any',
      'content-type': 'application/json',
      'content-length': '2',
      expect: '100-continue',
    },
  });
  asked.flushHeaders();
  await once(asked, 'continue');
  entry.child.kill('SIGTERM');
  asked.end('{}');
  const [reply] = (await once(asked, 'response')) as [IncomingMessage];
  expect(reply.statusCode).toBe(400);
  reply.resume();
  expect((await entry.ended).status).toBe(0);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('what keeps them from starting is said once, with the status of settings', async () => {
  const { port } = await begin();
  const { status, err } = await run('api', { ...several, TEMPER_API_PORT: String(port) });
  expect(status).toBe(78);
  expect(err.match(/TEMPER_API_PORT: port \d+ of 127\.0\.0\.1 is taken by another process/g)).toHaveLength(1);
});

/** Pids of the processes that a process has started, in the order in which it did. */
const childrenOf = async (pid: number): Promise<number[]> => {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').filter(Boolean).map(Number);
};
