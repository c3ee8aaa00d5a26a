/** A whole system for one test file: started as `npm start` does it, on ports and in a folder of its own, gone afterwards. */
import { type ChildProcess, fork } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Person, type Rack, rackOf, readSystem, type SystemRecord, signIn } from '../../../demo/system';

const script = (name: string) => jest.requireActual(`../../../scripts/${name}`);

export type System = {
  /** The data folder. */
  readonly data: string;
  readonly logs: string;
  /** The file of one of our programs, as it was built for this system. */
  program(name: string): string;
  /** What the supervisor wrote down last. */
  record(): SystemRecord;
  /** Its emulated rack; `faults` are those that are still to strike. */
  readonly rack: Rack & { faults(bmc: number): Promise<object[]> };
  /** A user of clouds.yaml, signed in anew. */
  person(cloud: string): Promise<Person>;
  /** Kills one process with -9 and answers with its pid. */
  kill(name: string): number;
  /** Resolves when the process runs again under another pid than this and says that it is ready. */
  back(name: string, pid: number): Promise<void>;
  /** Kills one process with -9 and does the work while it stays away; afterwards it comes back. */
  without<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** What /readyz of one process of ours answers. */
  readyz(name: string): Promise<number>;
  /** Kills the supervisor and everything it started with -9, all at once. */
  killAll(): Promise<void>;
  /** As `npm start` a second time, on the same data and ports. */
  startAgain(): Promise<void>;
  /** Ends everything and removes the folder; throws when a process outlived it. */
  stop(): Promise<void>;
};

// Everything on two busy cores; only what never ends fails.
const startWithinMs = 180_000;
const stopWithinMs = 90_000;

/** Settings of ours that the developer's shell may hold; none of them is meant for this system. */
const ours = /^TEMPER_(?!TEMPORAL_SOURCES$|PYTHON$)/;
const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));

const portSettings = [
  'TEMPER_API_PORT',
  'TEMPER_BOOT_PORT',
  'TEMPER_CONSOLE_PORT',
  'TEMPER_IDENTITY_PORT',
  'TEMPER_TEMPORAL_PORT',
  'TEMPER_TEMPORAL_UI_PORT',
  'TEMPER_RACK_HTTP_PORT',
  'TEMPER_RACK_HTTPS_PORT',
  'TEMPER_RACK_CONTROL_PORT',
];

/**
 * Ports that no outgoing connection and no other system gets, so that they are still free when a process that was killed comes
 * back to its own.
 */
const quietPorts = async (): Promise<NodeJS.ProcessEnv> => {
  const ports: readonly number[] = await script('lib/ports').freePorts(portSettings.length);
  return Object.fromEntries(portSettings.map((setting, at) => [setting, String(ports[at])]));
};

/** Looked at as seldom as a real BMC, an emulated one keeps a test waiting for what was done long ago. */
const quickLooks = { TEMPER_POLL_MS: '250' };

/**
 * Starts a system; its database is empty but for the schema, or holds what a fresh `npm start` does where it is seeded.
 * @param settings added to every process's environment
 */
export const startSystem = async (
  rackSize: number,
  settings: Readonly<Record<string, string>> = {},
  { seed = false }: { readonly seed?: boolean } = {},
): Promise<System> => {
  const folder: string = script('lib/paths').temporaryDir('test');
  claim(folder);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o711 });
  const environment = { ...inherited(), ...(await quietPorts()), ...quickLooks, ...settings };
  const args = ['--data', data, '--rack', String(rackSize), ...(seed ? [] : ['--no-seed'])];
  const start = () => launch(folder, args, environment);
  let supervisor: ChildProcess;
  try {
    supervisor = await start();
  } catch (failure) {
    rmSync(folder, { recursive: true, force: true });
    throw failure;
  }
  const systemFile = join(data, 'system.json');
  const record = () => readSystem(systemFile);
  const pidOf = (name: string): number => {
    const found = record().processes.find((one) => one.name === name);
    if (!found) throw new Error(`no process ${name} in ${systemFile}`);
    return found.pid;
  };

  return {
    data,
    logs: join(data, 'logs'),
    program: (name) => script('lib/paths').bin(name),
    record,
    rack: { ...rackOf(record()), faults: (bmc) => faultsOf(record(), bmc) },
    person: (cloud) => signIn(record(), cloud),
    kill(name) {
      const pid = pidOf(name);
      process.kill(pid, 'SIGKILL');
      return pid;
    },
    back: (name, pid) => cameBack(supervisorLog(folder), name, () => pidOf(name) !== pid),
    async without(name, work) {
      // A stopped supervisor starts nothing again.
      const pid = pidOf(name);
      supervisor.kill('SIGSTOP');
      try {
        process.kill(pid, 'SIGKILL');
        return await work();
      } finally {
        supervisor.kill('SIGCONT');
        await cameBack(supervisorLog(folder), name, () => pidOf(name) !== pid);
      }
    },
    async readyz(name) {
      const ports = [
        ...readFileSync(join(data, 'logs', `${name}.log`), 'utf8').matchAll(/"port":(\d+),"message":"health"/g),
      ];
      return (await fetch(`http://127.0.0.1:${ports.at(-1)![1]}/readyz`)).status;
    },
    async killAll() {
      const { identify, runs, until } = script('lib/processes');
      const pids = [supervisor.pid!, ...record().processes.map(({ pid }) => pid)];
      const all = pids.map(identify);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await until(() => !all.some(runs), stopWithinMs);
    },
    async startAgain() {
      supervisor = await start();
    },
    async stop() {
      const { runs, until } = script('lib/processes');
      const processes = safely(() => record().processes, []);
      supervisor.kill('SIGTERM');
      const ended = await until(() => supervisor.exitCode !== null || supervisor.signalCode !== null, stopWithinMs);
      if (!ended) supervisor.kill('SIGKILL');
      const left = processes.filter(runs);
      rmSync(folder, { recursive: true, force: true });
      if (!ended || left.length > 0)
        throw new Error(`the system did not stop: ${left.map(({ name }) => name).join(', ') || 'the supervisor'}`);
    },
  };
};

const faultsOf = async ({ addresses }: SystemRecord, bmc: number): Promise<object[]> => {
  const response = await fetch(`${addresses.rackControl}/control/bmcs/${bmc}/faults`);
  return ((await response.json()) as { faults: object[] }).faults;
};

/** The sweeper of left-behind folders leaves this one alone while we live, also when its own supervisor was killed. */
const claim = (folder: string): void => {
  const { identify } = script('lib/processes');
  writeFileSync(join(folder, 'system.json'), JSON.stringify({ owner: identify(process.pid), processes: [] }));
};

const supervisorLog = (folder: string): string => join(folder, 'supervisor.log');

/** The channel lets the supervisor notice our own end, however that comes. */
const launch = async (folder: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<ChildProcess> => {
  const { until } = script('lib/processes');
  const file = supervisorLog(folder);
  const log = openSync(file, 'w', 0o600);
  const child = fork(script('lib/paths').root.concat('/scripts/start.js'), args, {
    stdio: ['ignore', log, log, 'ipc'],
    env,
    detached: true,
    execArgv: [],
  });
  closeSync(log);
  const up = () => readFileSync(file, 'utf8').includes('Temper is up.');
  const over = () => child.exitCode !== null || child.signalCode !== null;
  await until(() => up() || over(), startWithinMs);
  if (up() && !over()) return child;
  child.kill('SIGTERM');
  await until(over, stopWithinMs);
  throw new Error(`the system did not start:\n${readFileSync(file, 'utf8')}`);
};

/** Back is what the supervisor last called ready and does not have under the old pid any more. */
const cameBack = async (log: string, name: string, another: () => boolean): Promise<void> => {
  const { until } = script('lib/processes');
  const about = new RegExp(`^temper: ${name} (ended with|is not ready|is ready again).*`, 'gm');
  const lastSaid = () => readFileSync(log, 'utf8').match(about)?.at(-1) ?? '';
  const back = await until(() => safely(another, false) && lastSaid().endsWith('is ready again'), startWithinMs);
  if (!back) throw new Error(`${name} did not come back:\n${readFileSync(log, 'utf8')}`);
};

const safely = <T>(work: () => T, otherwise: T): T => {
  try {
    return work();
  } catch {
    return otherwise;
  }
};
