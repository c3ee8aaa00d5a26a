/** Context of an API process, with its connections. */
import type { RequestListener } from 'node:http';
import { type ApiContext, type createApi, createStreams } from '../../api';
import { createInventory, type Inventory } from '../../inventory';
import { connect } from '../../inventory/database';
import { createDigests, createSealer } from '../../inventory/secrets/sealing';
import type { Logger } from '../../observe/log';
import type { Metrics } from '../../observe/metrics';
import type { Traces } from '../../observe/traces';
import { createRuns } from '../../runs';
import { glanceFrom } from '../glance';
import { clientInterceptors } from '../observing';
import type { ApiPolicy } from '../policy/api-policy';
import type { Life } from '../process';
import { watchRecovery } from '../recovery-watch';
import { apiSettings } from '../settings/api-settings';
import type { ApiConfig } from '../settings/config';
import { timingOf } from '../settings/timing';
import { lazyClient } from '../temporal/client';
import { webhookVaultFrom } from '../workers/event-delivery';
import { roleLookupFrom, votersFrom } from '../workers/grants';

type Dependencies = {
  readonly identity: ApiContext['identity'];
  readonly policy: ApiPolicy;
  readonly inventory: Inventory;
  readonly traces: Traces | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
};

/** @param name application_name in PostgreSQL */
export const openInventory = (config: ApiConfig, name: string, life: Pick<Life, 'onEnd'>): Inventory => {
  const inventory = createInventory(connect(config.TEMPER_DATABASE_URL, { max: config.TEMPER_DATABASE_POOL, name }));
  life.onEnd(() => inventory.close());
  return inventory;
};

/** @throws ConfigFault if settings conflict */
export const roomsFrom = async (
  config: ApiConfig,
  { identity, policy, inventory, traces, log, metrics }: Dependencies,
  life: Pick<Life, 'onEnd'>,
): Promise<ApiContext> => {
  const webhookVault = webhookVaultFrom(config);
  const { client, close } = lazyClient(config, await clientInterceptors(traces));
  life.onEnd(close);
  const lookup = roleLookupFrom(config);
  const glance = glanceFrom(config);
  life.onEnd(async () => void (await Promise.all([lookup?.close(), glance?.close()])));
  const vault = { ...createSealer(config.TEMPER_SECRETS_PUBLIC_KEYS), ...createDigests(config.TEMPER_DIGEST_KEYS) };
  const { TEMPER_EVENT_STREAMS: limit, TEMPER_QUOTA_STREAMS: quota } = config;
  return {
    policy: policy.now,
    recovery: watchRecovery(inventory, life),
    ...(policy.shadow && { shadow: () => policy.shadow!().report() }),
    identity,
    inventory,
    vault,
    streams: createStreams({ inventory, log, limit, quota, onCount: (open) => metrics.streams.set(open) }),
    ...(webhookVault && { webhookVault }),
    ...(glance && { glance }),
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
    settings: apiSettings(config),
    voters: votersFrom(config, lookup),
  };
};

export const watched =
  (app: ReturnType<typeof createApi>, metrics: Metrics, traces: Traces | undefined): RequestListener =>
  (request, response) => {
    const stop = metrics.requests.startTimer();
    const routeOf = () => (request as { route?: { path?: string } }).route?.path ?? 'none';
    response.on('finish', () => stop({ method: request.method, route: routeOf(), status: response.statusCode }));
    const answer = () => app(request, response);
    if (traces) traces.serve(request, response, routeOf, answer);
    else answer();
  };
