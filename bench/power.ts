/** Power sync of a fleet: how many nodes stay current, what a look costs, and what comes of BMCs that are dark at once. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RackBmc } from '../emulator/rack';
import { createInventory } from '../src/inventory';
import { connect } from '../src/inventory/database';
import { newPair } from '../src/inventory/secrets/sealed-box';
import { createSealer } from '../src/inventory/secrets/sealing';
import { bmcSideOf } from '../src/model/access/bmc-sides';
import { type Helper, startHelper } from './child';
import type { PowerAnswer, PowerQuestion } from './power-host';
import { cpuByGroup, cpuSince } from './processes';
import type { RackAnswer, RackQuestion } from './rack-host';
import type { System } from './system';
import { table } from './table';

export type PowerEffort = {
  readonly nodes: number;
  readonly workers: number;
  /** Looks at once in each worker. */
  readonly places: number;
  readonly every_s: number;
  /** BMCs that stop answering at once. */
  readonly dark: number;
};

export type PowerTimes = PowerEffort & {
  /** Share of nodes that were looked at within 1.2 intervals. */
  readonly current: number;
  readonly looks_per_s: number;
  readonly requests_per_s: number;
  /** Processor time of a look in ms: of the workers, and of PostgreSQL beyond what it used before; both in cores. */
  readonly worker_ms: number;
  readonly postgres_ms: number;
  readonly cores: number;
  /** Resident memory of the largest worker. */
  readonly worker_mib: number;
  /** Of what was updated in power_looks: the share that left no index entry; and the dead rows at the end. */
  readonly hot: number;
  readonly dead_rows: number;
  /** Most requests in an eighth of an interval while BMCs were dark and after, by the usual ones. */
  readonly most_requests: number;
  /** Nodes with a power failure when the BMCs answered again, and the intervals until there was none. */
  readonly failed: number;
  readonly recovered_intervals: number;
};

const group = 'bench-power';
const latency = { medianMs: 1_000, p99Ms: 8_000, seed: 16 } as const;
const key = newPair();
const batch = 1_000;
// Sessions are kept for ten minutes, the usual interval is two.
const warmIntervals = 5;

type Rack = Helper<RackQuestion, RackAnswer>;
type Worker = Helper<PowerQuestion, PowerAnswer>;

/** Nodes as the API would have stored them, in use and powered off as their BMCs are. */
const fill = async ({ postgresUrl }: System, bmcs: readonly RackBmc[]): Promise<void> => {
  const sql = connect(postgresUrl, { max: 1 });
  const inventory = createInventory(sql);
  const sealer = createSealer([{ id: 'bench', group: null, raw: key.publicRaw }]);
  for (let at = 0; at < bmcs.length; at += batch) {
    const sealed = bmcs.slice(at, at + batch).map((bmc) => {
      const uuid = randomUUID();
      const info = {
        redfish_address: bmc.address,
        redfish_system_id: bmc.systemId,
        redfish_username: bmc.username,
        redfish_password: bmc.password,
      };
      const side = bmcSideOf({ driver: 'redfish', driver_info: info });
      const holding = { holder: 'node', holder_id: uuid, field: 'driver_info', groups: [group], side } as const;
      return { uuid, ...sealer.seal(info, holding) };
    });
    await sql`
      insert into nodes (uuid, driver, driver_info, conductor_group, provision_state, power_state)
      select (one->>'uuid')::uuid, 'redfish', one->'document', ${group}, 'active', 'power off'
      from jsonb_array_elements(${sql.json(sealed.map(({ uuid, document }) => ({ uuid, document })))}) one`;
    await inventory.secrets.insert(sealed.flatMap(({ secrets }) => secrets));
  }
  await sql`vacuum analyze nodes, secrets`;
  await inventory.close();
};

const remove = async ({ sql }: System): Promise<void> => {
  await sql`delete from secrets where key_id = 'bench'`;
  await sql`delete from nodes where conductor_group = ${group}`;
  await sql`vacuum analyze nodes`;
};

type Counts = { readonly looks: number; readonly requests: number };

const counted = async (workers: readonly Worker[], rack: Rack): Promise<Counts & { readonly mib: number }> => {
  const answers = await Promise.all(workers.map((worker) => worker.ask({ is: 'look' })));
  const { traffic } = await rack.ask({ is: 'look' });
  return {
    looks: answers.reduce((sum, { looks }) => sum + Object.values(looks).reduce((a, b) => a + b, 0), 0),
    requests: traffic.reduce((sum, { requests }) => sum + requests, 0),
    mib: Math.max(...answers.map(({ resident_mib }) => resident_mib)),
  };
};

type TableStats = { readonly updated: number; readonly hot: number; readonly dead: number };

const statsOf = async ({ sql }: System): Promise<TableStats> => {
  const [row] = await sql<TableStats[]>`
    select n_tup_upd::int as updated, n_tup_hot_upd::int as hot, n_dead_tup::int as dead
    from pg_stat_user_tables where relname = 'power_looks'`;
  return row!;
};

const postgresOf = ({ processes }: System) => processes.filter(({ name }) => name === 'postgres');

/** Cores that PostgreSQL uses before the workers begin. */
const idleCores = async (system: System): Promise<number> => {
  const watchedMs = 5_000;
  const before = cpuByGroup(postgresOf(system));
  await pause(watchedMs);
  return Object.values(cpuSince(before, postgresOf(system))).reduce((a, b) => a + b, 0) / watchedMs;
};

type Steady = Omit<PowerTimes, keyof PowerEffort | 'most_requests' | 'failed' | 'recovered_intervals'>;

const steady = async (
  system: System,
  workers: readonly Worker[],
  rack: Rack,
  { every_s, nodes }: PowerEffort,
  idle: number,
): Promise<Steady> => {
  const named = workers.map(({ pid }) => ({ name: 'looking', pid }));
  const [before, stats] = [await counted(workers, rack), await statsOf(system)];
  const cpu = cpuByGroup([...named, ...postgresOf(system)]);
  const began = performance.now();
  await pause(every_s * 1_000);
  const took = performance.now() - began;
  const used = cpuSince(cpu, [...named, ...postgresOf(system)]);
  const [after, ended] = [await counted(workers, rack), await statsOf(system)];
  const [row] = await system.sql<{ current: number }[]>`
    select count(*)::int as current from power_looks l join nodes n on n.uuid = l.node_uuid
    where n.conductor_group = ${group} and l.looked_at > now() - ${every_s * 1.2} * interval '1 second'`;
  const looks = after.looks - before.looks;
  const postgres = (used.postgres ?? 0) - idle * took;
  return {
    current: row!.current / nodes,
    looks_per_s: (looks * 1_000) / took,
    requests_per_s: ((after.requests - before.requests) * 1_000) / took,
    worker_ms: (used.looking ?? 0) / looks,
    postgres_ms: postgres / looks,
    cores: ((used.looking ?? 0) + postgres) / took,
    worker_mib: after.mib,
    hot: (ended.hot - stats.hot) / (ended.updated - stats.updated),
    dead_rows: ended.dead,
  };
};

const failedNodes = async ({ sql }: System): Promise<number> => {
  const [row] = await sql<{ failed: number }[]>`
    select count(*)::int as failed from nodes where conductor_group = ${group} and fault = 'power failure'`;
  return row!.failed;
};

// A look that gets no answer lasts longer than a short interval: then the BMCs close their connections.
const hangsFrom_s = 120;

/** Lets the first BMCs go dark until their nodes are out of use, and waits until all are in use again. */
const outage = async (
  system: System,
  workers: readonly Worker[],
  rack: Rack,
  { every_s, dark }: PowerEffort,
  usual: number,
): Promise<Pick<PowerTimes, 'most_requests' | 'failed' | 'recovered_intervals'>> => {
  const eighthMs = (every_s * 1_000) / 8;
  let most = 0;
  const watched = async (): Promise<void> => {
    const before = (await counted(workers, rack)).requests;
    const began = performance.now();
    await pause(eighthMs);
    const requests = (await counted(workers, rack)).requests - before;
    most = Math.max(most, (requests * 1_000) / (performance.now() - began) / usual);
  };
  const fault = {
    ...(every_s < hangsFrom_s ? { kind: 'drop-before' as const } : { kind: 'hang' as const, ms: 60_000 }),
  };
  await rack.ask({ is: 'strike', bmcs: dark, fault: { ...fault, seconds: 86_400 } });
  for (let eighth = 0; eighth < 6 * 8 && (await failedNodes(system)) < dark; eighth++) await watched();
  const failed = await failedNodes(system);
  await rack.ask({ is: 'clear', bmcs: dark });
  const began = performance.now();
  while ((await failedNodes(system)) > 0 && performance.now() - began < 6 * every_s * 1_000) await watched();
  return { most_requests: most, failed, recovered_intervals: (performance.now() - began) / (every_s * 1_000) };
};

/** Fills a group of its own, starts workers of power sync for it, and takes both away again. */
export const measurePower = async (
  system: System,
  effort: PowerEffort,
  say: (line: string) => void,
): Promise<PowerTimes> => {
  const dir = mkdtempSync(join(tmpdir(), 'temper-bench-power-'));
  const rack: Rack = startHelper('rack-host', [dir]);
  const workers: Worker[] = Array.from({ length: effort.workers }, () => startHelper('power-host'));
  try {
    const { bmcs } = await rack.ask({ is: 'open', bmcs: effort.nodes, faults: [], forgetful: true, latency });
    await fill(system, bmcs);
    say(`${effort.nodes} nodes, ${effort.workers} workers, each ${effort.every_s} s`);
    const idle = await idleCores(system);
    const begin = {
      is: 'begin',
      url: system.postgresUrl,
      conductor_group: group,
      everyMs: effort.every_s * 1_000,
      places: effort.places,
      key: key.privateRaw.toString('base64'),
    } as const;
    await Promise.all(workers.map((worker) => worker.ask(begin)));
    // As many as a session is kept for at the usual interval: as many BMCs have one by then as in a worker that has run for long.
    await pause(effort.every_s * 1_000 * warmIntervals);
    const calm = await steady(system, workers, rack, effort, idle);
    say(`${calm.looks_per_s.toFixed(0)} looks a second, ${(calm.current * 100).toFixed(1)}% current`);
    return { ...effort, ...calm, ...(await outage(system, workers, rack, effort, calm.requests_per_s)) };
  } finally {
    await Promise.all([...workers, rack].map((helper) => helper.stop()));
    await remove(system);
    rmSync(dir, { recursive: true, force: true });
  }
};

export const powerTables = (found: PowerTimes): string[] => [
  `Power sync of ${found.nodes.toLocaleString('en')} nodes each ${found.every_s} s by ${found.workers} workers; BMCs answer within 1 s in the middle, 8 s at p99, ${found.dark.toLocaleString('en')} of them dark at once`,
  table(
    ['current', 'looks/s', 'requests/s', 'worker ms', 'PostgreSQL ms', 'cores', 'MiB', 'in page', 'dead rows'],
    [
      [
        `${(found.current * 100).toFixed(1)}%`,
        found.looks_per_s.toFixed(0),
        found.requests_per_s.toFixed(0),
        found.worker_ms.toFixed(2),
        found.postgres_ms.toFixed(2),
        found.cores.toFixed(2),
        found.worker_mib.toFixed(0),
        `${(found.hot * 100).toFixed(1)}%`,
        found.dead_rows.toLocaleString('en'),
      ],
    ],
  ),
  `After the outage: ${found.failed} nodes out of use, all back after ${found.recovered_intervals.toFixed(1)} intervals; at most ${found.most_requests.toFixed(2)} times the usual requests`,
];
