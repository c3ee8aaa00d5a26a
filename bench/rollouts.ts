/** What rollouts cost: plans, admissions beside the work of their runs, waves, an abort, history, memory, and a tenant's power request meanwhile. */
import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { RolloutUuid } from '../src/model/ids';
import { rolloutId } from '../src/workflows/contract';
import { residentMiB } from './processes';
import { engineOf } from './runs-nodes';
import { percentile } from './stats';
import { ask, type System } from './system';
import { amount, ms, table } from './table';

type Effort = { readonly planned: number; readonly rolled: number; readonly requests: number };

export type RolloutFigures = {
  readonly planned: number;
  readonly plan_s: number;
  readonly rolled: number;
  /** From the first admission to the last, the ends of runs among them. */
  readonly admitted_per_s: number;
  /** From the last end of the first wave to the first admission of the second. */
  readonly between_waves_s: number;
  /** From the request to abort to the last admission; negative where none came after the request. */
  readonly abort_s: number;
  readonly events_per_1000: number;
  /** Of the control worker, the most that was seen while the rollout ran. */
  readonly control_mib: number;
  readonly power_idle_ms: number;
  readonly power_ms: number;
};

/** The trait that approves it, too. */
export const rolloutRunbook = 'CUSTOM_BENCH_ROLLOUT';

/** Enrolled by hand: what is measured begins after that. The last one is the tenant's, whose power is asked for meanwhile. */
const fleet = async ({ sql }: System, resource_class: string, nodes: number): Promise<void> => {
  await sql`
    insert into nodes (name, driver, resource_class, provision_state, power_state, traits, properties)
    select ${resource_class} || '-' || n, 'fake-hardware', ${resource_class}, 'active', 'power on', array[${rolloutRunbook}],
      jsonb_build_object('rack', 'r' || n / 40) from generate_series(1, ${nodes}::int) n`;
  await sql`analyze nodes`;
};

/** Once in a system, for all parts. */
export const addRolloutRunbook = async (system: System): Promise<void> => {
  const steps = [{ interface: 'power', step: 'reboot', args: {}, order: 1 }];
  const { runbooks } = JSON.parse(await ask(system, 'GET', '/v1/runbooks?fields=name'));
  if (runbooks.some(({ name }: { name: string }) => name === rolloutRunbook)) return;
  await ask(system, 'POST', '/v1/runbooks', { name: rolloutRunbook, public: true, steps });
};

const planOf = async (
  system: System,
  resource_class: string,
  limits: object,
): Promise<{ uuid: RolloutUuid; plan_hash: string }> =>
  JSON.parse(
    await ask(system, 'POST', '/temper/v1/rollouts', {
      runbook: rolloutRunbook,
      select: { query: { resource_class } },
      budget: { total: '100%' },
      spread: [{ by: 'properties.rack', max: 20 }],
      ...limits,
    }),
  );

const twoWaves = [
  { size: '50%', advance: 'auto' },
  { rest: true, advance: 'auto' },
];

/** Plans and starts a rollout of all nodes of a class. */
export const beginRollout = async (
  system: System,
  resource_class: string,
  { max_in_flight = 100, waves = twoWaves }: { max_in_flight?: number; waves?: readonly object[] } = {},
): Promise<RolloutUuid> => {
  const { uuid, plan_hash } = await planOf(system, resource_class, { waves, max_in_flight });
  await ask(system, 'POST', `/temper/v1/rollouts/${uuid}/start`, { plan_hash, reason: 'bench' });
  return uuid;
};

/** Milliseconds of each request for a node's power, one after the other, until there were enough of them or it is over. */
const powerTimes = async (
  system: System,
  node: string,
  until: (times: readonly number[]) => boolean,
): Promise<number[]> => {
  const times: number[] = [];
  while (!until(times)) {
    const began = performance.now();
    await ask(system, 'PUT', `/v1/nodes/${node}/states/power`, {
      target: times.length % 2 === 0 ? 'power off' : 'power on',
    });
    times.push(performance.now() - began);
    await settledPower(system, node);
  }
  return times;
};

const settledPower = async ({ sql }: System, node: string): Promise<void> => {
  for (;;) {
    const [row] = await sql<
      { held: boolean }[]
    >`select reservation is not null as held from nodes where name = ${node}`;
    if (!row?.held) return;
    await pause(20);
  }
};

export const rolloutState = async ({ sql }: System, rollout: RolloutUuid) => {
  const [row] = await sql<{ state: string; code: string | null; begun: number }[]>`
    select r.state, r.code, (select count(*)::int from rollout_targets t where t.rollout = r.id and t.admitted_at is not null) as begun
    from rollouts r where id = ${rollout}`;
  return row!;
};

const controlPid = ({ processes }: System): number => processes.find(({ name }) => name === 'worker-control')!.pid;

/** Until the rollout has ended; the power of a tenant's node is asked for all the time. */
const watched = async (system: System, rollout: RolloutUuid, tenant: string) => {
  let over = false;
  let control_mib = 0;
  const power = powerTimes(system, tenant, () => over);
  try {
    for (
      let now = await rolloutState(system, rollout);
      now.state !== 'succeeded';
      now = await rolloutState(system, rollout)
    ) {
      if (now.state !== 'running') throw new Error(`the rollout is ${now.state}: ${now.code}`);
      control_mib = Math.max(control_mib, residentMiB(controlPid(system)));
      await pause(500);
    }
  } finally {
    over = true;
  }
  return { control_mib, times: await power };
};

const timesOf = async ({ sql }: System, rollout: RolloutUuid) => {
  const [row] = await sql<{ seconds: number; nodes: number; between: number }[]>`
    select extract(epoch from max(admitted_at) - min(admitted_at))::float8 as seconds, count(*)::int as nodes,
      extract(epoch from min(admitted_at) filter (where wave = 1) - max(ended_at) filter (where wave = 0))::float8 as between
    from rollout_targets where rollout = ${rollout}`;
  return row!;
};

/** Events of all executions of a rollout's workflow, which begins anew when its history grows long. */
const eventsOf = async (system: System, rollout: RolloutUuid): Promise<number> => {
  const { address, namespace } = engineOf(system);
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    let events = 0;
    for await (const { historyLength } of client.workflow.list({ query: `WorkflowId = '${rolloutId(rollout)}'` }))
      events += historyLength;
    return events;
  } finally {
    await connection.close();
  }
};

const abortTime = async (system: System, resource_class: string): Promise<number> => {
  const rollout = await beginRollout(system, resource_class);
  while ((await rolloutState(system, rollout)).begun < 50) await pause(50);
  const asked = Date.now();
  await ask(system, 'POST', `/temper/v1/rollouts/${rollout}/abort`, { reason: 'bench', running: 'finish' });
  await pause(3_000);
  const [row] = await system.sql<
    { last: Date }[]
  >`select max(admitted_at) as last from rollout_targets where rollout = ${rollout}`;
  return (row!.last.getTime() - asked) / 1_000;
};

export const measureRollouts = async (
  system: System,
  { planned, rolled, requests }: Effort,
  say: (line: string) => void,
): Promise<RolloutFigures> => {
  await addRolloutRunbook(system);
  await fleet(system, 'bench-planned', planned);
  const began = performance.now();
  await planOf(system, 'bench-planned', { waves: [{ rest: true }] });
  const plan_s = (performance.now() - began) / 1_000;
  say(`a plan of ${planned} nodes takes ${plan_s.toFixed(1)} s`);
  await fleet(system, 'bench-rolled', rolled);
  await fleet(system, 'bench-tenant', 1);
  const idle = await powerTimes(system, 'bench-tenant-1', ({ length }) => length >= requests);
  const rollout = await beginRollout(system, 'bench-rolled');
  const { control_mib, times } = await watched(system, rollout, 'bench-tenant-1');
  const { seconds, nodes, between } = await timesOf(system, rollout);
  say(`${nodes} nodes in ${seconds.toFixed(0)} s`);
  return {
    planned,
    plan_s,
    rolled,
    admitted_per_s: nodes / seconds,
    between_waves_s: between,
    events_per_1000: ((await eventsOf(system, rollout)) * 1_000) / nodes,
    abort_s: await abortTime(system, 'bench-rolled'),
    control_mib,
    power_idle_ms: percentile(idle, 0.99),
    power_ms: percentile(times, 0.99),
  };
};

export const rolloutTables = (found: RolloutFigures): string[] => [
  `Rollouts: a plan of ${found.planned} nodes, and ${found.rolled} fake-hardware nodes in two waves, at most 100 at once`,
  table(
    [
      'plan, s',
      'begun a second',
      'between waves, s',
      'abort to last, s',
      'events for 1,000',
      'control worker, MiB',
      'power p99 idle, ms',
      'meanwhile',
    ],
    [
      [
        found.plan_s.toFixed(2),
        amount(found.admitted_per_s),
        found.between_waves_s.toFixed(2),
        found.abort_s.toFixed(2),
        amount(found.events_per_1000),
        amount(found.control_mib),
        ms(found.power_idle_ms),
        ms(found.power_ms),
      ],
    ],
  ),
];
