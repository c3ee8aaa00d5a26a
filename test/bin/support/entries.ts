/** Starts a process of the product from src, with nothing of our environment but what Node needs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { newPair } from '../../../src/inventory/secrets/sealed-box';

const root = join(__dirname, '../../..');
const register = join(__dirname, 'register.js');

/** Programs beside the product. */
const beside: Readonly<Record<string, string>> = {
  'demo-identity': 'emulator/identity-process.ts',
  rack: 'emulator/rack-process.ts',
};

export type Env = Readonly<Record<string, string>>;
export type Ending = { readonly status: number | null; readonly out: string; readonly err: string };

/** A started process; `says` resolves with the first line of standard output that has the text. */
export type Entry = {
  readonly child: ChildProcess;
  readonly ended: Promise<Ending>;
  says(text: string): Promise<string>;
};

const running = new Map<ChildProcess, Promise<unknown>>();

/** For afterEach: no test leaves a process behind, nor a process of such a process, which holds the same pipes. */
export const endAll = async (): Promise<void> => {
  for (const child of running.keys()) if (child.exitCode === null) child.kill('SIGKILL');
  await Promise.all(running.values());
  running.clear();
};

export type Surroundings = {
  /** A shell's words that make its file systems, in a mount namespace of its own. */
  readonly mounting?: string;
  /** A descriptor in place of the pipe that its standard output is read from. */
  readonly stdout?: number;
  /** The account it runs as. */
  readonly uid?: number;
};

/** A program and its arguments in a mount namespace where the shell's words have been obeyed first. */
const mounted = (mounting: string, argv: readonly string[]): string[] => [
  'unshare',
  ...['--user', '--map-root-user', '--mount', 'sh', '-c', `${mounting} && exec "$@"`, 'sh'],
  ...argv,
];

/** @param command an entry of src/bin and its arguments, such as `worker bmc` */
export const start = (command: string, env: Env, { mounting, stdout, uid }: Surroundings = {}): Entry => {
  const [entry, ...args] = command.split(' ');
  const { PATH = '' } = process.env;
  const file = join(root, beside[entry!] ?? `src/bin/${entry}.ts`);
  const plain = [process.execPath, '--require', register, file, ...args];
  const [program, ...words] = mounting ? mounted(mounting, plain) : plain;
  const child = spawn(program!, words, {
    cwd: root,
    env: { PATH, ...env },
    stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  });
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    err += chunk;
  });
  const ended = once(child, 'close').then(([status]): Ending => ({ status, out, err }));
  running.set(child, ended);
  const says = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const line = out.split('\n').find((one) => one.includes(text));
        if (line) resolve(line);
      };
      child.stdout?.on('data', look);
      look();
      void ended.then(({ status }) => reject(new Error(`ended with ${status} and never said ${text}:\n${out}${err}`)));
    });
  return { child, ended, says };
};

/** Runs a process that is expected to end by itself. */
export const run = (command: string, env: Env, surroundings?: Surroundings): Promise<Ending> =>
  start(command, env, surroundings).ended;

/** Ports without a listener are not needed: these addresses are never asked in these tests. */
const store: Env = { TEMPER_DATABASE_URL: 'postgres://temper:hunter2@127.0.0.1:9/temper' };
const engine: Env = { TEMPER_TEMPORAL_ADDRESS: '127.0.0.1:9' };
const pair = newPair();
const sealing: Env = {
  TEMPER_SECRETS_PUBLIC_KEYS: `k1:${pair.publicRaw.toString('base64')}`,
  TEMPER_DIGEST_KEYS: `d1:${Buffer.alloc(32, 7).toString('base64')}`,
};
const opening: Env = { TEMPER_SECRETS_PRIVATE_KEYS: `k1:${pair.privateRaw.toString('base64')}` };
const networks: Env = { TEMPER_BMC_NETWORKS: '10.0.0.0/8,fd00::/8' };

/** Settings with which each process starts. */
export const good = {
  api: {
    ...store,
    ...engine,
    ...sealing,
    ...networks,
    TEMPER_API_PORT: '0',
    TEMPER_AUTH_STRATEGY: 'noauth',
  },
  control: { ...store, ...engine },
  bmc: { ...store, ...engine, ...opening, ...networks },
  boot: { ...store, TEMPER_BOOT_PORT: '0', TEMPER_BOOT_DIR: '/dev/null/boot' },
  console: {
    TEMPER_CONSOLE_PORT: '0',
    TEMPER_CONSOLE_API_URL: 'http://127.0.0.1:9',
    TEMPER_CONSOLE_KEY: `c1:${Buffer.alloc(32, 7).toString('base64')}`,
  },
  notifications: { ...store, TEMPER_NOTIFICATIONS_URL: 'amqp://temper:hunter2@127.0.0.1:9/' },
  migrate: { ...store },
  rack: {},
  'demo-identity': { TEMPER_DEMO_IDENTITY_PORT: '0', TEMPER_API_PUBLIC_URL: 'http://127.0.0.1:6385' },
} as const satisfies Record<string, Env>;
