/** The API's settings and addresses. */
import { lookup } from 'node:dns/promises';
import type { Settings } from '../../api';
import { type ServerTimeouts, timeoutsWith } from '../guarded-server';
import type { Listening } from '../listen';
import type { ApiConfig, ControlConfig } from './config';
import { ConfigFault } from './fault';

const withoutSlash = (url: string | undefined): string | undefined => url?.replace(/\/$/, '');

type OrderConfig = Pick<
  ApiConfig & ControlConfig,
  | 'TEMPER_AUTOMATED_CLEAN'
  | 'TEMPER_AUTOMATIC_LESSEE'
  | 'TEMPER_CLEANING_RUNBOOKS'
  | 'TEMPER_DEFAULT_RAMDISK'
  | 'TEMPER_IMAGE_ORIGINS'
  | 'TEMPER_MAX_CONCURRENT_CLEAN'
  | 'TEMPER_MAX_CONCURRENT_DEPLOY'
>;

/** Shared by API and control workers. */
export const orderSettings = (config: OrderConfig) =>
  ({
    automatedClean: config.TEMPER_AUTOMATED_CLEAN,
    automaticLessee: config.TEMPER_AUTOMATIC_LESSEE,
    cleaningRunbooks: config.TEMPER_CLEANING_RUNBOOKS,
    concurrency: { clean: config.TEMPER_MAX_CONCURRENT_CLEAN, deploy: config.TEMPER_MAX_CONCURRENT_DEPLOY },
    defaultRamdisk: config.TEMPER_DEFAULT_RAMDISK,
    disallowedSteps: ['vendor.send_raw'],
    imageOrigins: config.TEMPER_IMAGE_ORIGINS,
  }) satisfies Partial<Settings>;

export const apiSettings = (config: ApiConfig): Settings => ({
  ...orderSettings(config),
  publicEndpoint: withoutSlash(config.TEMPER_PUBLIC_ENDPOINT) ?? null,
  temporalUi: withoutSlash(config.TEMPER_TEMPORAL_UI_URL) ?? null,
  temporalNamespace: config.TEMPER_TEMPORAL_NAMESPACE,
  bmcNetworks: config.TEMPER_BMC_NETWORKS,
  maxLimit: 1000,
  projectAdminCanManageOwnNodes: config.TEMPER_PROJECTS_MAY_ENROL,
  allowDeletingAvailableNodes: true,
  agentRequireTls: config.TEMPER_AGENT_REQUIRE_TLS,
  agentNetworks: config.TEMPER_AGENT_NETWORKS,
  heartbeatTimeoutS: config.TEMPER_HEARTBEAT_TIMEOUT_S,
  discovery: config.TEMPER_DISCOVERY,
  operatorTraitPrefix: config.TEMPER_OPERATOR_TRAIT_PREFIX,
  webhookOrigins: config.TEMPER_WEBHOOK_ORIGINS,
  rolloutApprovers: config.TEMPER_ROLLOUT_APPROVERS,
  rolloutApprovalHours: config.TEMPER_ROLLOUT_APPROVAL_HOURS,
  idempotencyHours: config.TEMPER_IDEMPOTENCY_HOURS,
  rateLimitPerMinute: config.TEMPER_RATE_LIMIT_PER_MINUTE,
  addressLimitPerMinute: config.TEMPER_ADDRESS_LIMIT_PER_MINUTE || undefined,
  quotas: {
    runs: config.TEMPER_QUOTA_RUNS,
    streams: config.TEMPER_QUOTA_STREAMS,
    allocations: config.TEMPER_QUOTA_ALLOCATIONS,
    runbooks: config.TEMPER_QUOTA_RUNBOOKS,
    runbook_revisions: config.TEMPER_QUOTA_RUNBOOK_REVISIONS,
    rollouts: config.TEMPER_QUOTA_ROLLOUTS,
    rollout_plans: config.TEMPER_QUOTA_ROLLOUT_PLANS,
  },
  lockWaitMs: config.TEMPER_LOCK_WAIT_MS,
  corsOrigins: config.TEMPER_CORS_ORIGINS,
  trustedProxies: config.TEMPER_TRUSTED_PROXIES,
  lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
});

export const apiListening = (config: ApiConfig): Listening => ({
  host: config.TEMPER_API_HOST,
  port: config.TEMPER_API_PORT,
  hostSetting: 'TEMPER_API_HOST',
  portSetting: 'TEMPER_API_PORT',
  reusePort: config.TEMPER_API_REUSE_PORT,
});

/** @throws ConfigFault if the setting names no address */
export const ramdiskListening = ({ TEMPER_RAMDISK_LISTEN: at }: ApiConfig): Listening => {
  const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(at) ?? [];
  const setting = 'TEMPER_RAMDISK_LISTEN';
  if (!host)
    throw new ConfigFault([`${setting}: is ${at}; write an address of ramdisks alone, such as 192.0.2.1:6387.`]);
  return { host, port: Number(port), hostSetting: setting, portSetting: setting };
};

export const serverTimeouts = (config: ApiConfig): ServerTimeouts =>
  timeoutsWith(config, config.TEMPER_REQUEST_TIMEOUT_MS);

/** Throws ConfigFault: an API process that could open secrets would expose all BMCs if compromised. */
export const refuseOpeningKeys = (env: NodeJS.ProcessEnv): void => {
  if (env.TEMPER_SECRETS_PRIVATE_KEYS || env.TEMPER_SECRETS_PRIVATE_KEYS_FILE)
    throw new ConfigFault([
      'TEMPER_SECRETS_PRIVATE_KEYS: is for BMC workers only, and no API process may have it; unset it.',
    ]);
};
