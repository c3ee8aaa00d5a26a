/** The set-up's own promises: one holder of a lock, no port twice, no stranger's process ended, no orphan left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

const lib = (name: string) => jest.requireActual(`../../scripts/lib/${name}`);

let dir: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'scripts-'));
});

afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  rmSync(dir, { recursive: true, force: true });
});

/** A process that does nothing until it is ended. */
const sleeper = async (): Promise<ChildProcess & { pid: number }> => {
  const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1e6)'], { detached: true });
  children.push(child);
  await once(child.stdout!, 'data');
  return child as ChildProcess & { pid: number };
};

test('a lock has one holder, who can be named, and is free again after', () => {
  const { tryLock } = lib('lock');
  const file = join(dir, 'lock');
  const first = tryLock(file);
  expect(first.held).toBe(true);
  expect(tryLock(file)).toMatchObject({ held: false, by: { pid: process.pid } });
  first.release();
  expect(tryLock(file).held).toBe(true);
});

test('the lock of a process that died is taken over, also when its pid was given to another', () => {
  const { tryLock } = lib('lock');
  const file = join(dir, 'lock');
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: 'another time' }));
  expect(tryLock(file).held).toBe(true);
});

test('of four processes that find the same stale lock one takes it over, in every round', async () => {
  const file = join(dir, 'lock');
  const contender = `
    const { tryLock } = require(${JSON.stringify(join(__dirname, '../../scripts/lib/lock'))});
    let lock;
    process.on('message', (order) => {
      if (order.file) lock = tryLock(order.file);
      else if (lock?.held) lock.release();
      process.send({ held: lock.held });
    });
    process.send('ready');`;
  const contenders = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const child = spawn(process.execPath, ['-e', contender], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      children.push(child);
      await once(child, 'message');
      return child;
    }),
  );
  const all = (order: object): Promise<{ held: boolean }[]> =>
    Promise.all(
      contenders.map(async (child) => {
        const answer = once(child, 'message');
        child.send(order);
        return (await answer)[0];
      }),
    );
  const holders: number[] = [];
  for (let round = 0; round < 100; round++) {
    writeFileSync(file, JSON.stringify({ pid: process.pid, started: `another time ${round}` }));
    holders.push((await all({ file })).filter(({ held }) => held).length);
    await all({});
  }
  expect(holders.filter((count) => count !== 1)).toEqual([]);
});

test('a process is ended only when it is the one that was written down', async () => {
  const { end, identify, runs } = lib('processes');
  const child = await sleeper();
  const identity = identify(child.pid);
  await end({ ...identity, started: 'another time' });
  expect(runs(identity)).toBe(true);
  await end(identity);
  expect(runs(identity)).toBe(false);
});

test('leftovers of a killed start are ended at the next one, and those of a living start are left alone', async () => {
  const { endLeftovers, recordOf } = lib('orphans');
  const { identify, runs } = lib('processes');
  const child = await sleeper();
  const left = { name: 'sleeper', ...identify(child.pid) };
  const write = (owner: object) => writeFileSync(recordOf(dir), JSON.stringify({ owner, processes: [left] }));

  write(identify(process.pid));
  expect(await endLeftovers(dir)).toBe(false);
  expect(runs(left)).toBe(true);

  write({ pid: process.pid, started: 'another time' });
  expect(await endLeftovers(dir)).toBe(true);
  expect(runs(left)).toBe(false);
});

test('a taken port is named together with the setting that moves it', async () => {
  const { claimPorts } = lib('ports');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const table = { api: { setting: 'TEMPER_API_PORT', port } };
  await expect(claimPorts(table, {})).rejects.toThrow(
    `port ${port} is taken; choose another with TEMPER_API_PORT=<port>`,
  );
  await expect(claimPorts(table, { TEMPER_API_PORT: 'x' })).rejects.toThrow('must be a port number');
  await new Promise((resolve) => server.close(resolve));
  expect(await claimPorts(table, {})).toEqual({ api: port });
});

test('free ports are all different', async () => {
  expect(new Set(await lib('ports').freePorts(20)).size).toBe(20);
});

test('a free port is chosen by one process, though it is not in use yet', async () => {
  const { cacheDir } = lib('paths');
  const [port] = await lib('ports').freePorts(1);
  const { tryLock } = lib('lock');
  expect(tryLock(cacheDir('ports', String(port)))).toMatchObject({ held: false, by: { pid: process.pid } });
  expect(await lib('ports').isFree(port)).toBe(true);
});

test('a process that dies is started again, and all are ended at the end', async () => {
  const { Supervisor } = lib('supervisor');
  const { recordOf } = lib('orphans');
  const { until } = lib('processes');
  const supervisor = new Supervisor(dir);
  const record = () => JSON.parse(readFileSync(recordOf(dir), 'utf8')).processes[0];
  await supervisor.start({ name: 'sleeper', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] });
  const first = record();
  process.kill(first.pid, 'SIGKILL');
  expect(await until(() => record().pid !== first.pid, 30_000)).toBe(true);
  const second = record();
  expect(second.restarts).toBe(1);
  await supervisor.stop();
  expect(lib('processes').runs(second)).toBe(false);
  expect(existsSync(recordOf(dir))).toBe(false);
});

test('a process that may be tried again gets over what a killed one left behind for a moment', async () => {
  const { Supervisor } = lib('supervisor');
  const supervisor = new Supervisor(dir);
  const [tried, up] = [join(dir, 'tried'), join(dir, 'up')];
  const program = `const fs = require('fs');
    if (!fs.existsSync('${tried}')) { fs.writeFileSync('${tried}', ''); process.exit(1); }
    fs.writeFileSync('${up}', '');
    setInterval(() => {}, 1e6);`;
  const spec = { name: 'server', command: process.execPath, args: ['-e', program], ready: async () => existsSync(up) };
  await expect(supervisor.start(spec)).rejects.toThrow('it ended with 1');
  rmSync(tried);
  await supervisor.start({ ...spec, tries: 2 });
  expect(existsSync(up)).toBe(true);
  await supervisor.stop();
});

test('a process that does not come up is reported with the end of its log', async () => {
  const { Supervisor } = lib('supervisor');
  const supervisor = new Supervisor(dir);
  const spec = {
    name: 'broken',
    command: process.execPath,
    args: ['-e', 'console.log("no settings"); process.exit(78)'],
  };
  await expect(supervisor.start({ ...spec, ready: async () => false })).rejects.toThrow(
    /broken did not start: it ended with 78\n.*no settings/s,
  );
  await supervisor.stop();
});

test('when no source has a Temporal server, one message names each and what to install', async () => {
  const { findTemporal } = lib('temporal-binary');
  const before = { ...process.env };
  try {
    Object.assign(process.env, {
      TEMPER_TEMPORAL_SOURCES: 'env,path',
      TEMPORAL_BIN: join(dir, 'none'),
      PATH: dir,
      XDG_CACHE_HOME: dir,
    });
    await expect(findTemporal()).rejects.toThrow(
      /env .*none.*\n.*path .*no temporal on PATH\nInstall the Temporal CLI/,
    );
    process.env.TEMPER_TEMPORAL_SOURCES = 'env,heaven';
    await expect(findTemporal()).rejects.toThrow('has "heaven"; known are env, path, cache, download, wheel, build');
  } finally {
    process.env = before;
  }
});

test('Temporal’s file is its owner’s alone, one of an earlier release too', () => {
  const { temporalFile } = lib('temporal');
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  writeFileSync(join(dir, 'temporal.db'), 'history', { mode: 0o644 });
  writeFileSync(join(dir, 'temporal.db-wal'), 'more', { mode: 0o644 });
  const file = temporalFile(dir);
  expect([modeOf(join(file, '..')), modeOf(file), modeOf(`${file}-wal`)]).toEqual(['700', '600', '600']);
  expect([readFileSync(file, 'utf8'), readFileSync(`${file}-wal`, 'utf8')]).toEqual(['history', 'more']);
  expect(temporalFile(dir)).toBe(file);
  expect([existsSync(join(dir, 'temporal.db')), readFileSync(file, 'utf8')]).toEqual([false, 'history']);
});

test('files that a child makes have the rights that its umask leaves, and ours keep theirs', async () => {
  const { start } = lib('child');
  const made = join(dir, 'made');
  const { exited } = start(
    { name: 'maker', command: '/bin/sh', args: ['-c', `echo x > ${made}`], umask: 0o077 },
    join(dir, 'maker.log'),
  );
  await exited;
  writeFileSync(join(dir, 'ours'), '');
  const [theirs, ours] = [made, join(dir, 'ours')].map((path) => statSync(path).mode & 0o777);
  expect([theirs, ours]).toEqual([0o600, 0o666 & ~process.umask()]);
});

test('the clouds.yaml of the demo users is readable by its owner only', () => {
  const { writeClouds } = lib('clouds');
  const file = writeClouds(dir, 'http://127.0.0.1:5000/v3');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(
    '\n  operator:\n    auth_type: "password"\n    auth:\n      auth_url: "http://127.0.0.1:5000/v3"',
  );
  expect(text).toContain('      system_scope: "all"\n');
});

describe('the Temporal server of production', () => {
  const { innerPorts, serverEnvironment } = lib('temporal-production');
  const compose = readFileSync(join(__dirname, '../../docker-compose.yml'), 'utf8');
  const databaseUrl = 'postgres://owner:pass%2Fword@127.0.0.1:20001/postgres';
  const ports = [20_100, ...innerPorts.map((_: string, at: number) => 20_101 + at)];
  const made = (env = {}): Record<string, string> => serverEnvironment(compose, { databaseUrl, ports, env });

  test('is set as the compose file sets it', () => {
    expect(made()).toMatchObject({ DB: 'postgres12', NUM_HISTORY_SHARDS: '512' });
    expect(made({ TEMPORAL_HISTORY_SHARDS: '4' }).NUM_HISTORY_SHARDS).toBe('4');
    expect(Object.values(made()).join()).not.toContain('$');
  });

  test('has its store where it is given, and reads the settings of deploy, all that the dev server has among them', () => {
    const { POSTGRES_SEEDS, DB_PORT, POSTGRES_USER, POSTGRES_PWD, DYNAMIC_CONFIG_FILE_PATH } = made();
    expect([POSTGRES_SEEDS, DB_PORT, POSTGRES_USER, POSTGRES_PWD]).toEqual([
      '127.0.0.1',
      '20001',
      'owner',
      'pass/word',
    ]);
    const settings: Record<string, { value: unknown }[]> = parse(readFileSync(DYNAMIC_CONFIG_FILE_PATH!, 'utf8'));
    const given = Object.entries(settings).map(([name, [only]]) => [name, only!.value]);
    const ofDevServer = Object.entries<string>(lib('temporal-settings').dynamicConfig);
    expect(Object.fromEntries(given)).toMatchObject(
      Object.fromEntries(ofDevServer.map(([name, json]) => [name, JSON.parse(json)])),
    );
  });

  test('is reached from this machine alone, at ports that nothing else has', () => {
    const given = Object.entries(made()).filter(([name]) => name.endsWith('_PORT') && name !== 'DB_PORT');
    expect(given.map(([, port]) => Number(port)).sort()).toEqual(ports);
    expect(made()).toMatchObject({ BIND_ON_IP: '127.0.0.1', TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1' });
  });
});

test('what `.ci/run` fetches beforehand is what suites ask for', () => {
  const tests = join(__dirname, '..');
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const asked = files
    .map((name) => readFileSync(join(tests, name), 'utf8'))
    .flatMap((text) => [...text.matchAll(/foundBy<.*>\('([\w-]+\.js)'(?:, '([\w-]+)')?\)/g)])
    .map(([, file, word]) => [file, word].filter(Boolean).join(' '));
  const { programs } = jest.requireActual('../../scripts/fetch.js') as { programs: Record<string, string[][]> };
  const fetched = Object.values(programs).flatMap((rows) => rows.map((row) => row.join(' ')));
  expect(fetched.sort()).toEqual([...new Set(asked)].sort());
});
