/** The tables of what many nodes at once cost: cycles, a rack that fails now and then, nodes that wait. */
import { type Allocations, ironicAllocations } from './allocations';
import { type Cycles, ironic } from './cycles';
import type { RackTimes } from './rack';
import { amount, ms, rate, table } from './table';
import type { Waiting } from './waiting';

export const cyclesTables = (found: Cycles): string[] => [
  `Cycles of ${found.nodes} fake-hardware nodes at ${found.connections} connections, no cleaning: ${found.per_s.toFixed(2)}/s, ${found.ratio.toFixed(2)} times Ironic's ${ironic.per_s}`,
  table(
    ['verb', 'seconds', '/s'],
    found.verbs.map(({ target, seconds, per_s }) => [target, seconds.toFixed(2), rate(per_s)]),
  ),
  `Processor time a cycle: ${ms(found.cpu_ms)} ms (Ironic ${ironic.cpu_ms}); PostgreSQL commits a cycle: ${amount(found.commits)}`,
  table(
    ['process', 'ms a cycle', 'share'],
    Object.entries(found.cpu).map(([name, used]) => [name, ms(used), `${amount((used / found.cpu_ms) * 100)} %`]),
  ),
];

export const allocationsTables = (found: Allocations): string[] => [
  `Allocations over ${found.candidates} candidates, ${found.in_flight} in flight: ${rate(found.per_s)}/s, ${rate(found.per_s / ironicAllocations.per_s)} times Ironic's ${ironicAllocations.per_s}; ms until given: ${ms(found.p50)}, at p99 ${ms(found.p99)}; ${found.failed} got no node, ${found.twice} another's`,
];

const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([state, count]) => `${count} ${state}`)
    .join(', ');

export const rackTables = (found: RackTimes): string[] => [
  `${found.bmcs} emulated Redfish BMCs with faults, cleaned in ${found.seconds.toFixed(1)} s (accepted in ${found.asked_s.toFixed(1)} s; one takes ${found.run_s.toFixed(1)} s, at p99 ${found.run_p99_s.toFixed(1)}): ${listed(found.outcomes)}`,
  `${found.requests} requests, ${found.writes} writes of which faults struck ${found.writes_struck}; ${found.repeated} attempts of acts were repeated; ${found.above_limit} BMCs above a limit`,
  table(
    ['vendor', 'BMCs', 'requests', 'at once', 'limit', 'beside a write', 'limit', 'in a second', 'limit'],
    found.treated.map((row) => [
      row.vendor,
      ...[String(row.bmcs), String(row.requests), String(row.most_at_once), String(row.at_once_limit)],
      ...[String(row.most_beside_a_write), '1', String(row.most_in_a_second), amount(row.in_a_second_limit)],
    ]),
  ),
  ...found.errors.map((error) => `  ${error}`),
];

export const waitingTables = (found: Waiting): string[] => [
  `${found.nodes} nodes waiting for their ramdisk (all after ${found.filled_s.toFixed(1)} s, ${found.repeated} attempts of acts repeated)`,
  table(
    ['', 'before', 'while they wait', 'ratio'],
    [
      ['control worker, resident MiB', amount(found.control_before), amount(found.control), ''],
      ['a deployment of another node, ms', ms(found.run_before), ms(found.run), found.ratio.toFixed(2)],
      ['engine, resident MiB', '', amount(found.engine), ''],
    ],
  ),
  `Over ${found.watched_s} s of waiting: ${found.activities_per_s === null ? 'an unknown number of' : rate(found.activities_per_s)} activities/s; cores used: ${Object.entries(
    found.cores,
  )
    .map(([name, cores]) => `${name} ${cores.toFixed(2)}`)
    .join(', ')}`,
];
