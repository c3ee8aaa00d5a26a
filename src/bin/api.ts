/**
 * The API process: Ironic's API and Temper's over PostgreSQL. It never connects to a BMC. `api ramdisks` serves
 * ramdisks at a separate address, in a separate process, so that they cannot block callers.
 */
import type { AddressInfo } from 'node:net';
import {
  type ApiContext,
  createApi,
  createAuditTrail,
  onlyRamdisks,
  type Route,
  routes,
  withoutRamdisks,
} from '../api';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { cleaningFrom } from '../process/api/cleaning-runbooks';
import { openInventory, roomsFrom, watched } from '../process/api/context';
import { identityFrom, noLogin } from '../process/api/identity';
import { watchSkew } from '../process/clock-skew';
import { guardedServer } from '../process/guarded-server';
import { collectAlone, keepHeapSmall } from '../process/heap';
import { gentleEnd, type Listening, listen } from '../process/listen';
import { tracesFrom } from '../process/observing';
import { apiPolicyFrom } from '../process/policy/api-policy';
import { createPolicyRecorder, type PolicyRecorder } from '../process/policy/policy-record';
import { type Life, live } from '../process/process';
import { schemaCheck } from '../process/schema';
import { apiListening, ramdiskListening, refuseOpeningKeys, serverTimeouts } from '../process/settings/api-settings';
import type { ApiConfig } from '../process/settings/config';
import { together } from '../process/settings/fault';
import { readConfig } from '../process/settings/read';

type Role = {
  readonly name: string;
  readonly listening: (config: ApiConfig) => Listening;
  readonly offered: (config: ApiConfig) => readonly Route[];
  readonly identityFrom: typeof identityFrom;
};

const callers: Role = {
  name: 'api',
  listening: apiListening,
  offered: ({ TEMPER_RAMDISK_LISTEN: at }) => (at === 'api' ? routes : withoutRamdisks(routes)),
  identityFrom,
};

const ramdisks: Role = {
  name: 'api-ramdisks',
  listening: ramdiskListening,
  offered: () => onlyRamdisks(routes),
  identityFrom: noLogin,
};

const roleOf = (word: string | undefined): Role => {
  if (word === undefined) return callers;
  if (word === 'ramdisks') return ramdisks;
  process.stderr.write('usage: api [ramdisks]\n');
  return process.exit(64);
};

keepHeapSmall();
collectAlone();

const role = roleOf(process.argv[2]);
const config = readConfig('api');
const log = createLog(role.name, config.TEMPER_LOG_LEVEL);
const metrics = createMetrics(role.name);

// Asynchronous, so that its faults are reported with those of the identity files.
const policyFrom = async (record: PolicyRecorder['record']) => apiPolicyFrom(config, { log, metrics }, record);

const serve = async (life: Life): Promise<void> => {
  const at = role.listening(config);
  const traces = await tracesFrom(role.name, config, life);
  const recorder = createPolicyRecorder(log);
  life.onEnd(() => recorder.close());
  const [identity, policy] = await together(role.identityFrom(config, log), policyFrom(recorder.record));
  life.onEnd(() => identity.close());
  life.onEnd(() => policy.close());
  const inventory = openInventory(config, `temper-${role.name}`, life);
  watchSkew({ inventory, log, metrics }, life);
  recorder.writeTo(inventory);
  const made = await roomsFrom(config, { identity, policy, inventory, traces, log, metrics }, life);
  const cleaningRunbooks = await cleaningFrom(inventory.runbooks.find, config.TEMPER_CLEANING_RUNBOOKS, log);
  const context: ApiContext = { ...made, settings: { ...made.settings, cleaningRunbooks } };
  const trail = createAuditTrail(context);
  life.onEnd(() => trail.close());

  const api = createApi(context, role.offered(config), trail);
  const server = guardedServer(serverTimeouts(config), watched(api, metrics, traces), api);
  life.onEnd(gentleEnd(server, undefined, config.TEMPER_DRAIN_MS));
  await listen(server, at, (error) => log.warn(`${role.name} socket`, { error }));
  life.onEnd(() => context.streams.close()); // closed first, because open streams would block the server's end
  const { port } = server.address() as AddressInfo;
  const { TEMPER_RAMDISK_LISTEN: ramdisksAt } = config;
  log.info('listening', { host: at.host, port, strategies: identity.strategies, ramdisks: ramdisksAt });
  const requireSchema = schemaCheck(inventory);
  life.ready(async () => {
    await inventory.ping();
    await requireSchema();
    const fault = policy.fault();
    if (fault) log.warn('ready with old rules', { fault });
  });
};

live(role.name, config, { log, metrics }, async (life) => {
  refuseOpeningKeys(process.env);
  await serve(life);
});
