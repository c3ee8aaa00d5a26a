/** A real RabbitMQ for tests, with its data in a folder, and listeners of its notifications by oslo.messaging. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { connect } from 'amqplib';
import { foundBy } from './found';

const lib = (name: string) => jest.requireActual(`../../scripts/lib/${name}`);

const rabbit = foundBy<{ programs: { 'rabbitmq-server': string } }>('rabbitmq.js');
const ironic = foundBy<{ ironic: { python: string } }>('ironic.js');

/** Why RabbitMQ or oslo.messaging could not be had; undefined when both are there. */
export const rabbitMissing = rabbit.missing ?? ironic.missing;

export type Heard = {
  readonly priority: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly publisher_id: string;
  readonly event_type: string;
  readonly payload: Readonly<Record<string, unknown>> & {
    readonly 'ironic_object.data': Readonly<Record<string, unknown>>;
  };
  readonly metadata: { readonly message_id: string; readonly timestamp: string };
};

export type Rabbit = {
  readonly url: string;
  /** Its messages stay, if their queues are durable. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
};

const program = (name: string): string => resolve(__dirname, '..', 'clients', name);

const answers = async (url: string): Promise<boolean> => {
  try {
    const model = await connect(url);
    await model.close();
    return true;
  } catch {
    return false;
  }
};

/** With everything that it starts: Erlang's own name server would outlive it. */
const launch = (dir: string, ports: readonly number[]): ChildProcess =>
  spawn('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', rabbit.programs!['rabbitmq-server']], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      ERL_EPMD_PORT: String(ports[1]),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_NODENAME: 'temper@localhost',
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(ports[0]),
      RABBITMQ_DIST_PORT: String(ports[2]),
      RABBITMQ_MNESIA_BASE: join(dir, 'data'),
      RABBITMQ_LOG_BASE: join(dir, 'log'),
      RABBITMQ_CONF_ENV_FILE: join(dir, 'none'),
      RABBITMQ_CONFIG_FILE: join(dir, 'rabbitmq.conf'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'plugins'),
    },
  });

export const startRabbit = async (): Promise<Rabbit> => {
  const dir = mkdtempSync(join(tmpdir(), 'rabbit-'));
  writeFileSync(join(dir, 'plugins'), '[].\n');
  writeFileSync(join(dir, 'rabbitmq.conf'), 'disk_free_limit.absolute = 1MB\n');
  const ports: readonly number[] = await lib('ports').freePorts(3);
  const url = `amqp://guest:guest@127.0.0.1:${ports[0]}/`;
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    child = undefined;
  };
  const start = async (): Promise<void> => {
    child = launch(dir, ports);
    const { until } = lib('processes');
    if (!(await until(() => answers(url), 120_000))) throw new Error(`RabbitMQ did not start; its log is in ${dir}`);
  };
  const close = async (): Promise<void> => {
    await stop();
    rmSync(dir, { recursive: true, force: true });
  };
  await start();
  return { url, start, stop, close };
};

export type Listener = {
  /** In the order of arrival. */
  readonly heard: readonly Heard[];
  /** Resolves when a message of this type was heard, or so many messages. */
  until(enough: (heard: readonly Heard[]) => boolean): Promise<void>;
  close(): Promise<void>;
};

export const startListener = async (url: string): Promise<Listener> => {
  const child = spawn(ironic.ironic!.python, [program('notifications_listen.py'), url.replace(/^amqp:/, 'rabbit:')], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const heard: Heard[] = [];
  const lines = createInterface(child.stdout);
  const [first] = await Promise.race([once(lines, 'line'), ended]);
  if (first !== 'listening') throw new Error('the listener did not start');
  lines.on('line', (line) => heard.push(JSON.parse(line)));
  return {
    heard,
    async until(enough) {
      while (!enough(heard))
        await Promise.race([once(lines, 'line'), ended.then(() => Promise.reject(new Error('the listener ended')))]);
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
};

/** A real Ironic that sends its notifications, by noauth. */
export const startNotifyingIronic = async (transport: string) => {
  const dir = mkdtempSync(join(tmpdir(), 'ironic-'));
  const [port] = await lib('ports').freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const args = [`sqlite:///${join(dir, 'ironic.db')}`, dir, String(port), transport.replace(/^amqp:/, 'rabbit:')];
  const child = spawn(ironic.ironic!.python, [program('notifications_ironic.py'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said = `${said}${chunk}`.slice(-6_000);
  });
  const ended = once(child, 'exit');
  const close = async (): Promise<void> => {
    if (child.exitCode === null) child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  const serves = async (): Promise<boolean> => {
    const answer = await fetch(`${url}/v1/drivers`).catch(() => undefined);
    return answer?.ok === true && ((await answer.json()) as { drivers: unknown[] }).drivers.length > 0;
  };
  const { until } = lib('processes');
  if (!(await until(async () => child.exitCode !== null || (await serves()), 120_000)) || child.exitCode !== null) {
    await close();
    throw new Error(`Ironic did not start:\n${said}`);
  }
  return { url, close, said: () => said };
};

/** The requests of notifications_walk.py. */
export const walk = async (url: string, pauseSeconds: number): Promise<void> => {
  const child = spawn(ironic.ironic!.python, [program('notifications_walk.py'), url, '{}', String(pauseSeconds)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`the walk ended with ${status}:\n${said}`);
};
