/** The worst request of each route, one, three and eight at once: what it costs, and how long another caller waits meanwhile. */
import { Agent, get } from 'node:http';
import { type Helper, startHelper } from './child';
import { cpuByGroup, cpuMs, residentMiB } from './processes';
import { type SecondApi, startSecondApi } from './second-api';
import { median } from './stats';
import { ask, type System } from './system';
import { amount, ms, table } from './table';
import { type Case, worstCases } from './worst-cases';
import type { Burst, Sent } from './worst-sender';
import { type World, worstWorld } from './worst-world';

const atOnce = [1, 3, 8] as const;

/** Of one request, with so many at once. */
type Load = {
  /** Of the API and of PostgreSQL together. */
  readonly cpu_ms: number;
  readonly mib: number;
  /** Of another caller meanwhile. */
  readonly look_ms: number;
};
type Line = {
  readonly route: string;
  readonly way: string;
  readonly kib: number;
  readonly statuses: readonly string[];
  readonly alone_ms: number;
  readonly loads: readonly Load[];
};
export type Worst = { readonly lines: readonly Line[] };

const worstBounds = { cpu_ms: 1_000, mib: 64, times: 4, floor_ms: 250 } as const;

/** An API that has grown by more than this is started again: what it holds already would hide what the next requests add. */
const grownMib = 150;
const looksAlone = 15;

type Bench = {
  readonly system: System;
  readonly world: World;
  readonly sender: Helper<Burst, Sent>;
  readonly for_ms: number;
  readonly agent: Agent;
  api: SecondApi;
  base_mib: number;
};

const costMs = ({ system, api }: Bench): number =>
  (cpuMs(api.pid) ?? Number.NaN) + (cpuByGroup(system.processes).get('postgres') ?? 0);

/** ms until another caller has the whole answer to its node. */
const look = ({ world: { seen, bystander }, api: { port }, agent }: Bench): Promise<number> =>
  new Promise((done, fail) => {
    const began = performance.now();
    const path = `/v1/nodes/${seen}`;
    get({ port, path, agent, host: '127.0.0.1', headers: bystander.headers }, (reply) =>
      reply
        .resume()
        .on('error', fail)
        .on('end', () => done(performance.now() - began)),
    ).on('error', fail);
  });

const sent = ({ sender, system, api }: Bench, { method, path, body }: Case, at_once: number, for_ms: number) =>
  sender.ask({ port: api.port, method, path, headers: system.headers, body, at_once, for_ms });

const loaded = async (bench: Bench, one: Case, at_once: number): Promise<Load & Sent> => {
  const before = { cpu: costMs(bench), mib: residentMiB(bench.api.pid) };
  let most = before.mib;
  const watch = setInterval(() => {
    most = Math.max(most, residentMiB(bench.api.pid));
  }, 10);
  let over = false;
  const sending = sent(bench, one, at_once, bench.for_ms).finally(() => {
    over = true;
  });
  const looks: number[] = [];
  while (!over) looks.push(await look(bench));
  const { requests, statuses } = await sending;
  clearInterval(watch);
  const cpu_ms = (costMs(bench) - before.cpu) / requests;
  return { cpu_ms, mib: (most - before.mib) / at_once, look_ms: median(looks), requests, statuses };
};

const beginApi = async (bench: Omit<Bench, 'api' | 'base_mib'>): Promise<Bench> => {
  const api = await startSecondApi(bench.system, { TEMPER_DISCOVERY: 'true' });
  const begun = { ...bench, api, base_mib: 0 };
  for (let at = 0; at < 200; at += 1) await look(begun);
  return { ...begun, base_mib: residentMiB(api.pid) };
};

/** Of several requests for a route the one that costs most; what was refused only where nothing was taken. */
const worstOf = async (bench: Bench, cases: readonly Case[]): Promise<Case> => {
  let worst = { one: cases[0]!, cost: -1 };
  if (cases.length === 1) return worst.one;
  for (const one of cases) {
    const before = costMs(bench);
    const { statuses } = await sent(bench, one, 1, 0);
    const refused = Object.keys(statuses).some((status) => Number(status) >= 400);
    const cost = costMs(bench) - before + (refused ? 0 : 20);
    if (cost > worst.cost) worst = { one, cost };
  }
  return worst.one;
};

const triesMost = 3;

/** Measured again where another caller waits too long: other work on the machine only adds to that. */
const leastOf = async (bench: Bench, one: Case, many: number, alone_ms: number): Promise<Load & Sent> => {
  let least = await loaded(bench, one, many);
  for (let tried = 1; tried < triesMost && least.look_ms > lookBound({ alone_ms }); tried += 1) {
    const again = await loaded(bench, one, many);
    least = {
      ...again,
      cpu_ms: Math.min(least.cpu_ms, again.cpu_ms),
      look_ms: Math.min(least.look_ms, again.look_ms),
      mib: Math.max(least.mib, again.mib),
    };
  }
  return least;
};

const lineOf = async (bench: Bench, cases: readonly Case[]): Promise<Line> => {
  const one = await worstOf(bench, cases);
  const alone: number[] = [];
  for (let at = 0; at < looksAlone; at += 1) alone.push(await look(bench));
  const loads = [];
  for (const many of atOnce) loads.push(await leastOf(bench, one, many, median(alone)));
  return {
    route: one.route,
    way: one.way,
    kib: (one.body ?? one.path).length / 1_024,
    statuses: [...new Set(loads.flatMap(({ statuses }) => Object.keys(statuses)))].sort(),
    alone_ms: median(alone),
    loads: loads.map(({ cpu_ms, mib, look_ms }) => ({ cpu_ms, mib, look_ms })),
  };
};

export const measureWorst = async (
  system: System,
  { for_ms }: { readonly for_ms: number },
  say: (line: string) => void,
): Promise<Worst> => {
  const world = await worstWorld(system);
  const all = worstCases(world, JSON.parse(await ask(system, 'GET', '/temper/v1/openapi.json')));
  const sender = startHelper<Burst, Sent>('worst-sender');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const still = { system, world, sender, for_ms, agent };
  let bench = await beginApi(still);
  const lines: Line[] = [];
  try {
    for (const cases of all) {
      if (residentMiB(bench.api.pid) > bench.base_mib + grownMib) {
        await bench.api.stop();
        bench = await beginApi(still);
      }
      const line = await lineOf(bench, cases);
      say(`worst: ${line.route}, ${line.way}: ${line.statuses.join(' ')}, ${line.loads.map(loadText).join('; ')}`);
      lines.push(line);
    }
  } finally {
    await bench.api.stop();
    await sender.stop();
    agent.destroy();
  }
  return { lines };
};

const loadText = ({ cpu_ms, mib, look_ms }: Load): string => `${ms(cpu_ms)} ms, ${amount(mib)} MiB, ${ms(look_ms)} ms`;

const lookBound = ({ alone_ms }: Pick<Line, 'alone_ms'>): number =>
  Math.max(worstBounds.times * alone_ms, worstBounds.floor_ms);

const isBeyond = (line: Line): boolean =>
  line.loads.some(
    ({ cpu_ms, mib, look_ms }) => cpu_ms > worstBounds.cpu_ms || mib > worstBounds.mib || look_ms > lookBound(line),
  );

/** Lines that are beyond a bound. */
export const worstBeyond = (found: Worst | undefined): readonly Line[] => (found?.lines ?? []).filter(isBeyond);

const costOf = ({ loads }: Line): number => Math.max(...loads.map(({ cpu_ms }) => cpu_ms));

export const worstTables = ({ lines }: Worst): string[] => [
  `The worst request of each route, ${atOnce.join(', ')} at once: processor ms and MiB of one (at most ${worstBounds.cpu_ms} and ${worstBounds.mib}), ` +
    `and ms of another caller's show (at most ${worstBounds.times} times its time alone, or ${worstBounds.floor_ms})`,
  table(
    ['route', 'request', 'KiB', 'status', 'cpu 1', '3', '8', 'MiB 1', '3', '8', 'alone', 'show 1', '3', '8', 'within'],
    [...lines]
      .sort((one, other) => costOf(other) - costOf(one))
      .map((line) => [
        line.route,
        line.way,
        amount(line.kib),
        line.statuses.join(' '),
        ...line.loads.map(({ cpu_ms }) => amount(cpu_ms)),
        ...line.loads.map(({ mib }) => amount(mib)),
        ms(line.alone_ms),
        ...line.loads.map(({ look_ms }) => ms(look_ms)),
        isBeyond(line) ? 'no' : 'yes',
      ]),
  ),
];
