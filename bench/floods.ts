/** Every listener while one address asks more than it may: how soon another address is answered, and how much memory that takes. */
import { get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { startHelper } from './child';
import { type Flood, floodWays } from './flood-ways';
import { environmentOf, residentMiB } from './processes';
import { startSecondApi } from './second-api';
import { percentile } from './stats';
import type { System } from './system';
import { amount, ms, table } from './table';

type Listener = { readonly name: string; readonly pid: number; readonly port: number; readonly path: string };
type Line = {
  readonly listener: string;
  readonly way: Flood['way'];
  /** Of another address, ms: while nobody else asks, and during the flood. */
  readonly p95_alone: number;
  readonly p95: number;
  readonly looks: number;
  readonly mib_before: number;
  readonly mib_most: number;
  readonly mib_after: number;
  readonly closed: number;
};
export type Floods = { readonly seconds: number; readonly own_network: boolean; readonly lines: readonly Line[] };

const floodBounds = { p95_ms: 1_000, mib_more: 100 } as const;

const other = '127.0.0.2';
const longestMs = 10_000;
const looksAlone = 40;
/** Between the beginnings of two looks, whatever became of the first: a slow one would keep others from being counted. */
const betweenMs = 50;
const backWithinMs = 60_000;

/** ms until the whole answer is there, on a connection of its own; the longest wait where none came. */
const look = ({ port, path }: Listener): Promise<number> =>
  new Promise((done) => {
    const began = performance.now();
    const fail = () => done(longestMs);
    const asked = get(
      { port, path, host: '127.0.0.1', localAddress: other, agent: false, timeout: longestMs },
      (reply) =>
        reply
          .resume()
          .on('error', fail)
          .on('end', () => done(performance.now() - began)),
    );
    asked.on('timeout', () => asked.destroy()).on('error', fail);
  });

/** @returns p95 while nobody else asks, ms */
const looksWithout = async (listener: Listener): Promise<number> => {
  const times: number[] = [];
  for (let at = 0; at < looksAlone; at += 1) {
    times.push(await look(listener));
    await pause(betweenMs);
  }
  return percentile(times, 0.95);
};

const flood = async (listener: Listener, way: Flood['way'], seconds: number): Promise<Line> => {
  const { name, pid, port, path } = listener;
  const sender = startHelper<Flood, number>('floods-sender');
  await sender.ask({ port, path, way, seconds: 0 });
  const p95_alone = await looksWithout(listener);
  const mib_before = residentMiB(pid);
  let mib_most = mib_before;
  let closed: number | undefined;
  const sent = sender.ask({ port, path, way, seconds }).then((count) => {
    closed = count;
  });
  const looks: Promise<number>[] = [];
  while (closed === undefined) {
    looks.push(look(listener));
    mib_most = Math.max(mib_most, residentMiB(pid));
    await pause(betweenMs);
  }
  await sent;
  const times = await Promise.all(looks);
  await sender.stop();
  const since = performance.now();
  let mib_after = residentMiB(pid);
  while (mib_after > mib_before + floodBounds.mib_more && performance.now() - since < backWithinMs) {
    await pause(1_000);
    mib_after = residentMiB(pid);
  }
  return {
    listener: name,
    way,
    p95_alone,
    p95: percentile(times, 0.95),
    looks: times.length,
    mib_before,
    mib_most,
    mib_after,
    closed,
  };
};

/** Listeners of the system's processes by the setting of their port; a process that it does not have is left out. */
const listenersOf = ({ processes }: System): Listener[] => {
  const of = (process: string, setting: string, name: string, path: string): Listener[] =>
    processes
      .filter((one) => one.name === process)
      .flatMap(({ pid }) => {
        const port = Number(environmentOf(pid, setting) ?? 0);
        return port > 0 ? [{ name, pid, port, path }] : [];
      })
      .slice(0, 1);
  return [
    ...of('console', 'TEMPER_CONSOLE_PORT', 'console', '/sign-in'),
    ...of('boot', 'TEMPER_BOOT_PORT', 'boot service', '/boot/network/52-54-00-00-00-01/boot.ipxe'),
    ...of('worker-control', 'TEMPER_HEALTH_PORT', 'health', '/metrics'),
    ...of('worker-bmc-default', 'TEMPER_SERIAL_CONSOLE_PORT', 'serial lines', '/'),
  ];
};

/** scripts/bench.js says so where it started this in a network namespace. */
const own_network = process.env.BENCH_NETWORK === 'own';

/** From addresses of the loopback network alone: 127.0.0.9 sends, 127.0.0.2 is another. */
export const measureFloods = async (
  system: System,
  { seconds }: { readonly seconds: number },
  say: (line: string) => void,
): Promise<Floods> => {
  const settings = { TEMPER_RAMDISK_LISTEN: '127.0.0.1:0' };
  const api = await startSecondApi(system, settings);
  const ramdisks = await startSecondApi(system, settings, 'ramdisks');
  try {
    const listeners = [
      { name: 'API', pid: api.pid, port: api.port, path: '/v1/none' },
      { name: 'ramdisks', pid: ramdisks.pid, port: ramdisks.port, path: '/v1/lookup?addresses=52:54:00:00:00:01' },
      ...listenersOf(system),
    ];
    const lines: Line[] = [];
    for (const listener of listeners)
      for (const way of floodWays) {
        say(`floods: ${listener.name}, ${way}`);
        lines.push(await flood(listener, way, seconds));
      }
    return { seconds, own_network, lines };
  } finally {
    await Promise.all([api.stop(), ramdisks.stop()]);
  }
};

const isBeyond = ({ p95, mib_before, mib_most, mib_after }: Line): boolean =>
  p95 > floodBounds.p95_ms || Math.max(mib_most, mib_after) - mib_before > floodBounds.mib_more;

/** Lines that are beyond a bound. */
export const floodsBeyond = (found: Floods | undefined): readonly Line[] => (found?.lines ?? []).filter(isBeyond);

export const floodsTables = (found: Floods): string[] => [
  `One address asks more than it may, ${found.seconds} s each; another is answered within ${floodBounds.p95_ms} ms (p95), memory grows by ${floodBounds.mib_more} MiB at most`,
  found.own_network
    ? 'In a network namespace of its own'
    : 'In the network of this machine, which others use too; the port of serial lines is left out',
  table(
    ['listener', 'way', 'p95 alone, ms', 'p95, ms', 'looks', 'MiB before', 'most', 'after', 'closed', 'within'],
    found.lines.map((line) => [
      line.listener,
      line.way,
      ms(line.p95_alone),
      ms(line.p95),
      String(line.looks),
      ...[line.mib_before, line.mib_most, line.mib_after].map(amount),
      String(line.closed),
      isBeyond(line) ? 'no' : 'yes',
    ]),
  ),
];
