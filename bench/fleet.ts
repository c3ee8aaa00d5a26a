/** A fleet of emulated BMCs from its first request on: enrolled, verified, inspected and looked at, while a tenant goes on with its own work. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RackBmc } from '../emulator/rack';
import { type Helper, startHelper } from './child';
import type { FleetAnswer, FleetQuestion } from './fleet-host';
import { type Tenant, type TenantFigures, tenantFigures, tenantTimes } from './fleet-tenant';
import { connections, enrol, type Herd, inTurn, moveAll } from './nodes';
import { cpuByGroup, cpuSince } from './processes';
import { ask, type System } from './system';
import { amount, ms, rate, table } from './table';

/** `worked`: how many of the nodes are verified and inspected. `watch_s`: how long looks at power are watched. */
type Effort = {
  readonly nodes: number;
  readonly worked: number;
  readonly lists: number;
  readonly watch_s: number;
};

/** What was done to so many nodes, and how the tenant fared meanwhile. */
export type FleetStage = {
  readonly stage: string;
  readonly nodes: number;
  readonly seconds: number;
  readonly per_s: number;
  readonly failed: number;
  /** Cores that each kind of process used; empty where the machine does not tell. */
  readonly cores: Readonly<Record<string, number>>;
  readonly tenant: TenantFigures;
};
export type FleetFigures = {
  readonly nodes: number;
  /** Of the emulated BMC's, on the heap. */
  readonly bmc_kb: number;
  readonly idle: TenantFigures;
  readonly stages: readonly FleetStage[];
  /** BMCs that were asked at least once while nothing but looks went on, of so many that could be, within so many seconds. */
  readonly looked_at: {
    readonly asked: number;
    readonly of: number;
    readonly seconds: number;
    readonly requests: number;
  };
};

type Host = Helper<FleetQuestion, FleetAnswer>;
type Done = { readonly nodes: number; readonly failed: number };

const name = 'bench-fleet';
const ofTenant = 100;
/** Runs under way at once: what waits beyond that would only wait in the engine. */
const window = 400;

const recordOf = (bmc: RackBmc): object => ({
  driver: 'redfish',
  inspect_interface: 'redfish',
  driver_info: {
    redfish_address: bmc.address,
    redfish_system_id: bmc.systemId,
    redfish_username: bmc.username,
    redfish_password: bmc.password,
  },
});

const addTenant = async (system: System, bmcs: readonly RackBmc[]): Promise<Tenant> => {
  const signed = await system.signIn('lessee');
  const herd = await enrol(system, `bench-tenant-of-fleet`, ofTenant, (index) => ({
    ...recordOf(bmcs[index]!),
    lessee: signed.project,
  }));
  await moveAll(system, herd, 'manage', 'manageable');
  return { signed, node: herd.uuids[0]!, nodes: ofTenant };
};

/** Does the work while the tenant does its own. */
const stageOf = async (
  system: System,
  tenant: Tenant,
  stage: string,
  work: () => Promise<Done>,
): Promise<FleetStage> => {
  let over = false;
  const before = cpuByGroup(system.processes);
  const meanwhile = tenantTimes(system, tenant, () => over);
  const began = performance.now();
  const done = await work().finally(() => (over = true));
  const seconds = (performance.now() - began) / 1_000;
  const used = Object.entries(cpuSince(before, system.processes));
  return {
    stage,
    ...done,
    seconds,
    per_s: done.nodes / seconds,
    cores: Object.fromEntries(used.map(([process, cpu]) => [process, cpu / seconds / 1_000])),
    tenant: tenantFigures(await meanwhile),
  };
};

/** How many runs of a verb have ended on the nodes of a herd, and how many of them not as they should. */
const endedRuns = async ({ sql }: System, { resource_class }: Herd, verb: string): Promise<Done> => {
  const [row] = await sql<Done[]>`
    select count(*) filter (where finished_at is not null)::int as nodes,
      count(*) filter (where finished_at is not null and state <> 'succeeded')::int as failed
    from runs where verb = ${verb} and node_name like ${`${resource_class}-%`}`;
  return row!;
};

/** Asks each for a verb, not many more at a time than are ended. */
const work = async (system: System, herd: Herd, verb: string): Promise<Done> => {
  let begun = 0;
  let ended: Done = { nodes: 0, failed: 0 };
  const counting = async (): Promise<void> => {
    while (ended.nodes < herd.uuids.length) {
      ended = await endedRuns(system, herd, verb);
      await pause(500);
    }
  };
  const asking = inTurn(herd.uuids, connections, async (uuid) => {
    while (begun - ended.nodes >= window) await pause(50);
    begun += 1;
    await ask(system, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target: verb });
  });
  await Promise.all([asking, counting()]);
  return ended;
};

/** Which BMCs are asked while nobody asks for anything but the power sync. */
const lookedAt = async (host: Host, of: number, seconds: number): Promise<FleetFigures['looked_at']> => {
  await host.ask({ is: 'look' });
  await pause(seconds * 1_000);
  const { asked, requests } = await host.ask({ is: 'look' });
  return { asked, of, seconds, requests };
};

const measure = async (
  system: System,
  host: Host,
  { nodes, worked, lists, watch_s }: Effort,
  say: (line: string) => void,
): Promise<FleetFigures> => {
  const { bmcs, each_kb } = await host.ask({ is: 'open', bmcs: nodes + ofTenant });
  const tenant = await addTenant(system, bmcs.slice(nodes));
  const stages: FleetStage[] = [];
  const stage = async (title: string, done: () => Promise<Done>): Promise<void> => {
    stages.push(await stageOf(system, tenant, title, done));
    const { seconds, per_s, failed } = stages.at(-1)!;
    say(`${title}: ${seconds.toFixed(0)} s, ${per_s.toFixed(1)} a second, ${failed} failed`);
  };
  const idleUntil = ({ list }: { list: readonly number[] }): boolean => list.length >= lists;
  const idle = tenantFigures(await tenantTimes(system, tenant, idleUntil));
  let herd: Herd = { resource_class: name, uuids: [] };
  await stage('enrol', async () => {
    herd = await enrol(system, name, nodes, (index) => recordOf(bmcs[index]!));
    return { nodes, failed: 0 };
  });
  await system.sql`analyze nodes`;
  const chosen = { ...herd, uuids: herd.uuids.slice(0, worked) };
  await stage('verify', () => work(system, chosen, 'manage'));
  await stage('inspect', () => work(system, chosen, 'inspect'));
  const looked_at = await lookedAt(host, worked + ofTenant, watch_s);
  say(`looks at power: ${looked_at.asked} of ${looked_at.of} BMCs in ${watch_s} s`);
  return { nodes, bmc_kb: each_kb!, idle, stages, looked_at };
};

export const measureFleet = async (
  system: System,
  effort: Effort,
  say: (line: string) => void,
): Promise<FleetFigures> => {
  const dir = mkdtempSync(join(tmpdir(), 'temper-bench-fleet-'));
  const host: Host = startHelper('fleet-host', [dir]);
  try {
    return await measure(system, host, effort, say);
  } finally {
    await host.stop();
    rmSync(dir, { recursive: true, force: true });
  }
};

const whole = 100_000;
const minutesForAll = ({ per_s }: FleetStage): number => whole / per_s / 60;

/** Of the stage of that name, minutes for 100,000 nodes; NaN where there was none. */
export const projectedMinutes = ({ stages }: FleetFigures, names: readonly string[]): number =>
  names.reduce((sum, wanted) => {
    const found = stages.find(({ stage }) => stage === wanted);
    return sum + (found ? minutesForAll(found) : Number.NaN);
  }, 0);

const tenantCells = (found: TenantFigures): string[] => [
  `${ms(found.list_p50)} / ${ms(found.list_p99)}`,
  `${ms(found.power_p50)} / ${ms(found.power_p99)}`,
  `${found.lists}, ${found.switches}`,
];

const coresText = (cores: FleetStage['cores']): string =>
  Object.entries(cores)
    .filter(([, used]) => used >= 0.05)
    .map(([process, used]) => `${process} ${used.toFixed(2)}`)
    .join(', ');

export const fleetTables = ({ nodes, bmc_kb, idle, stages, looked_at }: FleetFigures): string[] => [
  `A fleet of ${nodes.toLocaleString('en')} Redfish BMCs, ${bmc_kb.toFixed(1)} kB of heap each; a tenant lists its ${ofTenant} nodes and switches one, ms at p50 / p99`,
  table(
    [
      'stage',
      'nodes',
      'seconds',
      '/s',
      `minutes for ${whole.toLocaleString('en')}`,
      'failed',
      'list',
      'switch',
      'of them',
    ],
    [
      ['idle', '', '', '', '', '', ...tenantCells(idle)],
      ...stages.map((stage) => [
        stage.stage,
        String(stage.nodes),
        amount(stage.seconds),
        rate(stage.per_s),
        minutesForAll(stage).toFixed(1),
        String(stage.failed),
        ...tenantCells(stage.tenant),
      ]),
    ],
  ),
  ...stages.map(({ stage, cores }) => `  cores, ${stage}: ${coresText(cores)}`),
  `Looks at power: ${looked_at.asked} of ${looked_at.of} BMCs were asked within ${looked_at.seconds} s, with ${looked_at.requests} requests`,
];
