/** The API process: Ironic's wire and ours over one store; it never speaks to a BMC. */
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi } from '../api';
import { createInventory } from '../inventory';
import { connect } from '../inventory/database';
import { createVault } from '../inventory/vault';
import type { Timing } from '../model/runs';
import { createLog } from '../observe/log';
import { createMetrics } from '../observe/metrics';
import { createRuns } from '../runs';
import { type ApiConfig, readConfig } from './config';
import { together } from './fault';
import { identityFrom } from './identity';
import { gentleEnd, type Listening, listen } from './listen';
import { holdPolicy, type PolicyHolder } from './policy';
import { live } from './process';
import { lazyClient } from './temporal';

const timingOf = (config: ApiConfig): Timing => {
  const limit = { heartbeatMs: config.TEMPER_HEARTBEAT_MS, retryMs: config.TEMPER_RETRY_MS };
  return {
    powerTimeoutMs: config.TEMPER_POWER_TIMEOUT_MS,
    softPowerTimeoutMs: config.TEMPER_SOFT_POWER_TIMEOUT_MS,
    settleMs: config.TEMPER_SETTLE_MS,
    pollMs: config.TEMPER_POLL_MS,
    limits: { read: limit, converge: limit, once: { heartbeatMs: config.TEMPER_HEARTBEAT_MS } },
  };
};

const config = readConfig('api');
const log = createLog('api', config.TEMPER_LOG_LEVEL);
const metrics = createMetrics('api');

const policyFrom = async ({ TEMPER_POLICY_SET, TEMPER_POLICY_FILE }: ApiConfig): Promise<PolicyHolder> =>
  holdPolicy(TEMPER_POLICY_SET, TEMPER_POLICY_FILE, { log, onLoad: () => metrics.policyAge.setToCurrentTime() });

const addressOf = (config: ApiConfig): Listening => ({
  host: config.TEMPER_API_HOST,
  port: config.TEMPER_API_PORT,
  hostSetting: 'TEMPER_API_HOST',
  portSetting: 'TEMPER_API_PORT',
});

live('api', config, { log, metrics }, async (life) => {
  const [identity, policy] = await together(identityFrom(config, log), policyFrom(config));
  life.onEnd(() => identity.close());
  life.onEnd(() => policy.close());
  const inventory = createInventory(
    connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name: 'temper-api' }),
  );
  life.onEnd(() => inventory.close());
  const { client, close } = lazyClient(config);
  life.onEnd(close);
  const vault = createVault(config.TEMPER_SECRETS_KEYS);

  const app = createApi({
    policy: policy.now,
    identity,
    inventory,
    vault,
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
      lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    },
  });

  const server = createServer((request, response) => {
    const stop = metrics.requests.startTimer();
    response.on('finish', () =>
      stop({
        method: request.method,
        route: (request as { route?: { path?: string } }).route?.path ?? 'none',
        status: response.statusCode,
      }),
    );
    app(request as never, response as never);
  });
  server.keepAliveTimeout = 75_000; // longer than the pools of usual proxies, so that they never write into a closing socket
  const endServer = gentleEnd(server);
  await listen(server, addressOf(config), (error) => log.warn('api socket', { error }));
  life.onEnd(endServer);
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
