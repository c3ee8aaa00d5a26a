/** A whole engine for one test file: its own database, its own task queues, real Temporal, workers in this process. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { createBmcActivities } from '../../src/activities/bmc';
import { type ControlDeps, createControlActivities } from '../../src/activities/control';
import type { Driver } from '../../src/bmc/contract';
import { createLanes } from '../../src/bmc/lane';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import type { PlannedNode } from '../../src/model/lifecycle/plan-parts';
import { planSteps } from '../../src/model/lifecycle/plan-steps';
import { planFor } from '../../src/model/lifecycle/plans';
import type { ProvisionState } from '../../src/model/lifecycle/states';
import type { GivenStep, StepVerb } from '../../src/model/lifecycle/step-types';
import { type Verb, verbRow } from '../../src/model/lifecycle/verbs';
import type { RunState, Timing } from '../../src/model/runs/runs';
import { createRuns, type RunOrder, type Runs } from '../../src/runs';
import { createEngine } from '../../src/runs/engine';
import { answerWithin, startWithin } from '../../src/runs/engine-reach';
import { controlQueue, groupQueue } from '../../src/workflows/contract';
import { type TestDatabase, temporalAddress, temporalNamespace, testDatabase, workflowBundle } from './servers';
import { ofDriverInfo, testVault } from './vault';

// Failures are what these tests provoke; what matters of them is asserted.
Runtime.install({ logger: new DefaultLogger('ERROR') });

const quiet = { info() {}, warn() {}, error() {}, debug() {} };

/** Small durations, so that retries and lost workers are noticed soon; no test depends on them being short. */
export const quickTiming: Timing = {
  powerTimeoutMs: 20_000,
  softPowerTimeoutMs: 20_000,
  settleMs: 5_000,
  pollMs: 50,
  agentTimeoutMs: 60_000,
  agentPollMs: 100,
  limits: {
    // Longer than this process stalls on a busy machine: an act whose heartbeat is late is begun once more.
    read: { heartbeatMs: 10_000, retryMs: 100 },
    converge: { heartbeatMs: 10_000, retryMs: 100 },
    once: { heartbeatMs: 10_000, retryMs: 100 },
  },
};

export type World = {
  readonly database: TestDatabase;
  readonly sql: Sql;
  readonly inventory: Inventory;
  readonly vault: typeof testVault;
  readonly runs: Runs;
  readonly client: Client;
  readonly prefix: string;
  /** Each process's own role. */
  readonly pools: { readonly api: Sql; readonly control: Sql; readonly bmc: Sql };
  /** Starts a control worker; resolves a function that stops it. */
  control(more?: Pick<ControlDeps, 'displaceWithinMs' | 'rollouts'>): Promise<() => Promise<void>>;
  /** Starts a BMC worker with these drivers; resolves a function that stops it. */
  bmc(drivers: Readonly<Record<string, Driver>>): Promise<() => Promise<void>>;
  node(values?: Readonly<Record<string, unknown>>): Promise<NodeUuid>;
  order(
    node: NodeUuid,
    verb: Verb,
    steps?: readonly GivenStep[],
    args?: Readonly<Record<string, unknown>>,
  ): Promise<RunOrder>;
  /** Waits until the run has ended, and answers its row. */
  ended(run: RunUuid): Promise<NonNullable<Awaited<ReturnType<Inventory['runs']['find']>>>>;
  /** The same runs with other durations. */
  runsWith(timing: Partial<Timing>): Runs;
  /** Looks again and again until there is something. */
  until<T>(look: () => Promise<T | undefined>): Promise<T>;
  /** Whether the run waits for the ramdisk, for the n-th time. */
  waitsIn(run: RunUuid, times: number): Promise<boolean>;
  /** Waits until the run is in a state. */
  reaches(run: RunUuid, state: RunState): Promise<void>;
  close(): Promise<void>;
};

/**
 * A client that is patient with starts, messages and descriptions: where all test files ask one engine at once these may take longer
 * than a caller is kept waiting for, and no relay of these worlds makes up for what was given up on.
 */
const patientClient = (connection: Connection): Client => {
  const client = new Client({ connection, namespace: temporalNamespace });
  const { withDeadline } = client;
  client.withDeadline = (deadline, work) => {
    const ms = Number(deadline) - Date.now();
    const isShort = ms > answerWithin && ms <= startWithin;
    return withDeadline.call(client, isShort ? Date.now() + 30_000 : deadline, work) as ReturnType<typeof work>;
  };
  return client;
};

/** @param timing frozen into every run; quick by default */
export const startEngineWorld = async (timing: Timing = quickTiming): Promise<World> => {
  const database = await testDatabase();
  const prefix = `test-${randomUUID().slice(0, 8)}`;
  const sql = connect(database.ownerUrl, { max: 4 });
  const pools = {
    api: connect(database.apiUrl, { max: 4 }),
    control: connect(database.controlUrl, { max: 4 }),
    bmc: connect(database.bmcUrl, { max: 4 }),
  };
  const inventory = createInventory(pools.api);
  const vault = testVault;
  const connection = await Connection.connect({ address: temporalAddress() });
  const client = patientClient(connection);
  const native = await NativeConnection.connect({ address: temporalAddress() });
  const stops: (() => Promise<void>)[] = [];

  const started = (worker: Worker): (() => Promise<void>) => {
    const running = worker.run();
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= (async () => {
        worker.shutdown();
        await running;
      })();
      return stopped;
    };
    stops.push(stop);
    return stop;
  };
  const base = {
    connection: native,
    namespace: temporalNamespace,
    shutdownGraceTime: '3s',
    shutdownForceTime: '10s',
    maxHeartbeatThrottleInterval: '500ms',
  } as const;

  const until = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };

  return {
    database,
    sql,
    inventory,
    vault,
    client,
    prefix,
    pools,
    runs: createRuns({ inventory, vault, client, timing, log: quiet, queuePrefix: prefix }),
    control: async (more) =>
      started(
        await Worker.create({
          ...base,
          taskQueue: controlQueue(prefix),
          workflowBundle: { codePath: workflowBundle() },
          activities: createControlActivities({
            inventory: createInventory(pools.control),
            client,
            log: quiet,
            ...more,
          }),
        }),
      ),
    bmc: async (drivers) =>
      started(
        await Worker.create({
          ...base,
          taskQueue: groupQueue('', prefix),
          activities: createBmcActivities({
            inventory: createInventory(pools.bmc),
            vault,
            driverOf: (name) => drivers[name],
            lanes: createLanes(),
            conflictLookMs: 100,
            reportAttempt: createEngine(client).tried,
            log: quiet,
            leaseMs: 2_000,
          }),
        }),
      ),
    async node(values = {}) {
      const uuid = randomUUID();
      const info = (values.driver_info ?? {}) as Record<string, unknown>;
      const driver = String(values.driver ?? 'fake-hardware');
      const driver_info = vault.seal(info, ofDriverInfo(uuid, driver, info));
      const [row] = await sql<{ uuid: NodeUuid }[]>`
        insert into nodes ${sql({ uuid, driver, provision_state: 'manageable', ...values, driver_info: sql.json(driver_info.document as never) })} returning uuid`;
      await inventory.secrets.insert(driver_info.secrets);
      return row!.uuid;
    },
    async order(uuid, verb, steps = [], args = {}) {
      const [node] = await sql<(PlannedNode & { provision_state: ProvisionState; reservation: string | null })[]>`
        select * from nodes where uuid = ${uuid}`;
      const { name, driver, provision_state, reservation } = node!;
      const row = verbRow(verb);
      const given = steps.length === 0 ? [] : planSteps(steps, (row.kind ?? 'clean') as StepVerb, node!);
      // Asked of the node as it is: an automatic list is what the node offers, where it has not switched that off.
      const automatic = row.steps === 'automatic' && node!.automated_clean !== false;
      const plan = row.kind ? planFor(row.kind, { node: node!, steps: given, automatic, args }) : { steps: given };
      const { steps: planned, ...ramdisk } = plan;
      return {
        node: { uuid, conductor_group: '', name, driver, provision_state },
        verb,
        kind: row.kind!,
        event: row.event,
        ends: row.ends ?? null,
        target: row.target ?? null,
        fault: row.fault ?? null,
        steps: planned,
        ramdisk,
        ...(reservation !== null && row.does === 'run' && { takesOver: true as const }),
        runbook: null,
        asked: {
          requester: {
            user_id: 'u',
            user_name: 'tester',
            project_id: null,
            system_scope: 'all',
            strategy: 'noauth',
            request_id: `req-${randomUUID()}`,
          },
          rule: 'baremetal:node:set_provision_state',
          rule_set: 'test',
        },
      };
    },
    runsWith: (over) =>
      createRuns({
        inventory,
        vault,
        client,
        timing: { ...timing, ...over },
        log: quiet,
        queuePrefix: prefix,
      }),
    until,
    async waitsIn(run, times) {
      const [row] = await sql<{ times: number; awaits: string | null }[]>`
        select (select count(*)::int from events e where e.run_id = r.id and e.kind = 'node.moved' and e.data ? 'awaits') as times, awaits
        from runs r where r.id = ${run}`;
      return row?.times === times && row.awaits !== null;
    },
    ended: (run) =>
      until(async () => {
        const row = await inventory.runs.find(run);
        return row?.finished_at ? row : undefined;
      }),
    reaches: async (run, state) => {
      await until(async () => ((await inventory.runs.find(run))?.state === state ? true : undefined));
    },
    async close() {
      await Promise.all(stops.map((stop) => stop()));
      await connection.close();
      await native.close();
      await Promise.all([sql, pools.api, pools.control, pools.bmc].map((pool) => pool.end({ timeout: 1 })));
      await database.drop();
    },
  };
};
