/** Process settings in the environment of the `temper` command. */
import type { z } from 'zod';
import { processes } from './config';
import { openstack } from './openstack';
import { parseSettings } from './read';
import { roleLookupSettings } from './rollouts';

const schema = processes.api
  .pick({
    TEMPER_DATABASE_URL: true,
    TEMPER_TEMPORAL_ADDRESS: true,
    TEMPER_TEMPORAL_NAMESPACE: true,
    TEMPER_TEMPORAL_API_KEY: true,
    TEMPER_TEMPORAL_TLS: true,
    TEMPER_TEMPORAL_TLS_CA: true,
    TEMPER_TEMPORAL_TLS_CERT: true,
    TEMPER_TEMPORAL_TLS_KEY: true,
    TEMPER_TEMPORAL_TLS_SERVER_NAME: true,
    TEMPER_QUEUE_PREFIX: true,
    TEMPER_POLICY_SET: true,
    TEMPER_POLICY_FILE: true,
    TEMPER_POLICY_DIRS: true,
    TEMPER_POLICY_MODE: true,
    TEMPER_CLEANING_RUNBOOKS: true,
    TEMPER_OIDC_FILE: true,
  })
  .extend(processes.control.pick({ TEMPER_WORKFLOW_BUNDLE: true }).shape)
  .extend(roleLookupSettings)
  .extend(openstack)
  .partial({ TEMPER_DATABASE_URL: true, TEMPER_TEMPORAL_ADDRESS: true });

export type LookedAt = z.infer<typeof schema>;

/** Throws ConfigFault. */
export const lookedAt = (env: NodeJS.ProcessEnv): LookedAt => parseSettings(schema, env) as LookedAt;
