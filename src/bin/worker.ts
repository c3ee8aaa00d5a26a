/** `worker control` runs the stories, `worker bmc` acts on the machines of one conductor group. */
import { accessSync, constants } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DefaultLogger, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { createBmcActivities } from '../activities/bmc';
import { createControlActivities } from '../activities/control';
import { createDrivers } from '../bmc';
import { createLanes } from '../bmc/lane';
import { createInventory } from '../inventory';
import { connect } from '../inventory/database';
import { createVault } from '../inventory/vault';
import { type DriverName, drivers as driverTable } from '../model/drivers';
import { createLog, type Logger } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { runRelay } from '../runs/relay';
import { controlQueue, groupQueue } from '../workflows/contract';
import { readConfig } from './config';
import { ConfigFault } from './fault';
import { type Life, live } from './process';
import { checkAttributes, ensureReconciler, lazyClient, workerConnection, workerIdentity } from './temporal';

// Well below the minute after which a worker counts as silent.
const beatEveryMs = 5_000;

const installLog = (log: Logger): void => {
  const levels = { TRACE: 'debug', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) =>
    log[levels[level as keyof typeof levels] ?? 'info'](message, meta),
  );
  Runtime.install({ logger, shutdownSignals: [] });
};

const shutdown = { shutdownGraceTime: '30s', shutdownForceTime: '60s' } as const;

/** Runs a worker until the process is told to end. A worker that fails takes its process with it; the supervisor starts anew. */
const runWorker = async (options: WorkerOptions, life: Life): Promise<void> => {
  const worker = await Worker.create({ ...shutdown, ...options });
  const running = worker.run();
  life.signal.addEventListener('abort', () => worker.getState() === 'RUNNING' && worker.shutdown(), { once: true });
  life.onEnd(() => running.catch(() => {}));
  life.ready();
  await running;
};

const bundleFrom = (codePath: string): WorkerOptions['workflowBundle'] => {
  try {
    accessSync(codePath, constants.R_OK);
    return { codePath };
  } catch (thrown) {
    const reason = `could not be read (${(thrown as NodeJS.ErrnoException).code})`;
    throw new ConfigFault([
      `TEMPER_WORKFLOW_BUNDLE: ${codePath} ${reason}. Build it, or unset this to bundle at start.`,
    ]);
  }
};

const control = (): void => {
  const config = readConfig('control');
  const log = createLog('worker-control', config.TEMPER_LOG_LEVEL);
  const metrics = createMetrics('worker-control');
  installLog(log);
  live('control', config, { log, metrics }, async (life) => {
    const workflows = config.TEMPER_WORKFLOW_BUNDLE
      ? { workflowBundle: bundleFrom(config.TEMPER_WORKFLOW_BUNDLE) }
      : { workflowsPath: join(__dirname, '../workflows/index.js') };
    const inventory = createInventory(
      connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-control' }),
    );
    life.onEnd(() => inventory.close());
    const connection = await workerConnection(config);
    life.onEnd(() => connection.close());
    const { client, close } = lazyClient(config);
    life.onEnd(close);
    await checkAttributes(connection, config.TEMPER_TEMPORAL_NAMESPACE);
    await ensureReconciler(client, config.TEMPER_QUEUE_PREFIX);
    void runRelay({ inventory, client, log }, { signal: life.signal });
    await runWorker(
      {
        connection,
        namespace: config.TEMPER_TEMPORAL_NAMESPACE,
        taskQueue: controlQueue(config.TEMPER_QUEUE_PREFIX),
        identity: workerIdentity('control', '', config.TEMPER_WORKER_HOSTNAME),
        ...workflows,
        activities: createControlActivities({ inventory, client, log }),
        workflowTaskPollerBehavior: { type: 'autoscaling' },
        activityTaskPollerBehavior: { type: 'autoscaling' },
      },
      life,
    );
  });
};

const bmc = (): void => {
  const config = readConfig('bmc');
  const log = createLog('worker-bmc', config.TEMPER_LOG_LEVEL);
  const metrics = createMetrics('worker-bmc');
  installLog(log);
  live('bmc', config, { log, metrics }, async (life) => {
    const inventory = createInventory(
      connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-bmc' }),
    );
    life.onEnd(() => inventory.close());
    const bmcs = createDrivers({ log, networks: config.TEMPER_BMC_NETWORKS });
    life.onEnd(() => bmcs.close());
    const connection = await workerConnection(config);
    life.onEnd(() => connection.close());
    await keepBeating(config, inventory, life);
    await runWorker(
      {
        connection,
        namespace: config.TEMPER_TEMPORAL_NAMESPACE,
        taskQueue: groupQueue(config.TEMPER_CONDUCTOR_GROUP, config.TEMPER_QUEUE_PREFIX),
        identity: workerIdentity('bmc', config.TEMPER_CONDUCTOR_GROUP, config.TEMPER_WORKER_HOSTNAME),
        activities: createBmcActivities({
          inventory,
          vault: createVault(config.TEMPER_SECRETS_KEYS),
          driverOf: (name) => (Object.hasOwn(driverTable, name) ? bmcs.get(name as DriverName) : undefined),
          lanes: createLanes(),
          log,
        }),
        maxConcurrentActivityTaskExecutions: 500,
        activityTaskPollerBehavior: { type: 'autoscaling' },
      },
      life,
    );
  });
};

const keepBeating = async (
  config: { TEMPER_WORKER_HOSTNAME?: string; TEMPER_CONDUCTOR_GROUP: string },
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
