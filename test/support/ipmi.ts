/** A real ipmi_sim for tests: one simulated BMC per call, behind a UDP relay that can go silent or lose an answer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Relayed } from '../bmc/support/relay';
import { foundBy } from './found';

type Programs = { readonly ipmitool: string; readonly ipmi_sim: string };

const found = foundBy<{ programs: Programs }>('ipmi.js');

/** Why ipmitool and ipmi_sim could not be had; undefined when they are there. */
export const ipmiMissing = found.missing;

/** Throws where they are missing. */
export const ipmiPrograms = (): Programs => {
  if (!found.programs) throw new Error(`ipmitool and ipmi_sim are not there: ${found.missing}`);
  return found.programs;
};

export const account = { username: 'admin', password: 'kept-from-ps' };

export type SimOptions = {
  /** The BMC's own key, in hexadecimal. */
  readonly kgKey?: string;
  /** Shell lines that run before the chassis obeys; `$1 $2 $3` is what is asked: `set power 1`. */
  readonly first?: string;
  /** Port of a telnet server that stands for the serial line. */
  readonly serialPort?: number;
};

const host = '127.0.0.1';

const lanConfig = (dir: string, port: number, { kgKey, serialPort }: SimOptions): string =>
  [
    'name "bmc"',
    'set_working_mc 0x20',
    '  startlan 1',
    `    addr ${host} ${port}`,
    '    priv_limit admin',
    ...['callback', 'user', 'operator', 'admin'].map((level) => `    allowed_auths_${level} none md2 md5 straight`),
    // Without one it does not speak IPMI 2.0.
    '    guid a123456789abcdefa123456789abcdef',
    ...(kgKey ? [`    bmc_key ${kgKey.padEnd(32, '0')}`] : []),
    '  endlan',
    ...(serialPort === undefined ? [] : [`  sol "telnet:localhost:${serialPort}" 115200`]),
    `  chassis_control "${join(dir, 'chassis')}"`,
    '  user 1 false "" "none" user 10 none md2 md5 straight',
    `  user 2 true "${account.username}" "${account.password}" admin 10 none md2 md5 straight`,
    '',
  ].join('\n');

const commands = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
mc_enable 0x20
`;

/** What is asked of the chassis goes to the journal; power and boot device are files beside it. */
const chassis = (dir: string, first: string): string => `#!/bin/sh
cd '${dir}' || exit 1
${first}
case "$1 $2" in
  "get power") echo "power:$(cat power)" ;;
  "get boot") echo "boot:$(cat boot)" ;;
  "set power") echo "$*" >> journal; echo "$3" > power ;;
  "set shutdown") echo "$*" >> journal; echo 0 > power ;;
  "set boot") echo "$*" >> journal; echo "$3" > boot ;;
  set*) echo "$*" >> journal ;;
esac
`;

const freeUdpPort = async (): Promise<number> => {
  const socket = createSocket('udp4');
  socket.bind(0, host);
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((done) => socket.close(() => done()));
  return port;
};

// RMCP presence ping: the one question that needs no session.
const ping = Buffer.from('0600ff06000011be80000000', 'hex');

/** Asks until the simulator answers: it says nothing when it begins to listen. */
const answers = async (port: number, child: ChildProcess): Promise<void> => {
  const socket = createSocket('udp4');
  socket.on('error', () => undefined);
  const timer = setInterval(() => socket.send(ping, port, host), 20);
  try {
    await Promise.race([
      once(socket, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('ipmi_sim ended before it answered'))),
    ]);
  } finally {
    clearInterval(timer);
    socket.close();
  }
};

type Wire = { readonly port: number; silent: boolean; onAnswer: () => 'cut' | undefined; close(): Promise<void> };

/** One socket per client, so that answers find their way back. */
const startUdpRelay = async (target: number): Promise<Wire> => {
  const clients = new Map<string, Socket>();
  const front = createSocket('udp4');
  const backFor = (port: number, address: string): Socket => {
    const key = `${address}:${port}`;
    const back = clients.get(key) ?? createSocket('udp4');
    if (!clients.has(key))
      back.on('message', (packet) => {
        if (!wire.silent && wire.onAnswer() !== 'cut') front.send(packet, port, address);
      });
    clients.set(key, back);
    return back;
  };
  front.on('message', (packet, from) => {
    if (!wire.silent) backFor(from.port, from.address).send(packet, target, host);
  });
  front.bind(0, host);
  await once(front, 'listening');
  const wire: Wire = {
    port: (front.address() as AddressInfo).port,
    silent: false,
    onAnswer: () => undefined,
    async close() {
      await Promise.all(
        [front, ...clients.values()].map((one) => new Promise<void>((done) => one.close(() => done()))),
      );
    },
  };
  return wire;
};

export const startSim = async (options: SimOptions = {}) => {
  const { first = '' } = options;
  const dir = await mkdtemp(join(tmpdir(), 'ipmi-sim-'));
  const port = await freeUdpPort();
  const put = (name: string, text: string, mode = 0o600) => writeFile(join(dir, name), text, { mode });
  const texts = { power: '0\n', boot: 'none\n', journal: '', lan: lanConfig(dir, port, options), commands };
  for (const [name, text] of Object.entries(texts)) await put(name, text);
  await put('chassis', chassis(dir, first), 0o700);
  const args = ['-n', '-p', '-c', join(dir, 'lan'), '-f', join(dir, 'commands'), '-s', join(dir, 'state')];
  const child = spawn(ipmiPrograms().ipmi_sim, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await answers(port, child);
  const wire = await startUdpRelay(port);

  const journal = () => readFileSync(join(dir, 'journal'), 'utf8').split('\n').filter(Boolean);
  const writes = () => journal().map((path): Relayed => ({ method: 'set', path, status: 200, body: '' }));
  const proxy: { writes: typeof writes; onAnswer: ((relayed: Relayed) => 'cut' | undefined) | undefined } = {
    writes,
    onAnswer: undefined,
  };
  wire.onAnswer = () => proxy.onAnswer?.({ method: 'any', path: '', status: 200, body: '' });

  return {
    /** What is needed to reach it through the relay. */
    driver_info: {
      ipmi_address: host,
      ipmi_port: wire.port,
      ipmi_username: account.username,
      ipmi_password: account.password,
      // It does not say what it has, which ipmitool would wait for.
      ipmi_cipher_suite: 3,
    },
    /** Its own port, past the relay: a session of serial over LAN wants the one that the BMC names. */
    ownPort: port,
    proxy,
    /** Commands that the chassis obeyed, oldest first: `set power 1`. */
    journal,
    power: () => readFileSync(join(dir, 'power'), 'utf8').trim(),
    boot: () => readFileSync(join(dir, 'boot'), 'utf8').trim(),
    /** Nothing comes through any more, or again. */
    silence(silent: boolean) {
      wire.silent = silent;
    },
    async close() {
      await wire.close();
      child.kill('SIGKILL');
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
};

export type Sim = Awaited<ReturnType<typeof startSim>>;
