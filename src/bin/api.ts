/** The API process: Ironic's API and Temper's over PostgreSQL. It never connects to a BMC. */
import type { AddressInfo } from 'node:net';
import { type ApiContext, createApi, createAuditTrail, routes, withoutRamdisks } from '../api';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { cleaningFrom } from '../process/api/cleaning-runbooks';
import { openInventory, poolsOf, roomsFrom, watched } from '../process/api/context';
import { identityFrom } from '../process/api/identity';
import { startRamdiskListener } from '../process/api/ramdisk-listener';
import { watchSkew } from '../process/clock-skew';
import { guardedServer } from '../process/guarded-server';
import { collectAlone, keepHeapSmall } from '../process/heap';
import { gentleEnd, listen } from '../process/listen';
import { tracesFrom } from '../process/observing';
import { apiPolicyFrom } from '../process/policy/api-policy';
import { createPolicyRecorder, type PolicyRecorder } from '../process/policy/policy-record';
import { type Life, live } from '../process/process';
import { schemaCheck } from '../process/schema';
import { apiListening, ramdiskAddressOf, refuseOpeningKeys, serverTimeouts } from '../process/settings/api-settings';
import { together } from '../process/settings/fault';
import { readConfig } from '../process/settings/read';

keepHeapSmall();
collectAlone();

const config = readConfig('api');
const log = createLog('api', config.TEMPER_LOG_LEVEL);
const metrics = createMetrics('api');

// Asynchronous, so that its faults are reported with those of the identity files.
const policyFrom = async (record: PolicyRecorder['record']) => apiPolicyFrom(config, { log, metrics }, record);

/** @returns ends the thread */
const serveRamdisks = async (): Promise<() => Promise<void>> => {
  const ramdisksAt = ramdiskAddressOf(config);
  if (!ramdisksAt) return async () => {};
  const ramdisks = await startRamdiskListener({ drainMs: config.TEMPER_DRAIN_MS }, log);
  metrics.countToo(ramdisks.counted);
  log.info('listening for ramdisks', { host: ramdisksAt.host, port: ramdisks.port });
  return ramdisks.end;
};

const serve = async (life: Life): Promise<void> => {
  const traces = await tracesFrom('api', config, life);
  const recorder = createPolicyRecorder(log);
  life.onEnd(() => recorder.close());
  const [identity, policy] = await together(identityFrom(config, log), policyFrom(recorder.record));
  life.onEnd(() => identity.close());
  life.onEnd(() => policy.close());
  const inventory = openInventory(config, 'temper-api', poolsOf(config).callers, life);
  watchSkew({ inventory, log, metrics }, life);
  recorder.writeTo(inventory);
  const made = await roomsFrom(config, { identity, policy, inventory, traces, log, metrics }, life);
  const cleaningRunbooks = await cleaningFrom(inventory.runbooks.find, config.TEMPER_CLEANING_RUNBOOKS, log);
  const context: ApiContext = { ...made, settings: { ...made.settings, cleaningRunbooks } };
  const trail = createAuditTrail(context);
  life.onEnd(() => trail.close());

  const ends: (() => Promise<void>)[] = [];
  life.onEnd(async () => void (await Promise.all(ends.map((end) => end()))));
  ends.push(await serveRamdisks());
  const offered = config.TEMPER_RAMDISK_LISTEN === 'api' ? routes : withoutRamdisks(routes);
  const api = createApi(context, offered, trail);
  const server = guardedServer(serverTimeouts(config), watched(api, metrics, traces), api);
  ends.push(gentleEnd(server, undefined, config.TEMPER_DRAIN_MS));
  await listen(server, apiListening(config), (error) => log.warn('api socket', { error }));
  life.onEnd(() => context.streams.close()); // closed first, because open streams would block the server's end
  log.info('listening', {
    host: config.TEMPER_API_HOST,
    port: (server.address() as AddressInfo).port,
    strategies: config.TEMPER_AUTH_STRATEGY,
  });
  const requireSchema = schemaCheck(inventory);
  life.ready(async () => {
    await inventory.ping();
    await requireSchema();
    const fault = policy.fault();
    if (fault) log.warn('ready with old rules', { fault });
  });
};

live('api', config, { log, metrics }, async (life) => {
  refuseOpeningKeys(process.env);
  await serve(life);
});
