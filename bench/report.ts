/** The bench's result as people read it: tables, and a line for every goal that was missed. */
import { bootTables } from './boot';
import { consoleTables } from './console';
import { fleetTables } from './fleet-report';
import { floodsTables } from './floods';
import { type goals, verdicts } from './goals';
import { growthTables } from './growth';
import { identityTable } from './identity';
import { listsTables } from './lists';
import type { EffortName, Found, Measured } from './parts';
import { plansTables } from './plans';
import { powerTables } from './power';
import { allocationsTables, cyclesTables, rackTables, waitingTables } from './report-load';
import { policyTables } from './report-policy';
import { rolloutTables } from './rollouts';
import { streamsTables } from './streams';
import { amount, cpu, ms, rate, table } from './table';
import { walksTables } from './walk';
import { worstTables } from './worst';

export type Result = Measured & {
  readonly machine: {
    readonly processors: number;
    readonly model: string;
    readonly node: string;
    /** Load average of the last minute before and after: above the bench's own two or so, others were at work. */
    readonly load_before: number;
    readonly load_after: number;
  };
  /** Which server of Temporal's: `dev`, or `production`, whose store is in the PostgreSQL of the system. */
  readonly engine: string;
  readonly effort: EffortName;
  readonly goals: typeof goals;
};

const httpTable = (cells: NonNullable<Found['http']>): string[] => [
  'Requests: /s, ms at p50 and p99, processor ms a request of the serving process; the client is a process of its own',
  table(
    ['route', 'conns', '/s', 'p50', 'p99', 'cpu', 'bare /s', 'p50', 'p99', 'cpu', 'ratio', 'failed'],
    cells.map(({ route, connections, real, bare, ratio }) => [
      route,
      String(connections),
      ...[rate(real.perSecond), ms(real.p50), ms(real.p99), cpu(real.cpu)],
      ...[rate(bare.perSecond), ms(bare.p50), ms(bare.p99), cpu(bare.cpu)],
      ratio.toFixed(2),
      String(real.failed + bare.failed),
    ]),
  ),
];

const more = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([type, count]) => `${count} ${type}`)
    .join(', ');

const runTables = (found: NonNullable<Found['run']>): string[] => [
  `One run at a time on fake-hardware beside a workflow of as many activities that do nothing; ms, medians of ${found[0]?.runs}`,
  table(
    ['run', 'whole', 'no-op', 'ratio', 'p99', 'no-op', 'engine', 'no-op', 'ratio', 'activities', 'events', 'no-op'],
    found.map(({ run, activities, real, noop, ratio_whole, ratio_engine }) => [
      run,
      ...[ms(real.whole), ms(noop.whole), ratio_whole.toFixed(2)],
      ...[ms(real.whole_p99), ms(noop.whole_p99)],
      ...[ms(real.engine), ms(noop.engine), ratio_engine.toFixed(2)],
      ...[String(activities), String(real.events), String(noop.events)],
    ]),
  ),
  ...found.map(({ run, more: counts }) => `  ${run}, events more: ${more(counts)}`),
];

const memoryTable = (memory: NonNullable<Found['memory']>): string[] => {
  const rows = memory.map((row) => [row.name, String(row.processes), amount(row.resident), amount(row.shared_once)]);
  const sum = (of: (row: (typeof memory)[number]) => number | null) =>
    memory.reduce((total, row) => total + (of(row) ?? 0), 0);
  const total = [
    'all',
    String(sum((row) => row.processes)),
    amount(sum((row) => row.resident)),
    amount(sum((row) => row.shared_once)),
  ];
  return [
    'Memory, MiB (resident: what PostgreSQL’s processes share counts in each of them)',
    table(['process', 'count', 'resident', 'shared once'], [...rows, total]),
  ];
};

const sections: { readonly [Name in keyof Found]-?: (found: NonNullable<Found[Name]>) => string[] } = {
  start: ({ warm_s, cold_s }) => [
    `npm start: ${warm_s.toFixed(1)} s on an existing data folder, ${cold_s.toFixed(1)} s on a new one with seed data`,
  ],
  run: runTables,
  http: httpTable,
  identity: identityTable,
  policy: policyTables,
  memory: memoryTable,
  cycles: cyclesTables,
  allocations: allocationsTables,
  lists: listsTables,
  walk: walksTables,
  plans: plansTables,
  rack: rackTables,
  waiting: waitingTables,
  boot: bootTables,
  rollouts: rolloutTables,
  console: consoleTables,
  streams: streamsTables,
  power: powerTables,
  growth: growthTables,
  floods: floodsTables,
  worst: worstTables,
  fleet: fleetTables,
};

/** Everything, ready to be printed. */
export const report = ({ machine, engine, found, failed }: Result): string => {
  const judged = verdicts(found);
  const missed = judged.filter(({ met }) => !met);
  const shown = (Object.keys(sections) as (keyof Found)[]).flatMap((name) => {
    const part = found[name];
    return part === undefined ? [] : [...(sections[name] as (part: unknown) => string[])(part), ''];
  });
  return [
    `${machine.processors} processors (${machine.model}), Node ${machine.node}; load average ${machine.load_before.toFixed(1)} before, ${machine.load_after.toFixed(1)} after`,
    engine === 'production'
      ? 'On the Temporal server of production: its store is in the same PostgreSQL, whose processor time is of both; commits and goals are as on the dev server'
      : 'On the Temporal dev server, with a file of its own',
    '',
    ...shown,
    ...failed.map((why) => `not measured: ${why}`),
    ...missed.map(({ what, is, goal }) => `goal missed: ${what}: ${is.toFixed(2)}, wanted ${goal}`),
    `${judged.length - missed.length} of ${judged.length} goals met`,
  ].join('\n');
};
