/** `worker control` runs the workflows; `worker bmc` acts on the machines of one conductor group. */

import { hostname } from 'node:os';
import { Client } from '@temporalio/client';
import { DefaultLogger, Runtime, type WorkerOptions } from '@temporalio/worker';
import { createBmcActivities } from '../activities/bmc';
import type { BootSettings } from '../activities/bmc-deps';
import { createControlActivities } from '../activities/control';
import { createDrivers, type Driver, type Drivers } from '../bmc';
import { createAgentActs } from '../bmc/agent';
import { createLanes } from '../bmc/lane';
import { createInventory, type Inventory } from '../inventory';
import { connect } from '../inventory/database';
import type { Sealer } from '../inventory/secrets/sealing';
import { type DriverName, drivers as driverTable } from '../model/lifecycle/drivers';
import { pause } from '../model/passes';
import { countedDriver, countedLanes, countRequests, vendorLabels } from '../observe/hooks';
import { createLog, type Logger } from '../observe/log';
import { createMetrics, type Metrics } from '../observe/metrics';
import { allocationCounter, reconcileCounter, relayCounter } from '../observe/runs';
import { watchSkew } from '../process/clock-skew';
import { glanceFrom } from '../process/glance';
import { keepHeapSmall, keepThreadsSmall } from '../process/heap';
import { activityInterceptors, clientInterceptors, engineTelemetry, tracesFrom } from '../process/observing';
import { apiPolicyFrom } from '../process/policy/api-policy';
import { type Life, live } from '../process/process';
import { schemaCheck } from '../process/schema';
import type { BmcConfig } from '../process/settings/config';
import { readConfig } from '../process/settings/read';
import { workflowsFrom } from '../process/temporal/bundle';
import { lazyClient } from '../process/temporal/client';
import { checkAttributes, ensureMarkHolder, workerConnection, workerIdentity } from '../process/temporal/temporal';
import { WorkflowWorker } from '../process/temporal/workflow-worker';
import { startWebhookDelivery } from '../process/workers/event-delivery';
import { startPowerSync } from '../process/workers/power-sync';
import { rolloutsFrom } from '../process/workers/rollouts';
import { startResealing, vaultsOf } from '../process/workers/sealing';
import { listenForReaders } from '../process/workers/serial-console';
import { runAllocating } from '../runs/allocating';
import { createEngine } from '../runs/engine';
import { detectRestore, type MarkDeps } from '../runs/marks';
import { runRelay } from '../runs/relay';
import { runUpkeep } from '../runs/upkeep';
import { controlQueue, groupQueue } from '../workflows/contract';

// Well below the minute after which a worker counts as silent.
const beatEveryMs = 5_000;

const installRuntime = (log: Logger, metricsAddress: string | undefined): void => {
  const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) =>
    log[levels[level as keyof typeof levels] ?? 'info'](message, meta),
  );
  Runtime.install({ logger, shutdownSignals: [], ...engineTelemetry(metricsAddress) });
};

const begin = <Role extends 'control' | 'bmc'>(role: Role) => {
  const config = readConfig(role);
  const log = createLog(`worker-${role}`, config.TEMPER_LOG_LEVEL);
  installRuntime(log, config.TEMPER_SDK_METRICS_ADDRESS);
  return { config, log, metrics: createMetrics(`worker-${role}`) };
};

const shutdown = { shutdownGraceTime: '30s', shutdownForceTime: '60s' } as const;

/** Ends with the process. A failed worker ends the process, and its supervisor restarts it. */
const runWorker = async (options: WorkerOptions, inventory: Inventory, life: Life): Promise<void> => {
  const worker = await WorkflowWorker.create({ ...shutdown, ...options });
  const running = worker.run();
  life.signal.addEventListener('abort', () => worker.getState() === 'RUNNING' && worker.shutdown(), { once: true });
  life.onEnd(() => running.catch(() => {}));
  life.ready(schemaCheck(inventory));
  await running;
};

/** With versioning, Temporal routes runs to builds. */
const versionOf = ({
  TEMPER_BUILD_ID: buildId,
  TEMPER_QUEUE_PREFIX: prefix,
}: {
  TEMPER_BUILD_ID?: string;
  TEMPER_QUEUE_PREFIX: string;
}): Pick<WorkerOptions, 'workerDeploymentOptions'> =>
  buildId === undefined
    ? {}
    : {
        workerDeploymentOptions: {
          version: { deploymentName: `${prefix}-control`, buildId },
          useWorkerVersioning: true,
          defaultVersioningBehavior: 'AUTO_UPGRADE',
        },
      };

/** Compares PostgreSQL and Temporal. Before that, no run may be started, followed or ended. */
const compared = async (deps: MarkDeps, { signal }: Life): Promise<void> => {
  while (!signal.aborted) {
    try {
      await detectRestore(deps, false);
      return;
    } catch (thrown) {
      deps.log.warn('store and engine cannot be compared yet', { reason: String(thrown) });
      await pause(1_000, signal);
    }
  }
};

const control = (): void => {
  // Many runs are active, in the heaps of this thread and the workflow threads.
  keepHeapSmall();
  keepThreadsSmall();
  const { config, log, metrics } = begin('control');
  live('control', config, { log, metrics }, async (life) => {
    const traces = await tracesFrom('worker-control', config, life);
    const { workflowModules, ...workflows } = workflowsFrom(config.TEMPER_WORKFLOW_BUNDLE);
    const inventory = createInventory(
      connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-control' }),
    );
    life.onEnd(() => inventory.close());
    watchSkew({ inventory, log, metrics }, life);
    const { now: policy, close: closePolicy } = apiPolicyFrom(config, { log, metrics });
    life.onEnd(async () => closePolicy());
    startWebhookDelivery(config, { inventory, log, metrics, policy }, life);
    const glance = glanceFrom(config);
    life.onEnd(async () => glance?.close());
    const allocating = runAllocating(
      { inventory, log, onSettled: allocationCounter(metrics) },
      { signal: life.signal },
    );
    life.onEnd(() => allocating);
    const connection = await workerConnection(config);
    life.onEnd(() => connection.close());
    const { client, close } = lazyClient(config, await clientInterceptors(traces));
    life.onEnd(close);
    await checkAttributes(connection, config.TEMPER_TEMPORAL_NAMESPACE);
    const relayDeps = { inventory, client, log, observe: relayCounter(metrics) };
    const queuePrefix = config.TEMPER_QUEUE_PREFIX;
    const kept = {
      auditMonths: config.TEMPER_AUDIT_RETENTION_MONTHS,
      historyMonths: config.TEMPER_HISTORY_RETENTION_MONTHS,
    };
    await compared({ ...relayDeps, queuePrefix }, life);
    void runRelay(relayDeps, { signal: life.signal });
    const rollouts = rolloutsFrom(config, { inventory, client, log, policy, glance }, life);
    void runUpkeep(
      {
        ...relayDeps,
        ...kept,
        queuePrefix,
        ensureMarkHolder: () => ensureMarkHolder(client, queuePrefix),
        onReconciled: reconcileCounter(metrics),
      },
      life.signal,
    );
    await runWorker(
      {
        connection,
        namespace: config.TEMPER_TEMPORAL_NAMESPACE,
        taskQueue: controlQueue(config.TEMPER_QUEUE_PREFIX),
        identity: workerIdentity('control', '', config.TEMPER_WORKER_HOSTNAME),
        ...workflows,
        ...versionOf(config),
        interceptors: { activity: await activityInterceptors(metrics, traces), workflowModules },
        activities: createControlActivities({ inventory, client, log, ...kept, ...(rollouts && { rollouts }) }),
        maxCachedWorkflows: config.TEMPER_WORKFLOW_CACHE,
        // Tasks of a killed worker move to another worker after this: half of the TypeScript SDK's default, and the
        // same as in Go and Java.
        stickyQueueScheduleToStartTimeout: '5s',
        workflowTaskPollerBehavior: { type: 'autoscaling' },
        activityTaskPollerBehavior: { type: 'autoscaling' },
      },
      inventory,
      life,
    );
  });
};

/** Empty if not configured. */
const bootFrom = (config: BmcConfig, sealer: Sealer): { readonly boot?: BootSettings } => {
  const { TEMPER_BOOT_URL: url, TEMPER_RAMDISK_API_URL: apiUrl, TEMPER_CONDUCTOR_GROUP: group } = config;
  if (url === undefined || apiUrl === undefined) return {};
  const plain = (text: string): string => text.replace(/\/+$/, '');
  const imagesUrl = plain(config.TEMPER_BOOT_IMAGES_URL ?? url);
  return { boot: { url: plain(url), imagesUrl, apiUrl: plain(apiUrl), sealer, group } };
};

const bmc = (): void => {
  // Requests to the serial console port cause garbage here.
  keepHeapSmall();
  const { config, log, metrics } = begin('bmc');
  live('bmc', config, { log, metrics }, async (life) => {
    const vaults = vaultsOf(config);
    const traces = await tracesFrom('worker-bmc', config, life);
    life.onEnd(countRequests(metrics));
    const inventory = createInventory(
      connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-bmc' }),
    );
    life.onEnd(() => inventory.close());
    watchSkew({ inventory, log, metrics }, life);
    const doors = {
      log,
      networks: config.TEMPER_BMC_NETWORKS,
      agentNetworks: config.TEMPER_AGENT_NETWORKS,
      imageOrigins: config.TEMPER_IMAGE_ORIGINS,
    };
    const bmcs = createDrivers({ ...doors, fakeDelayMs: config.TEMPER_FAKE_DELAY_MS });
    life.onEnd(() => bmcs.close());
    const connection = await workerConnection(config);
    life.onEnd(() => connection.close());
    await keepBeating(config, inventory, life);
    const deps = {
      inventory,
      vault: vaults.opener,
      imageOrigins: config.TEMPER_IMAGE_ORIGINS,
      driverOf: countedDrivers(bmcs, metrics),
      agentActs: countedDriver({ name: 'agent', acts: createAgentActs(doors) }, metrics).acts,
      ...bootFrom(config, vaults.sealer),
      lanes: countedLanes(createLanes(), metrics),
      reportAttempt: createEngine(new Client({ connection, namespace: config.TEMPER_TEMPORAL_NAMESPACE })).tried,
      log,
    };
    startPowerSync(config, { ...deps, metrics }, vaults.sealer, life);
    startResealing({ inventory, ...vaults, log }, life);
    await listenForReaders(config, deps, life);
    await runWorker(
      {
        connection,
        namespace: config.TEMPER_TEMPORAL_NAMESPACE,
        taskQueue: groupQueue(config.TEMPER_CONDUCTOR_GROUP, config.TEMPER_QUEUE_PREFIX),
        identity: workerIdentity('bmc', config.TEMPER_CONDUCTOR_GROUP, config.TEMPER_WORKER_HOSTNAME),
        activities: createBmcActivities(deps),
        interceptors: { activity: await activityInterceptors(metrics, traces) },
        maxConcurrentActivityTaskExecutions: 500,
        activityTaskPollerBehavior: { type: 'autoscaling' },
      },
      inventory,
      life,
    );
  });
};

const countedDrivers = (bmcs: Drivers, metrics: Metrics): ((name: string) => Driver | undefined) => {
  const vendorOf = vendorLabels();
  const counted = new Map<string, Driver>();
  for (const name of Object.keys(driverTable) as DriverName[])
    counted.set(name, countedDriver(bmcs.get(name), metrics, vendorOf));
  return (name) => counted.get(name);
};

const keepBeating = async (
  config: {
    TEMPER_WORKER_HOSTNAME?: string;
    TEMPER_CONDUCTOR_GROUP: string;
    TEMPER_SERIAL_CONSOLE_PUBLIC_URL?: string;
  },
  inventory: ReturnType<typeof createInventory>,
  life: Life,
): Promise<void> => {
  const name = config.TEMPER_WORKER_HOSTNAME ?? hostname();
  const beat = () =>
    inventory.workers.beat({
      hostname: name,
      conductor_group: config.TEMPER_CONDUCTOR_GROUP,
      drivers: Object.keys(driverTable),
      role: 'bmc',
      console_url: config.TEMPER_SERIAL_CONSOLE_PUBLIC_URL,
    });
  await beat();
  const timer = setInterval(() => void beat().catch(() => {}), beatEveryMs);
  life.onEnd(async () => {
    clearInterval(timer);
    await inventory.workers.leave(name);
  });
};

const roles: Readonly<Record<string, () => void>> = { control, bmc };
const role = roles[process.argv[2] ?? ''];
if (role) role();
else {
  process.stderr.write(`usage: worker ${Object.keys(roles).join('|')}\n`);
  process.exit(64);
}
