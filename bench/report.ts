/** The bench's result as people read it: tables, and a line for every goal that was missed. */
import type { Cell } from './http';
import type { Memory } from './processes';
import type { RunTimes } from './runs';
import type { StartTimes } from './warm-start';

export type Result = {
  readonly machine: {
    readonly processors: number;
    readonly model: string;
    readonly node: string;
    /** Load average of the last minute before and after: above the bench's own two or so, others were at work. */
    readonly load_before: number;
    readonly load_after: number;
  };
  readonly quick: boolean;
  readonly goals: typeof goals;
  readonly http: readonly Cell[];
  readonly runs: RunTimes;
  readonly start: StartTimes;
  readonly memory: readonly Memory[];
};

export const goals = { http_ratio_at_least: 0.5, run_ratio_at_most: 1.5, warm_start_below_s: 10 } as const;

type Goal = { readonly what: string; readonly is: number; readonly met: boolean; readonly goal: string };

const verdicts = ({ http, runs, start }: Result): Goal[] => [
  ...http.map(({ route, connections, ratio }) => ({
    what: `${route} at ${connections} connections, share of bare`,
    is: ratio,
    met: ratio >= goals.http_ratio_at_least,
    goal: `at least ${goals.http_ratio_at_least}`,
  })),
  {
    what: 'five-step run, times the no-op',
    is: runs.ratio_whole,
    met: runs.ratio_whole <= goals.run_ratio_at_most,
    goal: `at most ${goals.run_ratio_at_most}`,
  },
  {
    what: 'warm start, seconds',
    is: start.warm_s,
    met: start.warm_s < goals.warm_start_below_s,
    goal: `below ${goals.warm_start_below_s}`,
  },
];

/** Rows as a table; the first column to the left, the others to the right. */
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join('  ');
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
};

const ms = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const rate = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0));
const cpu = (value: number | null): string => (value === null ? '-' : value.toFixed(2));

const httpTable = (cells: readonly Cell[]): string =>
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
  );

const runTable = ({ real, noop, ratio_whole, ratio_engine }: RunTimes): string =>
  table(
    ['', 'run', 'no-op', 'ratio'],
    [
      ['from request to end, p50', ms(real.whole), ms(noop.whole), ratio_whole.toFixed(2)],
      ['from request to end, p99', ms(real.whole_p99), ms(noop.whole_p99), ''],
      ['within the engine, p50', ms(real.engine), ms(noop.engine), ratio_engine.toFixed(2)],
    ],
  );

const memoryTable = (memory: readonly Memory[]): string => {
  const mib = (value: number | null) => (value === null ? '-' : value.toFixed(0));
  const rows = memory.map((row) => [row.name, String(row.processes), mib(row.resident), mib(row.shared_once)]);
  const sum = (of: (row: Memory) => number | null) => memory.reduce((total, row) => total + (of(row) ?? 0), 0);
  const total = [
    'all',
    String(sum((row) => row.processes)),
    mib(sum((row) => row.resident)),
    mib(sum((row) => row.shared_once)),
  ];
  return table(['process', 'count', 'resident', 'shared once'], [...rows, total]);
};

/** Everything, ready to be printed. */
export const report = (result: Result): string => {
  const { machine, http, runs, start, memory } = result;
  const judged = verdicts(result);
  const missed = judged.filter(({ met }) => !met);
  return [
    `${machine.processors} processors (${machine.model}), Node ${machine.node}; load average ${machine.load_before.toFixed(1)} before, ${machine.load_after.toFixed(1)} after`,
    '',
    'Requests: /s, ms at p50 and p99, processor ms a request of the serving process; the client is a process of its own',
    httpTable(http),
    '',
    `A clean of five steps on fake-hardware, ms; medians of ${runs.runs} runs, one at a time`,
    runTable(runs),
    '',
    `npm start: ${start.warm_s.toFixed(1)} s on an existing data folder, ${start.cold_s.toFixed(1)} s on a new one with seed data`,
    '',
    'Memory after all that, MiB (resident: what PostgreSQL’s processes share counts in each of them)',
    memoryTable(memory),
    '',
    ...missed.map(({ what, is, goal }) => `goal missed: ${what}: ${is.toFixed(2)}, wanted ${goal}`),
    `${judged.length - missed.length} of ${judged.length} goals met`,
  ].join('\n');
};
