/** A fleet of emulated BMCs from its first request on: enrolled, verified, inspected and looked at, while a tenant goes on with its own work. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RackBmc } from '../emulator/rack';
import { type Helper, startHelper } from './child';
import type { FleetAnswer, FleetQuestion } from './fleet-host';
import type { FleetFigures, FleetStage, LookedAt } from './fleet-report';
import { emulated, ofTenant } from './fleet-report';
import { rollOut } from './fleet-rollout';
import { type Tenant, tenantFigures, tenantTimes } from './fleet-tenant';
import { connections, enrol, type Herd, inTurn, moveAll } from './nodes';
import { cpuByGroup, cpuSince } from './processes';
import { ask, type System } from './system';

/**
 * `worked`: how many of the nodes are verified and inspected. `stretches`: of 1.2 intervals, in which looks at power are watched. `rolled`: how many are
 * in a rollout, during which a worker is killed so often.
 */
type Effort = {
  readonly nodes: number;
  readonly worked: number;
  readonly lists: number;
  readonly stretches: number;
  readonly rolled: number;
  readonly kill_every_s: number;
};

type Host = Helper<FleetQuestion, FleetAnswer>;
type Done = Pick<FleetStage, 'nodes' | 'failed' | 'run_p50_s' | 'run_p99_s'>;

const name = 'bench-fleet';
/** One in fifty requests fails; of the writes one in fifty more is done, and its answer is lost. */
const faults = [
  { kind: 'http-503', share: 0.01, retryAfter: 1, seconds: 86_400 },
  { kind: 'drop-before', share: 0.01, seconds: 86_400 },
  { kind: 'drop-after-write', share: 0.02, seconds: 86_400 },
] as const;
/** 1.2 times the interval of looks at power, as the settings have it. */
const stretch_s = 144;
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

/** What is killed meanwhile is left out. */
const coresSince = (system: System, before: ReturnType<typeof cpuByGroup>, seconds: number): FleetStage['cores'] =>
  Object.fromEntries(
    Object.entries(cpuSince(before, system.processes))
      .filter(([, cpu]) => cpu >= 0)
      .map(([process, cpu]) => [process, cpu / seconds / 1_000]),
  );

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
  return {
    stage,
    ...done,
    seconds,
    per_s: done.nodes / seconds,
    cores: coresSince(system, before, seconds),
    tenant: tenantFigures(await meanwhile),
  };
};

/** How many runs of a verb have ended on the nodes of a herd, and how many of them not as they should. */
const endedRuns = async ({ sql }: System, { resource_class }: Herd, verb: string): Promise<Done> => {
  const [row] = await sql<Done[]>`
    select count(*)::int as nodes, count(*) filter (where state <> 'succeeded')::int as failed,
      percentile_cont(0.5) within group (order by seconds)::float8 as run_p50_s,
      percentile_cont(0.99) within group (order by seconds)::float8 as run_p99_s
    from (
      select state, extract(epoch from finished_at - started_at) as seconds from runs
      where verb = ${verb} and node_name like ${`${resource_class}-%`} and finished_at is not null
    ) ended`;
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

/** How many BMCs are asked within each stretch of 1.2 intervals while nothing but looks at power goes on: the fewest of all stretches. */
const lookedAt = async (system: System, host: Host, of: number, stretches: number): Promise<LookedAt> => {
  await host.ask({ is: 'look' });
  const before = cpuByGroup(system.processes);
  let [fewest, requests] = [of, 0];
  for (let at = 0; at < stretches; at++) {
    await pause(stretch_s * 1_000);
    const seen = await host.ask({ is: 'look' });
    fewest = Math.min(fewest, seen.asked);
    requests += seen.requests;
  }
  const seconds = stretches * stretch_s;
  return { asked: fewest, of, stretch_s, stretches, requests, cores: coresSince(system, before, seconds) };
};

const measure = async (
  system: System,
  host: Host,
  { nodes, worked, lists, stretches, rolled, kill_every_s }: Effort,
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
  const looked_at = await lookedAt(system, host, worked + ofTenant, stretches);
  say(`looks at power: ${looked_at.asked} of ${looked_at.of} BMCs in ${stretch_s} s`);
  await host.ask({ is: 'fault', bmcs: nodes, faults });
  let rollout = { killed: 0, begun_per_s: Number.NaN };
  await stage('rollout', async () => {
    const of = { ...herd, uuids: herd.uuids.slice(0, rolled) };
    const { killed, begun_per_s, ...done } = await rollOut(system, of, kill_every_s * 1_000);
    rollout = { killed, begun_per_s };
    return done;
  });
  return { nodes, bmc_kb: each_kb!, idle, stages, looked_at, ...rollout };
};

export const measureFleet = async (
  system: System,
  effort: Effort,
  say: (line: string) => void,
): Promise<FleetFigures> => {
  const dir = mkdtempSync(join(tmpdir(), 'temper-bench-fleet-'));
  const host: Host = startHelper('fleet-host', [dir]);
  try {
    const processes = [...system.processes, { name: emulated, pid: host.pid }];
    return await measure({ ...system, processes }, host, effort, say);
  } finally {
    await host.stop();
    rmSync(dir, { recursive: true, force: true });
  }
};
