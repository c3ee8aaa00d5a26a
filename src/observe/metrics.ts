/** Prometheus metrics. Labels are states, codes and routes, never nodes. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

const quick = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const remote = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const long = [0.5, 1, 5, 15, 60, 300, 900, 1_800, 3_600, 14_400, 43_200];
const tiny = [0.000_005, 0.000_02, 0.000_1, 0.000_5, 0.002, 0.01];

type MetricRow = { readonly help: string; readonly labels?: readonly string[]; readonly buckets?: readonly number[] };

/** Names end in the unit: `_seconds`, `_total`, or nothing for a gauge. */
export const histogramRows = {
  requests: {
    name: 'temper_api_request_seconds',
    help: 'Time to answer API requests',
    labels: ['method', 'route', 'status'],
    buckets: quick,
  },
  policy: {
    name: 'temper_policy_decision_seconds',
    help: 'Time of policy decisions',
    labels: ['rule_set', 'outcome'],
    buckets: tiny,
  },
  runs: {
    name: 'temper_run_seconds',
    help: 'Time from acceptance to end of runs, counted once in an installation',
    labels: ['verb', 'outcome'],
    buckets: long,
  },
  acts: {
    name: 'temper_act_seconds',
    help: 'Time of attempts of acts on nodes',
    labels: ['driver', 'step', 'act', 'code'],
    buckets: [...remote, 300, 1_800],
  },
  bmc: {
    name: 'temper_bmc_request_seconds',
    help: 'Time of HTTP requests to BMCs and ramdisks',
    labels: ['driver', 'vendor', 'method', 'status'],
    buckets: remote,
  },
  activities: {
    name: 'temper_activity_seconds',
    help: 'Time of attempts of activities',
    labels: ['activity', 'outcome'],
    buckets: remote,
  },
  deliveries: {
    name: 'temper_webhook_delivery_seconds',
    help: 'Time of attempts to deliver webhooks',
    labels: ['outcome'],
    buckets: remote,
  },
  allocations: {
    name: 'temper_allocation_seconds',
    help: 'Time from request to end of allocations: given a node, or refused one',
    labels: ['outcome'],
    buckets: remote,
  },
  laneWait: {
    name: 'temper_lane_wait_seconds',
    help: 'Time that acts waited for the lane of their BMC',
    buckets: remote,
  },
} as const satisfies Record<string, MetricRow & { name: string }>;

export const counterRows = {
  events: { name: 'temper_events_total', help: 'Events read, counted once in an installation', labels: ['kind'] },
  attempts: {
    name: 'temper_step_attempts_failed_total',
    help: 'Failed attempts of steps, by error code, counted once in an installation',
    labels: ['step', 'code'],
  },
  reconciled: {
    name: 'temper_reconciler_runs_total',
    help: 'Runs that the reconciler started or ended',
    labels: ['did'],
  },
  policyShadow: {
    name: 'temper_policy_shadow_differences_total',
    help: 'Decisions that the shadow policy would have made otherwise',
    labels: ['rule', 'would'],
  },
  notices: {
    name: 'temper_power_notices_total',
    help: 'Attempts to notify Nova of the power of a node',
    labels: ['outcome'],
  },
  notifications: {
    name: 'temper_notifications_total',
    help: 'Notifications as of Ironic: sent to RabbitMQ, or left out because of a fault',
    labels: ['outcome'],
  },
  relayed: { name: 'temper_relay_total', help: 'Runs started and messages sent by the relay', labels: ['did'] },
} as const satisfies Record<string, MetricRow & { name: string }>;

export const gaugeRows = {
  policyAge: { name: 'temper_policy_loaded_timestamp_seconds', help: 'When the rule set in force was loaded' },
  policyStale: {
    name: 'temper_policy_stale',
    help: 'Whether the policy files as they lie there could not be loaded, so that older rules are in force',
  },
  clockSkew: {
    name: 'temper_clock_skew_seconds',
    help: 'How far the clock of this process is ahead of that of PostgreSQL',
  },
  nodes: {
    name: 'temper_nodes',
    help: 'Nodes; every control worker reports all of them, so take the maximum',
    labels: ['state', 'fault', 'maintenance'],
  },
  openRuns: {
    name: 'temper_runs_open',
    help: 'Runs that have not ended, with retrying as a separate state; every control worker reports all of them',
    labels: ['verb', 'state'],
  },
  retryingLongest: {
    name: 'temper_runs_retrying_longest_seconds',
    help: 'Time since the first failure of the act that an open run has been retrying longest; 0 if no run retries',
  },
  streams: { name: 'temper_event_streams', help: 'Event streams open' },
  looksBehind: {
    name: 'temper_power_looks_behind_seconds',
    help: 'How long the oldest look at power that is due has waited, as each BMC worker sees it',
    labels: ['conductor_group'],
  },
  notificationsBehind: {
    name: 'temper_notifications_behind_seconds',
    help: 'Age of the oldest event that is not yet sent as a notification; 0 if there is none',
  },
  lanes: { name: 'temper_lanes', help: 'Acts that hold or wait for the lane of their BMC', labels: ['state'] },
} as const satisfies Record<string, MetricRow & { name: string }>;

type Made<Rows, Kind> = { readonly [Name in keyof Rows]: Kind };

const make = <Rows extends Record<string, MetricRow & { name: string }>, Kind>(
  rows: Rows,
  build: (row: MetricRow & { name: string }) => Kind,
): Made<Rows, Kind> =>
  Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, build(row)])) as Made<Rows, Kind>;

/** @param process_name label of all metrics of this process */
export const createMetrics = (process_name: string) => {
  const registry = new Registry();
  registry.setDefaultLabels({ process: process_name });
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const base = ({ name, help, labels = [] }: MetricRow & { name: string }) => ({
    name,
    help,
    labelNames: labels,
    registers,
  });
  return {
    registry,
    ...make(histogramRows, (row) => new Histogram<string>({ ...base(row), buckets: [...(row.buckets ?? remote)] })),
    ...make(counterRows, (row) => new Counter<string>(base(row))),
    ...make(gaugeRows, (row) => new Gauge<string>(base(row))),
  };
};
