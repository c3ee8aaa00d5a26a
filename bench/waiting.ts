/** Many nodes waiting for their ramdisk: what that costs the control worker, the engine, and somebody else's run. */
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { repeatedAttempts } from './ended';
import { askAll, enrol, type Herd, settled } from './nodes';
import { cpuByGroup, cpuSince, environmentOf, residentMiB } from './processes';
import { engineOf, followed, restingNode } from './runs-nodes';
import { median } from './stats';
import type { System } from './system';

export type Waiting = {
  readonly nodes: number;
  /** From the first request until the last node waited. */
  readonly filled_s: number;
  /** Attempts of acts that were made again meanwhile; none where all is well. */
  readonly repeated: number;
  /** Resident memory in MiB: of the control worker before and while they wait, of the engine while they wait. */
  readonly control_before: number;
  readonly control: number;
  readonly engine: number;
  /** Time of somebody else's deployment in ms, medians: before and while they wait. */
  readonly run_before: number;
  readonly run: number;
  readonly ratio: number;
  /** Over so many seconds of waiting: activities a second that control workers did, and processor time in cores. */
  readonly watched_s: number;
  readonly activities_per_s: number | null;
  readonly cores: Readonly<Record<string, number>>;
};

type Effort = { readonly waiting: number; readonly runs: number; readonly watch_s: number };

export const measureWaiting = async (
  system: System,
  { waiting: count, runs, watch_s }: Effort,
  say: (line: string) => void,
): Promise<Waiting> => {
  const { address, namespace } = engineOf(system);
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const node = await restingNode(system, client, true);
    const deployed = () => deployTimes(system, client, node, runs);
    const herd = await availableHerd(system, 'bench-waiting', count);
    const [run_before, control_before] = [await deployed(), residentOf(system, 'worker-control')];
    const filled_s = await fill(system, herd);
    say(`${count} nodes wait for their ramdisk after ${filled_s.toFixed(0)} s`);
    const watched = await watch(system, watch_s);
    const run = await deployed();
    say(`a deployment takes ${run.toFixed(0)} ms beside them, ${run_before.toFixed(0)} ms without`);
    return {
      nodes: count,
      filled_s,
      repeated: await repeatedAttempts(system, herd),
      control_before,
      control: residentOf(system, 'worker-control'),
      engine: residentOf(system, 'temporal'),
      run_before,
      run,
      ratio: run / run_before,
      watched_s: watch_s,
      ...watched,
    };
  } finally {
    await connection.close();
  }
};

/** Enrolled as a caller does it, made available by hand: what is measured begins after that. */
const availableHerd = async (system: System, resource_class: string, count: number): Promise<Herd> => {
  const herd = await enrol(system, resource_class, count, () => ({
    driver: 'fake-hardware',
    deploy_interface: 'direct',
    automated_clean: false,
    instance_info: {
      image_source: 'https://images.example.org/os.raw',
      image_checksum: '0'.repeat(64),
      image_os_hash_algo: 'sha256',
      image_os_hash_value: '0'.repeat(64),
      image_disk_format: 'raw',
    },
  }));
  await system.sql`
    update nodes set provision_state = 'available', power_state = 'power off'
    where resource_class = ${herd.resource_class}`;
  return herd;
};

const fill = async (system: System, herd: Herd): Promise<number> => {
  const began = performance.now();
  await askAll(system, herd, { target: 'active' });
  const nodes = await settled(system, herd, ({ provision_state }) => provision_state === 'deploying');
  const other = nodes.find(({ provision_state }) => provision_state !== 'wait call-back');
  if (other) throw new Error(`node ${other.uuid} is ${other.provision_state}: ${other.last_error}`);
  return (performance.now() - began) / 1_000;
};

/** Nodes of this class whose deployments wait for their ramdisk. */
export const waitingHerd = async (system: System, resource_class: string, count: number): Promise<Herd> => {
  const herd = await availableHerd(system, resource_class, count);
  await fill(system, herd);
  return herd;
};

/** Median time of a deployment in ms, one at a time; the node is undeployed after each. */
const deployTimes = async (system: System, client: Client, node: string, runs: number): Promise<number> => {
  const times: number[] = [];
  for (let at = 0; at < runs; at++) {
    const began = performance.now();
    await (await followed(system, client, node, { target: 'active' })).result();
    times.push(performance.now() - began);
    await (await followed(system, client, node, { target: 'deleted' })).result();
  }
  return median(times);
};

const processOf = ({ processes }: System, name: string): number => {
  const found = processes.find((one) => one.name === name);
  if (!found) throw new Error(`there is no process ${name}`);
  return found.pid;
};

const residentOf = (system: System, name: string): number => residentMiB(processOf(system, name));

/** Attempts of activities that the control worker has made so far; null where its metrics cannot be found. */
const activitiesOf = async (system: System): Promise<number | null> => {
  const port = environmentOf(processOf(system, 'worker-control'), 'TEMPER_HEALTH_PORT');
  if (port === undefined) return null;
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...text.matchAll(/^temper_activity_seconds_count\{.*\} (\d+)$/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
};

const watch = async (system: System, seconds: number): Promise<Pick<Waiting, 'activities_per_s' | 'cores'>> => {
  const [activities, cpu] = [await activitiesOf(system), cpuByGroup(system.processes)];
  await pause(seconds * 1_000);
  const after = await activitiesOf(system);
  const used = Object.entries(cpuSince(cpu, system.processes));
  return {
    activities_per_s: activities === null || after === null ? null : (after - activities) / seconds,
    cores: Object.fromEntries(used.map(([name, ms]) => [name, ms / seconds / 1_000])),
  };
};
