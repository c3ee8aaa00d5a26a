/** The ramdisk thread: a separate address, so that ramdisks cannot block the API. */
import type { AddressInfo } from 'node:net';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type ApiContext, createApi, createAuditTrail, onlyRamdisks, routes } from '../api';
import { anonymous } from '../model/access/callers';
import { createLog } from '../observe/log';
import { type Counted, createMetrics } from '../observe/metrics';
import { openInventory, poolsOf, roomsFrom, watched } from '../process/api/context';
import type { FromThread, ThreadStart, ToThread } from '../process/api/ramdisk-messages';
import { guardedServer } from '../process/guarded-server';
import { gentleEnd, listen } from '../process/listen';
import { tracesFrom } from '../process/observing';
import { apiPolicyFrom } from '../process/policy/api-policy';
import { ramdiskAddressOf, serverTimeouts } from '../process/settings/api-settings';
import { ConfigFault } from '../process/settings/fault';
import { readConfig } from '../process/settings/read';

const name = 'api-ramdisks';
const api: MessagePort = parentPort!;
const config = readConfig('api');
const log = createLog(name, config.TEMPER_LOG_LEVEL);
const metrics = createMetrics(name);
const closers: (() => Promise<void> | void)[] = [];
const life = { onEnd: (close: () => Promise<void> | void) => void closers.push(close) };

const say = (message: FromThread): void => api.postMessage(message);

/** No ramdisk route checks credentials; unknown paths count by address. */
const identity: ApiContext['identity'] = {
  identify: async ({ spend }) => {
    await spend?.();
    return anonymous;
  },
};

/** The API reports process metrics. */
const threadCounts = async (): Promise<Counted> =>
  (await metrics.registry.getMetricsAsJSON()).filter((one) => !/^(process_|nodejs_version)/.test(one.name));

const endThread = async (): Promise<void> => {
  for (const close of closers.reverse())
    await Promise.resolve(close()).catch((error) => log.warn('close failed', { error }));
  process.exit(0); // ends this thread only
};

const runThread = async (): Promise<void> => {
  const at = { ...ramdiskAddressOf(config)!, ...(workerData as ThreadStart) };
  const traces = await tracesFrom(name, config, life);
  // The API process records policy loads in the audit trail.
  const policy = apiPolicyFrom(config, { log, metrics });
  life.onEnd(() => policy.close());
  const inventory = openInventory(config, 'temper-api-ramdisks', poolsOf(config).ramdisks, life);
  const rooms = await roomsFrom(config, { identity, policy, inventory, traces, log, metrics }, life);
  const trail = createAuditTrail(rooms);
  life.onEnd(() => trail.close());
  const app = createApi(rooms, onlyRamdisks(routes), trail);
  const server = guardedServer(serverTimeouts(config), watched(app, metrics, traces), app);
  life.onEnd(gentleEnd(server, undefined, config.TEMPER_DRAIN_MS));
  await listen(server, at, (error) => log.warn('ramdisk socket', { error }));
  say({ is: 'listening', port: (server.address() as AddressInfo).port });
};

process.on('unhandledRejection', (error) => log.error('unhandled rejection', { error }));

api.on('message', (message: ToThread) => {
  if (message.is === 'end') void endThread();
  else void threadCounts().then((now) => say({ is: 'counted', counted: now }));
});

runThread().catch((error) => {
  if (error instanceof ConfigFault) return say({ is: 'fault', faults: error.faults });
  setImmediate(() => {
    throw error; // ends the thread; the API logs the error
  });
});
