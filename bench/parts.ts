/** What can be measured: a table of parts with their names, in the order in which they are run, and how much each does. */

import { measureAllocations } from './allocations';
import { measureBoot } from './boot';
import { measureConsole } from './console';
import { measureCycles } from './cycles';
import { measureFleet } from './fleet';
import { measureFloods } from './floods';
import { measureGrowth } from './growth';
import { connections, measureHttp } from './http';
import { measureIdentity } from './identity';
import { measureLists } from './lists';
import { measurePlans } from './plans';
import { measurePolicy } from './policy';
import { measurePower } from './power';
import { memoryOf } from './processes';
import { measureRack } from './rack';
import { measureRollouts } from './rollouts';
import { measureRuns } from './runs';
import { measureStreams } from './streams';
import type { System } from './system';
import { measureWaiting } from './waiting';
import { measureWalks } from './walk';
import { measureStart } from './warm-start';
import { measureWorst } from './worst';

/** `full` has the sizes of the goals; the usual ones fit into ten minutes. */
export const efforts = {
  quick: {
    http: { rounds: 1, seconds: 1 },
    starts: 1,
    runs: 10,
    cycles: 40,
    allocations: 200,
    lists: { fleets: [1_000, 10_000], looks: 40, rounds: 1 },
    walk: { nodes: 20_000 },
    plans: { nodes: 20_000 },
    bmcs: 24,
    waiting: { waiting: 100, runs: 5, watch_s: 10 },
    boot: { nodes: 100, requests: 2_000, image: { mib: 32, readers: 20 } },
    rollouts: { planned: 2_000, rolled: 200, requests: 20 },
    console: { nodes: 20_000, looks: 20, changes: 10 },
    streams: { callers: 30, each: 10, seconds: 10 },
    power: { nodes: 5_000, workers: 2, places: 500, every_s: 20, dark: 250 },
    fleet: { nodes: 5_000, worked: 1_000, lists: 100, stretches: 1, rolled: 500, kill_every_s: 30 },
    growth: { nodes: 500, looks: 40 },
    floods: { seconds: 4 },
    worst: { for_ms: 200 },
  },
  usual: {
    http: { rounds: 3, seconds: 2 },
    starts: 2,
    runs: 40,
    cycles: 200,
    allocations: 1_000,
    lists: { fleets: [1_000, 100_000], looks: 100, rounds: 3 },
    walk: { nodes: 100_000 },
    plans: { nodes: 100_000, document: 'reports/plans.md' },
    bmcs: 100,
    waiting: { waiting: 500, runs: 20, watch_s: 30 },
    boot: { nodes: 1_000, requests: 20_000, image: { mib: 256, readers: 20 } },
    rollouts: { planned: 10_000, rolled: 1_000, requests: 100 },
    console: { nodes: 100_000, looks: 60, changes: 30 },
    streams: { callers: 200, each: 10, seconds: 30 },
    power: { nodes: 25_000, workers: 2, places: 1_000, every_s: 30, dark: 1_250 },
    fleet: { nodes: 20_000, worked: 5_000, lists: 300, stretches: 2, rolled: 2_000, kill_every_s: 60 },
    growth: { nodes: 2_500, looks: 100 },
    floods: { seconds: 10 },
    worst: { for_ms: 400 },
  },
  full: {
    http: { rounds: 5, seconds: 3 },
    starts: 3,
    runs: 40,
    cycles: 200,
    allocations: 1_000,
    lists: { fleets: [1_000, 100_000], looks: 100, rounds: 3 },
    walk: { nodes: 100_000 },
    plans: { nodes: 100_000, document: 'reports/plans.md' },
    bmcs: 1_000,
    waiting: { waiting: 5_000, runs: 20, watch_s: 120 },
    boot: { nodes: 1_000, requests: 60_000, image: { mib: 1_024, readers: 20 } },
    rollouts: { planned: 100_000, rolled: 10_000, requests: 100 },
    console: { nodes: 100_000, looks: 300, changes: 100 },
    streams: { callers: 200, each: 10, seconds: 120 },
    power: { nodes: 100_000, workers: 4, places: 500, every_s: 120, dark: 5_000 },
    fleet: { nodes: 100_000, worked: 100_000, lists: 1_000, stretches: 6, rolled: 10_000, kill_every_s: 120 },
    growth: { nodes: 10_000, looks: 200 },
    floods: { seconds: 30 },
    worst: { for_ms: 1_000 },
  },
} as const;

export type EffortName = keyof typeof efforts;
type Effort = (typeof efforts)[EffortName];

export type Here = {
  /** Of the checkout. */
  readonly root: string;
  readonly system: System;
  readonly effort: Effort;
  readonly say: (line: string) => void;
};

const parts = {
  start: ({ root, effort, say }: Here) => measureStart(root, effort.starts, say),
  run: ({ system, effort, say }: Here) => measureRuns(system, effort, say),
  http: ({ system, effort, say }: Here) => {
    say(`requests at ${connections.join(', ')} connections, real and bare in turn`);
    return measureHttp(system, effort.http, say);
  },
  identity: ({ say }: Here) => measureIdentity(say),
  policy: async ({ effort }: Here) => measurePolicy(effort.starts * 20),
  memory: async ({ system }: Here) => memoryOf(system.processes),
  cycles: ({ system, effort, say }: Here) => measureCycles(system, effort, say),
  allocations: ({ system, effort, say }: Here) => measureAllocations(system, effort, say),
  lists: ({ system, effort, say }: Here) => measureLists(system, effort.lists, say),
  walk: ({ system, effort, say }: Here) => measureWalks(system, effort.walk, say),
  plans: ({ root, system, effort, say }: Here) => measurePlans(system, { ...effort.plans, root }, say),
  rack: ({ system, effort, say }: Here) => measureRack(system, effort, say),
  waiting: ({ system, effort, say }: Here) => measureWaiting(system, effort.waiting, say),
  boot: ({ effort, say }: Here) => measureBoot(effort.boot, say),
  rollouts: ({ system, effort, say }: Here) => measureRollouts(system, effort.rollouts, say),
  console: ({ system, effort, say }: Here) => measureConsole(system, effort.console, say),
  streams: ({ system, effort, say }: Here) => measureStreams(system, effort.streams, say),
  power: ({ system, effort, say }: Here) => measurePower(system, effort.power, say),
  growth: ({ root, system, effort, say }: Here) => measureGrowth(system, { ...effort.growth, root }, say),
  floods: ({ system, effort, say }: Here) => measureFloods(system, effort.floods, say),
  worst: ({ system, effort, say }: Here) => measureWorst(system, effort.worst, say),
  fleet: ({ system, effort, say }: Here) => measureFleet(system, effort.fleet, say),
} as const;

export type PartName = keyof typeof parts;
export const partNames = Object.keys(parts) as PartName[];

/** What each part found; one that was not asked for is absent. */
export type Found = { readonly [Name in PartName]?: Awaited<ReturnType<(typeof parts)[Name]>> };

/** What each part found, and why some found nothing. */
export type Measured = { readonly found: Found; readonly failed: readonly string[] };

/** Runs the parts of these names, in the table's order; one that fails does not keep the next from being run. */
export const measureParts = async (names: readonly PartName[], here: Here): Promise<Measured> => {
  const found: Record<string, unknown> = {};
  const failed: string[] = [];
  for (const name of partNames.filter((one) => names.includes(one)))
    try {
      found[name] = await parts[name](here);
    } catch (error) {
      here.say(`${name} failed: ${(error as Error).stack}`);
      failed.push(`${name}: ${(error as Error).message}`);
    }
  return { found: found as Found, failed };
};
