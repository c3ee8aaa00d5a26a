/** The API process: Ironic's wire and ours over one store; it never speaks to a BMC. */
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi, createStreams, createTrail, type Rooms, routes } from '../api';
import { createInventory } from '../inventory';
import { connect } from '../inventory/database';
import { createVault } from '../inventory/vault';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { createRuns } from '../runs';
import { apiPolicyFrom } from './api-policy';
import { type ApiConfig, readConfig } from './config';
import { together } from './fault';
import { identityFrom } from './identity';
import { gentleEnd, type Listening, listen } from './listen';
import { clientInterceptors, tracesFrom } from './observing';
import { live } from './process';
import { webhookVaultFrom } from './telling';
import { lazyClient } from './temporal';
import { timingOf } from './timing';

const config = readConfig('api');
const log = createLog('api', config.TEMPER_LOG_LEVEL);
const metrics = createMetrics('api');

// Asynchronous, so that its faults are told together with those of the identity's files.
const policyFrom = async (config: ApiConfig) => apiPolicyFrom(config, { log, metrics });

const addressOf = (config: ApiConfig): Listening => ({
  host: config.TEMPER_API_HOST,
  port: config.TEMPER_API_PORT,
  hostSetting: 'TEMPER_API_HOST',
  portSetting: 'TEMPER_API_PORT',
});

live('api', config, { log, metrics }, async (life) => {
  const webhookVault = webhookVaultFrom(config);
  const traces = await tracesFrom('api', config, life);
  const [identity, policy] = await together(identityFrom(config, log), policyFrom(config));
  life.onEnd(() => identity.close());
  life.onEnd(() => policy.close());
  const inventory = createInventory(
    connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-api' }),
  );
  life.onEnd(() => inventory.close());
  const { client, close } = lazyClient(config, await clientInterceptors(traces));
  life.onEnd(close);
  const vault = createVault(config.TEMPER_SECRETS_KEYS);
  const streams = createStreams({
    inventory,
    log,
    limit: config.TEMPER_EVENT_STREAMS,
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
    }),
    log,
    settings: {
      publicEndpoint: config.TEMPER_PUBLIC_ENDPOINT?.replace(/\/$/, '') ?? null,
      temporalUi: config.TEMPER_TEMPORAL_UI_URL?.replace(/\/$/, '') ?? null,
      temporalNamespace: config.TEMPER_TEMPORAL_NAMESPACE,
      bmcNetworks: config.TEMPER_BMC_NETWORKS,
      maxLimit: 1000,
      projectAdminCanManageOwnNodes: config.TEMPER_PROJECTS_MAY_ENROL,
      allowDeletingAvailableNodes: true,
      disallowedSteps: ['vendor.send_raw'],
      agentRequireTls: config.TEMPER_AGENT_REQUIRE_TLS,
      agentNetworks: config.TEMPER_AGENT_NETWORKS,
      heartbeatTimeoutS: config.TEMPER_HEARTBEAT_TIMEOUT_S,
      imageOrigins: config.TEMPER_IMAGE_ORIGINS,
      concurrency: { clean: config.TEMPER_MAX_CONCURRENT_CLEAN, deploy: config.TEMPER_MAX_CONCURRENT_DEPLOY },
      automatedClean: config.TEMPER_AUTOMATED_CLEAN,
      automaticLessee: config.TEMPER_AUTOMATIC_LESSEE,
      operatorTraitPrefix: config.TEMPER_OPERATOR_TRAIT_PREFIX,
      cleaningRunbooks: config.TEMPER_CLEANING_RUNBOOKS,
      webhookOrigins: config.TEMPER_WEBHOOK_ORIGINS,
      lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    },
  };
  const trail = createTrail(rooms);
  life.onEnd(() => trail.close());
  const app = createApi(rooms, routes, trail);

  const server = createServer((request, response) => {
    const stop = metrics.requests.startTimer();
    const routeOf = () => (request as { route?: { path?: string } }).route?.path ?? 'none';
    response.on('finish', () => stop({ method: request.method, route: routeOf(), status: response.statusCode }));
    const answer = () => app(request as never, response as never);
    if (traces) traces.serve(request, response, routeOf, answer);
    else answer();
  });
  server.keepAliveTimeout = 75_000; // longer than the pools of usual proxies, so that they never write into a closing socket
  const endServer = gentleEnd(server);
  await listen(server, addressOf(config), (error) => log.warn('api socket', { error }));
  life.onEnd(endServer);
  life.onEnd(() => streams.close()); // first of all: what goes on would keep the server
  log.info('listening', {
    host: config.TEMPER_API_HOST,
    port: (server.address() as AddressInfo).port,
    strategies: config.TEMPER_AUTH_STRATEGY,
  });
  life.ready(async () => {
    await inventory.ping();
    const fault = policy.fault();
    if (fault) log.warn('ready with old rules', { fault });
  });
});
