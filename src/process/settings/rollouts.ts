/** Rollout settings of control workers: the API's for single runs, because both make the same checks. */
import { api } from './api';
import { httpSettings } from './http';
import { count, webUrl } from './kinds';
import { sealing } from './shared';

export const admissionSettings = {
  TEMPER_SECRETS_PUBLIC_KEYS: sealing.TEMPER_SECRETS_PUBLIC_KEYS.optional().describe(
    'As for the API. A control worker without them begins no targets of rollouts.',
  ),
  TEMPER_POLICY_SET: api.TEMPER_POLICY_SET,
  TEMPER_POLICY_FILE: api.TEMPER_POLICY_FILE,
  TEMPER_POLICY_DIRS: api.TEMPER_POLICY_DIRS,
  TEMPER_POLICY_MODE: api.TEMPER_POLICY_MODE,
  TEMPER_POLICY_NEW_DEFAULTS: api.TEMPER_POLICY_NEW_DEFAULTS,
  TEMPER_POLICY_SERVICE_PROJECT: api.TEMPER_POLICY_SERVICE_PROJECT,
  TEMPER_POLICY_SHADOW_FILE: api.TEMPER_POLICY_SHADOW_FILE,
  TEMPER_POLICY_REMOTE_ORIGINS: api.TEMPER_POLICY_REMOTE_ORIGINS,
  TEMPER_POLICY_REMOTE_TIMEOUT_MS: api.TEMPER_POLICY_REMOTE_TIMEOUT_MS,
  TEMPER_MAX_CONCURRENT_CLEAN: api.TEMPER_MAX_CONCURRENT_CLEAN,
  TEMPER_MAX_CONCURRENT_DEPLOY: api.TEMPER_MAX_CONCURRENT_DEPLOY,
  TEMPER_AUTOMATED_CLEAN: api.TEMPER_AUTOMATED_CLEAN,
  TEMPER_CLEANING_RUNBOOKS: api.TEMPER_CLEANING_RUNBOOKS,
  TEMPER_AUTOMATIC_LESSEE: api.TEMPER_AUTOMATIC_LESSEE,
  TEMPER_DEFAULT_RAMDISK: api.TEMPER_DEFAULT_RAMDISK,
  TEMPER_QUOTA_RUNS: httpSettings.TEMPER_QUOTA_RUNS,
  TEMPER_GATE_METRICS_URL: webUrl
    .optional()
    .describe(
      'Where gates of rollouts ask for metrics: the base of an API as Prometheus has it, below which /api/v1/query is.',
    ),
  TEMPER_USERS_FILE: api.TEMPER_USERS_FILE,
  TEMPER_ROLLOUT_PLAN_HOURS: count(1, 8_760)
    .default(168)
    .describe('After how many hours a plan that was not begun is expired: it speaks of nodes as they were.'),
  TEMPER_ROLLOUT_GRANT_HOURS: count(1, 8_760)
    .default(24)
    .describe(
      'How long a rollout begins targets after a person’s last act on it, if nothing else shows that the person still has the roles.',
    ),
};

/** The API's settings of Temper's user at Keystone. */
export const serviceUserSettings = {
  TEMPER_IDENTITY_URL: api.TEMPER_IDENTITY_URL,
  TEMPER_IDENTITY_USERNAME: api.TEMPER_IDENTITY_USERNAME,
  TEMPER_IDENTITY_PASSWORD: api.TEMPER_IDENTITY_PASSWORD,
  TEMPER_IDENTITY_PROJECT: api.TEMPER_IDENTITY_PROJECT,
  TEMPER_IDENTITY_DOMAIN: api.TEMPER_IDENTITY_DOMAIN,
  TEMPER_IDENTITY_SYSTEM: api.TEMPER_IDENTITY_SYSTEM,
};

/** The service user reads the roles of a rollout's starter. */
export const roleLookupSettings = {
  ...serviceUserSettings,
  TEMPER_TOKEN_CACHE_SECONDS: api.TEMPER_TOKEN_CACHE_SECONDS,
  TEMPER_TOKEN_OUTAGE_SECONDS: api.TEMPER_TOKEN_OUTAGE_SECONDS,
};
