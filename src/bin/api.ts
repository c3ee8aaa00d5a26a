/** The API process: Ironic's wire and ours over one store; it never speaks to a BMC. */
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi, createStreams, createTrail, onlyRamdisks, type Rooms, routes, withoutRamdisks } from '../api';
import { createInventory } from '../inventory';
import { connect } from '../inventory/database';
import { createDigests, createSealer } from '../inventory/sealing';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { createRuns } from '../runs';
import { apiPolicyFrom } from './api-policy';
import { addressOf, patienceOf, ramdiskAddressOf, refuseOpeningKeys, settingsOf } from './api-settings';
import { cleaningFrom } from './cleaning-runbooks';
import { watchSkew } from './clock-skew';
import { type ApiConfig, readConfig } from './config';
import { together } from './fault';
import { keepHeapSmall } from './heap';
import { identityFrom } from './identity';
import { gentleEnd, type Listening, listen, patientServer } from './listen';
import { clientInterceptors, tracesFrom } from './observing';
import { createPolicyRecorder, type PolicyRecorder } from './policy-record';
import { live } from './process';
import { webhookVaultFrom } from './telling';
import { lazyClient } from './temporal';
import { timingOf } from './timing';

keepHeapSmall();

const config = readConfig('api');
const log = createLog('api', config.TEMPER_LOG_LEVEL);
const metrics = createMetrics('api');

// Asynchronous, so that its faults are told together with those of the identity's files.
const policyFrom = async (config: ApiConfig, record: PolicyRecorder['record']) =>
  apiPolicyFrom(config, { log, metrics }, record);

/** Requests counted and traced by their route. */
const watched =
  (app: ReturnType<typeof createApi>, traces: Awaited<ReturnType<typeof tracesFrom>>): RequestListener =>
  (request, response) => {
    const stop = metrics.requests.startTimer();
    const routeOf = () => (request as { route?: { path?: string } }).route?.path ?? 'none';
    response.on('finish', () => stop({ method: request.method, route: routeOf(), status: response.statusCode }));
    const answer = () => app(request as never, response as never);
    if (traces) traces.serve(request, response, routeOf, answer);
    else answer();
  };

live('api', config, { log, metrics }, async (life) => {
  refuseOpeningKeys(process.env);
  const webhookVault = webhookVaultFrom(config);
  const traces = await tracesFrom('api', config, life);
  const recorder = createPolicyRecorder(log);
  life.onEnd(() => recorder.close());
  const [identity, policy] = await together(identityFrom(config, log), policyFrom(config, recorder.record));
  life.onEnd(() => identity.close());
  life.onEnd(() => policy.close());
  const inventory = createInventory(
    connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-api' }),
  );
  life.onEnd(() => inventory.close());
  watchSkew({ inventory, log, metrics }, life);
  recorder.writeTo(inventory);
  const { client, close } = lazyClient(config, await clientInterceptors(traces));
  life.onEnd(close);
  const vault = {
    ...createSealer(config.TEMPER_SECRETS_PUBLIC_KEYS),
    ...createDigests(config.TEMPER_DIGEST_KEYS),
  };
  const streams = createStreams({
    inventory,
    log,
    limit: config.TEMPER_EVENT_STREAMS,
    quota: config.TEMPER_QUOTA_STREAMS,
    onCount: (open) => metrics.streams.set(open),
  });

  const rooms: Rooms = {
    policy: policy.now,
    shadow: policy.shadow && (() => policy.shadow!().report()),
    identity,
    inventory,
    vault,
    streams,
    webhookVault,
    runs: createRuns({
      inventory,
      vault,
      client,
      timing: timingOf(config),
      log,
      queuePrefix: config.TEMPER_QUEUE_PREFIX,
      quota: config.TEMPER_QUOTA_RUNS,
    }),
    log,
    settings: {
      ...settingsOf(config),
      cleaningRunbooks: await cleaningFrom(inventory.runbooks.find, config.TEMPER_CLEANING_RUNBOOKS, log),
    },
  };
  const trail = createTrail(rooms);
  life.onEnd(() => trail.close());

  const ends: (() => Promise<void>)[] = [];
  life.onEnd(async () => void (await Promise.all(ends.map((end) => end()))));
  const serve = async (app: ReturnType<typeof createApi>, at: Listening): Promise<number> => {
    const server = patientServer(patienceOf(config), watched(app, traces));
    ends.push(gentleEnd(server, undefined, config.TEMPER_DRAIN_MS));
    await listen(server, at, (error) => log.warn('api socket', { error }));
    return (server.address() as AddressInfo).port;
  };
  const ramdisksAt = ramdiskAddressOf(config);
  if (ramdisksAt) {
    const port = await serve(createApi(rooms, onlyRamdisks(routes), trail), ramdisksAt);
    log.info('listening for ramdisks', { host: ramdisksAt.host, port });
  }
  const here = config.TEMPER_RAMDISK_LISTEN === 'api' ? routes : withoutRamdisks(routes);
  const port = await serve(createApi(rooms, here, trail), addressOf(config));
  life.onEnd(() => streams.close()); // first of all: what goes on would keep the server
  log.info('listening', {
    host: config.TEMPER_API_HOST,
    port,
    strategies: config.TEMPER_AUTH_STRATEGY,
  });
  life.ready(async () => {
    await inventory.ping();
    const fault = policy.fault();
    if (fault) log.warn('ready with old rules', { fault });
  });
});
