/** What the figures are measured against: a table of goals, and which of them were met. */
import { sharesOf } from './boot';
import { projectedMinutes } from './fleet-report';
import type { Found } from './parts';

export const goals = {
  /** Requests a second, by those of the bare process. */
  http_ratio_at_least: { row: 0.75, list: 0.5 },
  run_ratio_at_most: 1.3,
  more_events_at_most: 25,
  warm_start_below_s: 10,
  cached_token_below_us: 50,
  cycles_per_s_at_least: 10,
  allocations_per_s_at_least: 200,
  /** A lessee's list in the larger fleet, times the same in the smaller. */
  list_in_fleet_at_most: 1.3,
  /** The last pages of a walk through all nodes, times the first. */
  last_page_at_most: 1.3,
  api_mib_below: 200,
  bmcs_above_limit: 0,
  decision_below_ns: 1_000,
  policy_load_below_ms: 20,
  control_mib_below: 1_000,
  /** Of a run beside many waiting nodes, times the same run without; beyond it is more than the noise of a median. */
  run_beside_waiting_at_most: 1.25,
  /** Ranges a second, by those of nginx. */
  boot_ratio_at_least: 0.8,
  boot_mib_at_most: 150,
  boot_first_byte_ms_at_most: 50,
  /** For 10,000 nodes; of more or fewer, in proportion. */
  plan_s_at_most: 3,
  admissions_per_s_at_least: 25,
  between_waves_s_at_most: 2,
  abort_s_at_most: 1,
  rollout_events_per_1000_at_most: 500,
  rollout_control_mib_at_most: 300,
  power_beside_rollout_at_most: 1.25,
  console_page_ms_at_most: 100,
  change_on_screen_ms_at_most: 1_000,
  streams_mib_at_most: 250,
  streams_cores_at_most: 0.3,
  event_late_ms_at_most: 1_000,
  /** Of nodes that were looked at within 1.2 intervals. */
  power_current_at_least: 0.999,
  power_look_ms_at_most: 1,
  power_cores_at_most: 1.5,
  power_hot_at_least: 0.99,
  power_outage_requests_at_most: 2,
  power_recovered_intervals_at_most: 2,
  /** Of a page after a year, times the same after a month: the trees of indexes are a level higher at most. */
  growth_pages_at_most: 2,
  growth_ms_at_most: 1.5,
  forgotten_batch_ms_at_most: 1_000,
  bmc_kb_at_most: 8,
  /** For 100,000 nodes, in proportion where there are fewer. */
  enrol_min_at_most: 4,
  verify_and_inspect_min_at_most: 90,
  /** Of a tenant's requests while a fleet is worked on, times the same while nothing goes on. */
  tenant_beside_fleet_at_most: 1.3,
} as const;

/** One goal beside what was measured. */
export type Verdict = { readonly what: string; readonly is: number; readonly met: boolean; readonly goal: string };

const atMost = (what: string, is: number, most: number): Verdict => ({
  what,
  is,
  met: is <= most,
  goal: `at most ${most}`,
});
const atLeast = (what: string, is: number, least: number): Verdict => ({
  what,
  is,
  met: is >= least,
  goal: `at least ${least}`,
});
const below = (what: string, is: number, limit: number): Verdict => ({
  what,
  is,
  met: is < limit,
  goal: `below ${limit}`,
});

const rows: { readonly [Name in keyof Found]?: (found: NonNullable<Found[Name]>) => Verdict[] } = {
  start: ({ warm_s }) => [below('warm start, seconds', warm_s, goals.warm_start_below_s)],
  run: (found) =>
    found.flatMap(({ run, ratio_whole, more_events }) => [
      atMost(`${run}, times the no-op`, ratio_whole, goals.run_ratio_at_most),
      atMost(`${run}, events more than the no-op`, more_events, goals.more_events_at_most),
    ]),
  http: (cells) =>
    cells.map(({ route, kind, connections, ratio }) =>
      atLeast(`${route} at ${connections} connections, share of bare`, ratio, goals.http_ratio_at_least[kind]),
    ),
  identity: (costs) =>
    costs.map(({ token, us }) => below(`a cached token ${token}, microseconds`, us, goals.cached_token_below_us)),
  cycles: ({ per_s }) => [atLeast('cycles a second', per_s, goals.cycles_per_s_at_least)],
  allocations: ({ per_s, failed, twice }) => [
    atLeast('allocations a second', per_s, goals.allocations_per_s_at_least),
    atMost('allocations without a node, or with another’s', failed + twice, 0),
  ],
  lists: ({ ratios }) =>
    ratios.map(({ list, ratio }) =>
      atMost(`${list}, times the same in a small fleet`, ratio, goals.list_in_fleet_at_most),
    ),
  walk: (walks) =>
    walks.flatMap(({ form, ratio, most }) => [
      atMost(`the last pages of all nodes, ${form}, times the first`, ratio, goals.last_page_at_most),
      below(`the API while all nodes are paged, ${form}, MiB`, most, goals.api_mib_below),
    ]),
  plans: ({ faults }) => [atMost('statements that read too much', faults.length, 0)],
  policy: ({ median_ns, warm_ms }) => [
    below('a decision of the hottest rules, median ns', median_ns, goals.decision_below_ns),
    below('loading every rule, ms', warm_ms, goals.policy_load_below_ms),
  ],
  rack: ({ bmcs, outcomes, above_limit }) => [
    atLeast('BMCs cleaned', outcomes.manageable ?? 0, bmcs),
    atMost('BMCs treated worse than their limit', above_limit, goals.bmcs_above_limit),
  ],
  waiting: ({ control, ratio }) => [
    below('control worker with waiting nodes, MiB', control, goals.control_mib_below),
    atMost('a deployment beside waiting nodes, times without', ratio, goals.run_beside_waiting_at_most),
  ],
  boot: (found) => {
    const { own } = found;
    const shares = sharesOf(found);
    return [
      ...(shares
        ? [
            atLeast('ranges of boot images, share of nginx', shares.ranges, goals.boot_ratio_at_least),
            atLeast('an image to many readers, share of nginx', shares.image, goals.boot_ratio_at_least),
          ]
        : []),
      atMost('the boot service, MiB', own.resident, goals.boot_mib_at_most),
      atMost('first byte of a range at 1 Gbit/s, p99 ms', own.paced.p99, goals.boot_first_byte_ms_at_most),
      atMost('reads that failed', own.ranges.failed + own.paced.failed + own.image.failed, 0),
    ];
  },
  rollouts: (found) => [
    atMost('a plan, seconds for 10,000 nodes', (found.plan_s * 10_000) / found.planned, goals.plan_s_at_most),
    atLeast('targets begun a second', found.admitted_per_s, goals.admissions_per_s_at_least),
    atMost('from the end of a wave to the next, seconds', found.between_waves_s, goals.between_waves_s_at_most),
    atMost('from an abort to the last admission, seconds', found.abort_s, goals.abort_s_at_most),
    atMost('events of history for 1,000 nodes', found.events_per_1000, goals.rollout_events_per_1000_at_most),
    atMost('control worker during a rollout, MiB', found.control_mib, goals.rollout_control_mib_at_most),
    atMost(
      'a power request beside a rollout, p99, times idle',
      found.power_ms / found.power_idle_ms,
      goals.power_beside_rollout_at_most,
    ),
  ],
  console: ({ pages, changes }) => [
    ...pages.map(({ page, as, p95 }) =>
      atMost(`the page ${page} for the ${as}, p95 ms`, p95, goals.console_page_ms_at_most),
    ),
    atMost('a change on the Overview, p95 ms', changes.shown, goals.change_on_screen_ms_at_most),
  ],
  streams: ({ mib, cores, late_p99, expected, received, closed }) => [
    atMost('the API with open streams, MiB', mib, goals.streams_mib_at_most),
    atMost('the API with open streams while events come, cores', cores, goals.streams_cores_at_most),
    atMost('an event at its reader, p99 ms', late_p99, goals.event_late_ms_at_most),
    atMost('events that did not come or came twice, and streams that ended', Math.abs(expected - received) + closed, 0),
  ],
  power: (found) => [
    atLeast('nodes whose power is current', found.current, goals.power_current_at_least),
    atMost('a look at power, ms of a worker', found.worker_ms, goals.power_look_ms_at_most),
    atMost('looks at power, cores', found.cores, goals.power_cores_at_most),
    atLeast('looks that leave no index entry', found.hot, goals.power_hot_at_least),
    atMost('requests in an outage, times the usual', found.most_requests, goals.power_outage_requests_at_most),
    atMost('intervals until all are back', found.recovered_intervals, goals.power_recovered_intervals_at_most),
  ],
  growth: ({ paged, forgotten }) => [
    ...paged.flatMap(({ page, month, year }) => [
      atMost(
        `${page} after a year, pages of the store, times a month`,
        year.storePages / month.storePages,
        goals.growth_pages_at_most,
      ),
      atMost(`${page} after a year, ms, times a month`, year.ms / month.ms, goals.growth_ms_at_most),
    ]),
    atMost('a batch of events that go by age, ms', forgotten.events.batch_ms, goals.forgotten_batch_ms_at_most),
    atMost('a batch of runs that go by age, ms', forgotten.runs.batch_ms, goals.forgotten_batch_ms_at_most),
  ],
  fleet: (found) => [
    atMost('an emulated BMC, kB', found.bmc_kb, goals.bmc_kb_at_most),
    atMost('100,000 nodes enrolled, minutes', projectedMinutes(found, ['enrol']), goals.enrol_min_at_most),
    atMost(
      '100,000 nodes verified and inspected, minutes',
      projectedMinutes(found, ['verify', 'inspect']),
      goals.verify_and_inspect_min_at_most,
    ),
    ...found.stages.flatMap(({ stage, tenant: { list_p99, power_p99 }, failed }) => [
      atMost(`nodes that failed to ${stage}`, failed, 0),
      atMost(
        `a tenant's list beside ${stage}, p99, times idle`,
        list_p99 / found.idle.list_p99,
        goals.tenant_beside_fleet_at_most,
      ),
      atMost(
        `a tenant's power request beside ${stage}, p99, times idle`,
        power_p99 / found.idle.power_p99,
        goals.tenant_beside_fleet_at_most,
      ),
    ]),
    atLeast('nodes of the fleet begun a second', found.begun_per_s, goals.admissions_per_s_at_least),
    atLeast('BMCs whose power was looked at within 1.2 intervals', found.looked_at.asked, found.looked_at.of),
  ],
};

/** Every goal of the parts that were measured. */
export const verdicts = (found: Found): Verdict[] =>
  (Object.keys(rows) as (keyof Found)[]).flatMap((name) => {
    const part = found[name];
    return part === undefined ? [] : (rows[name] as (part: unknown) => Verdict[])(part);
  });
