/** Whole cycles of many nodes that do nothing: manage, provide, active, deleted; all nodes in step, as Ironic was measured. */
import { setTimeout as pause } from 'node:timers/promises';
import { connections, enrol, moveAll } from './nodes';
import { cpuByGroup, cpuSince } from './processes';
import type { System } from './system';

const verbs = [
  { target: 'manage', goal: 'manageable' },
  { target: 'provide', goal: 'available' },
  { target: 'active', goal: 'active' },
  { target: 'deleted', goal: 'available' },
] as const;

/**
 * OpenStack Ironic 39.0.0 on this kind of machine: 200 fake-hardware nodes, 32 connections, no cleaning, all delays 0, the
 * connection pool that suits it best. Cycles a second, and processor time of all its processes in ms a cycle.
 */
export const ironic = { per_s: 6.6, cpu_ms: 198 } as const;

export type Cycles = {
  readonly nodes: number;
  readonly connections: number;
  readonly seconds: number;
  readonly per_s: number;
  /** Times Ironic's rate. */
  readonly ratio: number;
  /** Seconds that all nodes took for each verb. */
  readonly verbs: readonly { readonly target: string; readonly seconds: number; readonly per_s: number }[];
  /** Processor time in ms a cycle, by group of processes; empty where the machine does not tell. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly cpu_ms: number;
  /** Transactions of PostgreSQL a cycle, looks of this bench included. */
  readonly commits: number;
};

export const measureCycles = async (
  system: System,
  { cycles: count }: { readonly cycles: number },
  say: (line: string) => void,
): Promise<Cycles> => {
  const herd = await enrol(system, 'bench-cycles', count, () => ({ driver: 'fake-hardware', automated_clean: false }));
  const commitsBefore = await commitsOf(system);
  const before = cpuByGroup(system.processes);
  const times: Cycles['verbs'][number][] = [];
  for (const { target, goal } of verbs) {
    const seconds = (await moveAll(system, herd, target, goal)) / 1_000;
    times.push({ target, seconds, per_s: count / seconds });
  }
  const used = Object.entries(cpuSince(before, system.processes)).map(([name, ms]) => [name, ms / count] as const);
  const seconds = times.reduce((sum, verb) => sum + verb.seconds, 0);
  const per_s = count / seconds;
  say(`${count} nodes: ${per_s.toFixed(1)} cycles/s`);
  return {
    nodes: count,
    connections,
    seconds,
    per_s,
    ratio: per_s / ironic.per_s,
    verbs: times,
    cpu: Object.fromEntries(used),
    cpu_ms: used.reduce((sum, [, ms]) => sum + ms, 0),
    commits: ((await commitsOf(system)) - commitsBefore) / count,
  };
};

// What a backend has done is told when it has been idle for a second (PGSTAT_MIN_INTERVAL in pgstat.c).
const toldAfterMs = 1_500;

const commitsOf = async ({ sql }: System): Promise<number> => {
  await pause(toldAfterMs);
  const [row] = await sql`select xact_commit::int as commits from pg_stat_database where datname = current_database()`;
  return row!.commits;
};
