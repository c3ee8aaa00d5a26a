/** Settings: every one with its meaning, read once at start, all faults reported together. */
import { z } from 'zod';
import { ConfigFault, configStatus, tellFaults } from './fault';
import {
  count,
  flag,
  hostPort,
  keys,
  milliseconds,
  networks as networkList,
  port,
  postgresUrl,
  strategies,
  strategyList,
  text,
  webUrl,
} from './kinds';

/** Settings of every process. */
export const common = {
  TEMPER_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('How much is logged.'),
  TEMPER_HEALTH_PORT: port.optional().describe('Port of /healthz, /readyz and /metrics; none when unset.'),
  TEMPER_HEALTH_HOST: text.default('127.0.0.1').describe('Address of that port.'),
  TEMPER_SUPERVISED: z.literal('1').optional().describe('Set by the supervisor of `npm start`: end when it is gone.'),
};

const store = {
  TEMPER_DATABASE_URL: postgresUrl.describe(
    'Postgres, as this process’s own role; the owner of the database for migrate.',
  ),
  TEMPER_DATABASE_POOL: count(1).default(10).describe('Connections to Postgres at most.'),
};

const engine = {
  TEMPER_TEMPORAL_ADDRESS: hostPort.describe(
    'Temporal’s frontend, as host:port. No default: nothing is started behind your back.',
  ),
  TEMPER_TEMPORAL_NAMESPACE: text.default('temper').describe('Temporal namespace.'),
  TEMPER_QUEUE_PREFIX: text
    .default('temper')
    .describe('First part of task queue names; differs where installations share a namespace.'),
  TEMPER_TEMPORAL_API_KEY: text.optional().describe('API key for Temporal; implies TLS.'),
  TEMPER_TEMPORAL_TLS: flag.default(false).describe('Whether to speak TLS to Temporal.'),
};

const sealing = {
  TEMPER_SECRETS_KEYS: keys.describe(
    'Keys for secrets: <id>:<base64 of 32 bytes>, several separated by commas; the first seals, all open.',
  ),
};

const networks = {
  TEMPER_BMC_NETWORKS: networkList.describe(
    'Networks in which BMCs may live (CIDR, comma-separated); checked when a node is written and at every connection.',
  ),
};

const timing = {
  TEMPER_POWER_TIMEOUT_MS: milliseconds.default(120_000).describe('How long a node may take to reach a power state.'),
  TEMPER_SOFT_POWER_TIMEOUT_MS: milliseconds
    .default(600_000)
    .describe('How long a system may take to shut itself down.'),
  TEMPER_SETTLE_MS: milliseconds
    .default(30_000)
    .describe('How long a sent command counts as under way before it may be sent again.'),
  TEMPER_POLL_MS: milliseconds
    .default(1_000)
    .describe('First pause between two looks at a BMC; doubles up to eightfold.'),
  TEMPER_HEARTBEAT_MS: milliseconds
    .default(20_000)
    .describe('How long a silent worker is trusted before its act is given to another.'),
  TEMPER_RETRY_MS: milliseconds
    .default(2_000)
    .describe('Pause before the second attempt of an act; doubles up to a minute.'),
};

const api = {
  TEMPER_API_HOST: text.default('127.0.0.1').describe('Address the API listens on.'),
  TEMPER_API_PORT: port.default(6385).describe('Port the API listens on.'),
  TEMPER_PUBLIC_ENDPOINT: webUrl.optional().describe('Base of the links in replies; the request’s host when unset.'),
  TEMPER_TEMPORAL_UI_URL: webUrl.optional().describe('Temporal’s web UI; runs then carry a link into it.'),
  TEMPER_AUTH_STRATEGY: strategyList.describe(
    `How callers prove who they are: one or several of ${strategies.join(', ')}, tried in this order. No default: nobody is open by accident.`,
  ),
  TEMPER_NOAUTH_BEYOND_LOOPBACK: flag.default(false).describe('Allows noauth on an address that others can reach.'),
  TEMPER_IDENTITY_URL: webUrl.optional().describe('Keystone, with /v3; for the keystone strategy.'),
  TEMPER_IDENTITY_USERNAME: text.optional().describe('Our own user there, who validates tokens.'),
  TEMPER_IDENTITY_PASSWORD: text.optional().describe('Its password.'),
  TEMPER_IDENTITY_PROJECT: text.default('service').describe('Its project.'),
  TEMPER_IDENTITY_DOMAIN: text.default('Default').describe('Domain of that user and project.'),
  TEMPER_TOKEN_CACHE_SECONDS: count(0)
    .default(300)
    .describe('How long a validated token is trusted without asking again.'),
  TEMPER_HTPASSWD_FILE: text.optional().describe('bcrypt htpasswd file; for http_basic.'),
  TEMPER_USERS_FILE: text.optional().describe('Roles and scope of the users of htpasswd file and token file (YAML).'),
  TEMPER_TOKENS_FILE: text.optional().describe('Static tokens (YAML); for static_tokens.'),
  TEMPER_POLICY_SET: z
    .enum(['temper', 'ironic', 'closed'])
    .default('temper')
    .describe('Rules in force where no file says otherwise.'),
  TEMPER_POLICY_FILE: text.optional().describe('Policy file (YAML) whose rules replace those of the set.'),
  TEMPER_PROJECTS_MAY_ENROL: flag.default(false).describe('Whether a project’s admins may enrol nodes of their own.'),
};

const worker = {
  TEMPER_WORKER_HOSTNAME: text
    .optional()
    .describe('Name of this worker, as conductors show it; the host’s name when unset.'),
  TEMPER_CONDUCTOR_GROUP: z
    .string()
    .default('')
    .describe('Conductor group a BMC worker serves; empty is the default group.'),
  TEMPER_WORKFLOW_BUNDLE: text.optional().describe('Built workflow bundle; bundled at start when unset.'),
};

const migrate = {
  TEMPER_API_DB_PASSWORD: text.optional().describe('Lets role temper_api log in with this password.'),
  TEMPER_CONTROL_DB_PASSWORD: text.optional().describe('Lets role temper_control log in with this password.'),
  TEMPER_BMC_DB_PASSWORD: text.optional().describe('Lets role temper_bmc log in with this password.'),
  TEMPER_TEMPORAL_ADDRESS: engine.TEMPER_TEMPORAL_ADDRESS.optional().describe(
    'When set, search attributes are registered there.',
  ),
  TEMPER_TEMPORAL_NAMESPACE: engine.TEMPER_TEMPORAL_NAMESPACE,
  TEMPER_TEMPORAL_API_KEY: engine.TEMPER_TEMPORAL_API_KEY,
  TEMPER_TEMPORAL_TLS: engine.TEMPER_TEMPORAL_TLS,
};

/** Which settings each process reads; walked by the README's generator too. */
export const processes = {
  api: z.object({ ...common, ...store, ...engine, ...sealing, ...networks, ...timing, ...api }),
  control: z.object({ ...common, ...store, ...engine, ...worker }),
  bmc: z.object({ ...common, ...store, ...engine, ...sealing, ...networks, ...worker }),
  migrate: z.object({ ...common, ...store, ...migrate }),
} as const;

export type ApiConfig = z.infer<typeof processes.api>;
export type ControlConfig = z.infer<typeof processes.control>;
export type BmcConfig = z.infer<typeof processes.bmc>;

/**
 * The settings as a schema wants them.
 * @throws ConfigFault naming every setting that is missing or wrong; values that may be secret are not repeated
 */
export const parseSettings = <Schema extends z.ZodObject>(schema: Schema, env: NodeJS.ProcessEnv): z.infer<Schema> => {
  // An empty variable means the same as none, as it does in compose files.
  const given = Object.fromEntries(
    Object.entries(env).filter(
      ([key, value]) => key.startsWith('TEMPER_') && (value !== '' || key === 'TEMPER_CONDUCTOR_GROUP'),
    ),
  );
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  const faults = read.error.issues.map(({ path, message }) => {
    const key = String(path[0]);
    return `${key} ${given[key] === undefined ? 'is not set' : message}. ${shape[key]?.description ?? ''}`.trimEnd();
  });
  throw new ConfigFault([...new Set(faults)]);
};

/** The settings of a process; without them it says everything that is wrong and ends with status 78. */
export const settingsOrEnd = <Schema extends z.ZodObject>(process_name: string, schema: Schema): z.infer<Schema> => {
  try {
    return parseSettings(schema, process.env);
  } catch (thrown) {
    if (!(thrown instanceof ConfigFault)) throw thrown;
    tellFaults(process_name, thrown);
    return process.exit(configStatus);
  }
};

/** Reads the settings of one process of the product, or ends as `settingsOrEnd` does. */
export const readConfig = <Name extends keyof typeof processes>(name: Name): z.infer<(typeof processes)[Name]> =>
  settingsOrEnd(name, processes[name] as z.ZodObject) as z.infer<(typeof processes)[Name]>;
