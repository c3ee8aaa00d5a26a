/** Settings: every one with its meaning, read once at start, all faults reported together. */
import { z } from 'zod';
import { type Quota, quotaTable } from '../../model/access/quotas';
import { ramdiskNamePattern } from '../../model/boot/ramdisks';
import { nearest } from '../../model/nearest';
import { ConfigFault, configStatus, tellFaults } from './fault';
import {
  commaList,
  count,
  flag,
  hostPort,
  keys,
  milliseconds,
  namedTexts,
  networks as networkList,
  nonEmptyText,
  origins,
  port,
  postgresUrl,
  publicKeys,
  ramdiskListen,
  strategies,
  strategyList,
  webUrl,
} from './kinds';

/** Settings of every process. */
export const common = {
  TEMPER_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('How much is logged.'),
  TEMPER_HEALTH_PORT: port.optional().describe('Port of /healthz, /readyz and /metrics; none when unset.'),
  TEMPER_HEALTH_HOST: nonEmptyText.default('127.0.0.1').describe('Address of that port.'),
  TEMPER_SUPERVISED: z.literal('1').optional().describe('Set by the supervisor of `npm start`: end when it is gone.'),
};

const store = {
  TEMPER_DATABASE_URL: postgresUrl.describe(
    'Postgres, as this process’s own role; the owner of the database for migrate.',
  ),
  TEMPER_DATABASE_POOL: count(1)
    .default(10)
    .describe(
      'Connections to Postgres at most. In an API whose ramdisks have an address of their own (TEMPER_RAMDISK_LISTEN) a quarter of them is theirs; each has one at least.',
    ),
};

const engine = {
  TEMPER_TEMPORAL_ADDRESS: hostPort.describe(
    'Temporal’s frontend, as host:port. No default: nothing is started behind your back.',
  ),
  TEMPER_TEMPORAL_NAMESPACE: nonEmptyText.default('temper').describe('Temporal namespace.'),
  TEMPER_QUEUE_PREFIX: nonEmptyText
    .default('temper')
    .describe('First part of task queue names; differs where installations share a namespace.'),
  TEMPER_TEMPORAL_API_KEY: nonEmptyText.optional().describe('API key for Temporal; implies TLS.'),
  TEMPER_TEMPORAL_TLS: flag.default(false).describe('Whether to speak TLS to Temporal; implied by the settings below.'),
  TEMPER_TEMPORAL_TLS_CA: nonEmptyText
    .optional()
    .describe('File with the certificates (PEM) that Temporal’s must be signed by; the system’s own when unset.'),
  TEMPER_TEMPORAL_TLS_CERT: nonEmptyText
    .optional()
    .describe('File with our own certificate (PEM), by which Temporal knows us; none is shown when unset.'),
  TEMPER_TEMPORAL_TLS_KEY: nonEmptyText.optional().describe('File with its private key (PEM).'),
  TEMPER_TEMPORAL_TLS_SERVER_NAME: nonEmptyText
    .optional()
    .describe('Name that Temporal’s certificate must have; that of TEMPER_TEMPORAL_ADDRESS when unset.'),
};

const sealing = {
  TEMPER_SECRETS_PUBLIC_KEYS: publicKeys.describe(
    'Keys that secrets are sealed to: <id>:<base64 of 32 bytes> for all conductor groups, <id>@<group>:<base64> for one that has its own; separated by commas. Made by `temper secrets keys`.',
  ),
  TEMPER_DIGEST_KEYS: keys.describe(
    'Keys by which requests with an Idempotency-Key are recognised, known to API processes only: <id>:<base64 of 32 bytes>, several separated by commas; the first is used, all recognise.',
  ),
};

const opening = {
  TEMPER_SECRETS_PRIVATE_KEYS: keys.describe(
    'Private halves of TEMPER_SECRETS_PUBLIC_KEYS, for this worker’s conductor group: <id>:<base64 of 32 bytes>, several separated by commas; the present one and those before it. No other process may have them.',
  ),
  TEMPER_SECRETS_PUBLIC_KEYS: sealing.TEMPER_SECRETS_PUBLIC_KEYS.optional().describe(
    'As for the API, so that secrets of nodes that change their conductor group are sealed to the other group’s key; the public half of its own first key when unset.',
  ),
  TEMPER_SECRETS_KEYS: keys
    .optional()
    .describe(
      'Keys of releases in which one key sealed and opened, for secrets that are still sealed with it; none are left after `temper secrets reseal`.',
    ),
};

const networks = {
  TEMPER_BMC_NETWORKS: networkList.describe(
    'Networks in which BMCs may live (CIDR, comma-separated); checked when a node is written and at every connection.',
  ),
  TEMPER_AGENT_NETWORKS: networkList
    .optional()
    .describe(
      'Networks in which ramdisks may live (CIDR, comma-separated); checked at their first heartbeat and at every connection. Those of the BMCs when unset.',
    ),
};

const images = {
  TEMPER_IMAGE_ORIGINS: origins
    .default([])
    .describe(
      'Origins that images and firmware may come from, such as https://images.example.org (comma-separated); any when empty.',
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
  TEMPER_AGENT_TIMEOUT_MS: milliseconds
    .default(1_800_000)
    .describe('How long a run waits for the ramdisk to call back.'),
  TEMPER_AGENT_SILENCE_MS: milliseconds
    .default(300_000)
    .describe(
      'How long a ramdisk may send neither an answer nor a heartbeat in the middle of an act before it is looked for through the BMC. Longer than the time between two of its heartbeats.',
    ),
  TEMPER_POLL_MS: milliseconds
    .default(1_000)
    .describe('First pause between two looks at a BMC; doubles up to eightfold.'),
  TEMPER_ABORT_PATIENCE_MS: milliseconds
    .default(120_000)
    .describe('How long an abort waits for a command that has left, and then for what tidies up.'),
  TEMPER_HEARTBEAT_MS: milliseconds
    .default(20_000)
    .describe('How long a silent worker is trusted before its act is given to another.'),
  TEMPER_RETRY_MS: milliseconds
    .default(2_000)
    .describe('Pause before the second attempt of an act; doubles up to a minute.'),
};

const powerSync = {
  TEMPER_POWER_SYNC_SECONDS: count(0)
    .default(120)
    .describe('How often the power of every node of the group is looked at; 0 for never.'),
  TEMPER_POWER_SYNC_WORKERS: count(1, 100).default(8).describe('Looks at power at once, per BMC worker.'),
  TEMPER_POWER_SYNC_MAX_FAILURES: count(1)
    .default(3)
    .describe('Failed looks in a row after which a node goes to maintenance with fault `power failure`.'),
  TEMPER_FORCE_POWER_STATE: flag
    .default(false)
    .describe('Whether a node that is found in another power state than recorded is brought back, by a run.'),
};

const audit = {
  TEMPER_AUDIT_RETENTION_MONTHS: count(0, 1_200)
    .default(24)
    .describe(
      'How many whole months of the audit trail are kept beside the present one; 0 for all. Never fewer than TEMPER_AUDIT_MINIMUM_MONTHS says.',
    ),
};

const tracing = {
  TEMPER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe('OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318; no traces when unset.'),
};

const booting = {
  TEMPER_BOOT_HOST: nonEmptyText.default('127.0.0.1').describe('Address that the boot service listens on.'),
  TEMPER_BOOT_PORT: port.default(6386).describe('Its port.'),
  TEMPER_BOOT_DIR: nonEmptyText.describe(
    'Folder of boot images, which `temper ramdisk add` writes and the boot service reads. No default: it holds what machines are booted from.',
  ),
  TEMPER_BOOT_CA_FILE: nonEmptyText
    .optional()
    .describe(
      'File with the certificates (PEM) that ramdisks trust their own API by; it is put into every boot image. None when unset.',
    ),
  TEMPER_BOOT_PIECE_MS: milliseconds
    .default(30_000)
    .describe('How long a BMC may take to read 64 KiB of an image before its connection is closed.'),
  TEMPER_BOOT_CONNECTIONS_PER_ADDRESS: count(1)
    .default(256)
    .describe('Connections of one address to the boot service at most; further ones are closed.'),
};

/** How a BMC worker composes a boot from a ramdisk that is served. */
const booted = {
  TEMPER_BOOT_URL: webUrl
    .optional()
    .describe(
      'The boot service as BMCs reach it, such as http://192.0.2.1:6386; nodes cannot be booted from a ramdisk record when unset.',
    ),
  TEMPER_RAMDISK_API_URL: webUrl
    .optional()
    .describe(
      'The API as ramdisks reach it (TEMPER_RAMDISK_LISTEN), without /v1: their ipa-api-url; nodes cannot be booted from a ramdisk record when unset.',
    ),
};

const webhooks = {
  TEMPER_WEBHOOK_ORIGINS: origins
    .default([])
    .describe(
      'Origins that webhooks may be sent to, such as https://hooks.example.org (comma-separated); none when empty. Names that resolve to loopback or link-local addresses are refused all the same; such an address is allowed where it is listed itself.',
    ),
  TEMPER_WEBHOOK_KEYS: keys
    .optional()
    .describe(
      'Keys for the secrets of webhooks, as TEMPER_DIGEST_KEYS has them, but others: control workers hold these. No webhooks when unset.',
    ),
};

const quota = (name: Quota, more = '') =>
  count(0)
    .default(quotaTable[name].initially)
    .describe(
      `How many ${quotaTable[name].counts} one project may have at once; beyond it 429. 0 for any number.${more}`,
    );

const quotaSettings = {
  TEMPER_QUOTA_RUNS: quota('runs', ' Runs count for the project whose caller asked for them.'),
  TEMPER_QUOTA_STREAMS: quota('streams', ' Counted in each API process.'),
  TEMPER_QUOTA_ALLOCATIONS: quota('allocations'),
  TEMPER_QUOTA_RUNBOOKS: quota('runbooks'),
};

const served = {
  TEMPER_RAMDISK_LISTEN: ramdiskListen.describe(
    'Where the requests of ramdisks, which have no login, are served (lookup, heartbeat, continue_inspection): host:port of an address of their own, where nothing else is served, by a thread of its own; api, beside everything else; or off.',
  ),
  TEMPER_IDEMPOTENCY_HOURS: count(1, 8_760)
    .default(24)
    .describe('How long the answer to a request with an Idempotency-Key is kept for its repeats.'),
  TEMPER_RATE_LIMIT_PER_MINUTE: count(1)
    .optional()
    .describe(
      'Requests that each API process serves one caller (user and scope) in a minute, and at most one address without a known caller; any number of a known caller when unset.',
    ),
  TEMPER_ADDRESS_LIMIT_PER_MINUTE: count(0)
    .default(12_000)
    .describe(
      'Requests without a known caller that each API process serves one address in a minute, passwords and tokens that it has not seen before among them; 0 for any number. TEMPER_RATE_LIMIT_PER_MINUTE where that is less.',
    ),
  ...quotaSettings,
  TEMPER_LOCK_WAIT_MS: count(0, 30_000)
    .default(3_000)
    .describe('How long a request waits for a node that is held before it gets 409.'),
  TEMPER_TRUSTED_PROXIES: networkList
    .refine(
      (items) => !items.some((item) => item.endsWith('/0')),
      'trusts every sender, which could then claim any address',
    )
    .optional()
    .describe(
      'Networks of proxies in front of the API (CIDR, comma-separated): their X-Forwarded-For and X-Forwarded-Proto are believed, for the audit trail, limits and links. None when unset.',
    ),
  TEMPER_CORS_ORIGINS: origins
    .default([])
    .describe(
      'Origins of web pages that may read answers, such as https://console.example.org (comma-separated); none when empty.',
    ),
  TEMPER_HEADERS_TIMEOUT_MS: milliseconds
    .default(20_000)
    .describe('How long a client may take to send the headers of a request.'),
  TEMPER_REQUEST_TIMEOUT_MS: milliseconds
    .default(120_000)
    .describe('How long it may take to send all of a request; at least as long as for its headers.'),
  TEMPER_KEEP_ALIVE_TIMEOUT_MS: milliseconds
    .default(75_000)
    .describe('How long a connection is kept that asks nothing; longer than a proxy in front keeps it.'),
  TEMPER_MAX_CONNECTIONS: count(1)
    .default(10_000)
    .describe('Connections open at once at most; further ones are closed.'),
  TEMPER_DRAIN_MS: count(0, 30_000)
    .default(0)
    .describe(
      'How long connections are still taken after SIGTERM, while /readyz says 503, so that load balancers turn away first.',
    ),
};

const api = {
  TEMPER_API_HOST: nonEmptyText.default('127.0.0.1').describe('Address the API listens on.'),
  TEMPER_API_PORT: port.default(6385).describe('Port the API listens on.'),
  TEMPER_PUBLIC_ENDPOINT: webUrl.optional().describe('Base of the links in replies; the request’s host when unset.'),
  TEMPER_TEMPORAL_UI_URL: webUrl.optional().describe('Temporal’s web UI; runs then carry a link into it.'),
  TEMPER_AUTH_STRATEGY: strategyList.describe(
    `How callers prove who they are: one or several of ${strategies.join(', ')}, tried in this order. No default, so that no API is open by accident.`,
  ),
  TEMPER_NOAUTH_BEYOND_LOOPBACK: flag.default(false).describe('Allows noauth on an address that others can reach.'),
  TEMPER_IDENTITY_URL: webUrl.optional().describe('Keystone, with /v3; for the keystone strategy.'),
  TEMPER_IDENTITY_USERNAME: nonEmptyText.optional().describe('Our own user there, who validates tokens.'),
  TEMPER_IDENTITY_PASSWORD: nonEmptyText.optional().describe('Its password.'),
  TEMPER_IDENTITY_PROJECT: nonEmptyText.default('service').describe('Its project.'),
  TEMPER_IDENTITY_DOMAIN: nonEmptyText.default('Default').describe('Name of the domain of that user and project.'),
  TEMPER_IDENTITY_SYSTEM: flag
    .default(false)
    .describe('Whether it logs in for the whole system, where it is reader for instance, in place of that project.'),
  TEMPER_IDENTITY_ADMIN_PROJECTS: flag
    .default(false)
    .describe(
      'Whether to ask Keystone in which other projects an admin is admin, for rules with admin_projects; our own user must be allowed to list role assignments. What it says is believed as long as the token, TEMPER_TOKEN_CACHE_SECONDS.',
    ),
  TEMPER_IDENTITY_PUBLIC_URL: webUrl
    .optional()
    .describe('Where callers without a valid token are sent to, when they reach Keystone by another address than we.'),
  TEMPER_TOKEN_CACHE_SECONDS: count(0)
    .default(300)
    .describe('How long a validated token is trusted without asking again: revocation lags by as much. 0 for never.'),
  TEMPER_TOKEN_OUTAGE_SECONDS: count(0)
    .default(900)
    .describe('How long beyond that while Keystone does not answer, and never beyond the end of the token.'),
  TEMPER_HTPASSWD_FILE: nonEmptyText.optional().describe('bcrypt htpasswd file; for http_basic.'),
  TEMPER_USERS_FILE: nonEmptyText
    .optional()
    .describe('Roles and scope of the users of htpasswd file and token file (YAML).'),
  TEMPER_TOKENS_FILE: nonEmptyText.optional().describe('Static tokens (YAML); for static_tokens.'),
  TEMPER_POLICY_SET: z
    .enum(['temper', 'ironic', 'closed'])
    .default('temper')
    .describe('Rules in force where no file says otherwise.'),
  TEMPER_EVENT_STREAMS: count(1).default(200).describe('Event streams open at once at most, of all callers.'),
  TEMPER_POLICY_FILE: nonEmptyText.optional().describe('Policy file (YAML) whose rules replace those of the set.'),
  TEMPER_POLICY_DIRS: commaList
    .default([])
    .describe(
      'Folders (comma-separated) whose *.yaml, *.yml and *.json, sorted by name, are read after that file; later ones count.',
    ),
  TEMPER_POLICY_MODE: z
    .enum(['strict', 'compat'])
    .default('strict')
    .describe(
      'strict refuses texts that are hardly meant and never matches null; compat decides as oslo.policy does, and warns.',
    ),
  TEMPER_POLICY_NEW_DEFAULTS: flag
    .default(true)
    .describe('Set `ironic` only: false also admits what the deprecated text of a rule admits.'),
  TEMPER_POLICY_SERVICE_PROJECT: nonEmptyText
    .optional()
    .describe('Name of the project whose service users act as system members, such as service; none when unset.'),
  TEMPER_POLICY_SHADOW_FILE: nonEmptyText
    .optional()
    .describe(
      'A second policy file that is asked beside the one in force, without effect; differences are logged and counted.',
    ),
  TEMPER_POLICY_REMOTE_ORIGINS: origins
    .default([])
    .describe(
      'Origins that http: checks of a policy file may ask, such as https://pdp.example.org (comma-separated); such checks are false when empty. Every decision waits for the answer.',
    ),
  TEMPER_POLICY_REMOTE_TIMEOUT_MS: milliseconds
    .default(1_000)
    .describe('How long an http: check waits; no answer in time refuses.'),
  TEMPER_AGENT_REQUIRE_TLS: flag.default(true).describe('Whether ramdisks must be spoken to with TLS.'),
  TEMPER_HEARTBEAT_TIMEOUT_S: count(10)
    .default(300)
    .describe('Within how many seconds a ramdisk has to call back; it does so at a third to two thirds of them.'),
  TEMPER_MAX_CONCURRENT_CLEAN: count(0)
    .default(50)
    .describe('Cleanings and tear-downs at work at once; the others wait their turn. 0 for any number.'),
  TEMPER_MAX_CONCURRENT_DEPLOY: count(0)
    .default(250)
    .describe('Deployments at work at once; the others wait their turn. 0 for any number.'),
  TEMPER_AUTOMATED_CLEAN: flag
    .default(true)
    .describe('Whether nodes are cleaned before they become available, where they do not say themselves.'),
  TEMPER_CLEANING_RUNBOOKS: namedTexts
    .default({})
    .describe(
      'Runbooks of the system for automated cleaning, as <resource class>=<runbook>, comma-separated; * for all other classes. Found once, at the start. The node’s own list where none is named.',
    ),
  TEMPER_AUTOMATIC_LESSEE: z
    .enum(['instance', 'request', 'off'])
    .default('instance')
    .describe(
      'Who becomes lessee of a node deployed without one: the project of its instance_info, the caller’s, or none.',
    ),
  TEMPER_OPERATOR_TRAIT_PREFIX: z
    .string()
    .regex(/^(CUSTOM_[A-Z0-9_]+)?$/, 'must begin with CUSTOM_, followed by capitals, digits and underscores')
    .default('')
    .describe(
      'Traits that begin so, such as CUSTOM_APPROVED_, are given to nodes and runbooks by members of the system only; none when unset.',
    ),
  TEMPER_DEFAULT_RAMDISK: z
    .string()
    .regex(ramdiskNamePattern, 'must be the name of a ramdisk')
    .optional()
    .describe(
      'Ramdisk record that nodes are booted from whose driver_info names no image; none when unset: such nodes are refused.',
    ),
  TEMPER_PROJECTS_MAY_ENROL: flag.default(false).describe('Whether a project’s admins may enrol nodes of their own.'),
};

const worker = {
  TEMPER_WORKER_HOSTNAME: nonEmptyText
    .optional()
    .describe('Name of this worker, as conductors show it; the host’s name when unset.'),
  TEMPER_FAKE_DELAY_MS: count(0)
    .default(0)
    .describe('How long an act of fake-hardware pretends to take, in milliseconds, where a node does not say itself.'),
  TEMPER_CONDUCTOR_GROUP: z
    .string()
    .default('')
    .describe('Conductor group a BMC worker serves; empty is the default group.'),
  TEMPER_SDK_METRICS_ADDRESS: hostPort
    .optional()
    .describe(
      'Where the engine’s own metrics can be fetched, as host:port; nowhere when unset. Each worker of a host needs one of its own.',
    ),
  TEMPER_BUILD_ID: nonEmptyText
    .optional()
    .describe(
      'Version of this control worker in Temporal’s worker deployment; runs under way go on with the version that is current. No versioning when unset.',
    ),
  TEMPER_WORKFLOW_CACHE: count(2)
    .default(1_500)
    .describe(
      'Runs that a control worker keeps in memory, a quarter of a MiB each; others are replayed from their history when something happens to them.',
    ),
  TEMPER_WORKFLOW_BUNDLE: nonEmptyText.optional().describe('Built workflow bundle; bundled at start when unset.'),
};

const migrate = {
  TEMPER_API_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_api log in with this password.'),
  TEMPER_CONTROL_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_control log in with this password.'),
  TEMPER_BMC_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_bmc log in with this password.'),
  TEMPER_BOOT_DB_PASSWORD: nonEmptyText.optional().describe('Lets role temper_boot log in with this password.'),
  TEMPER_AUDIT_MINIMUM_MONTHS: count(0, 1_200)
    .optional()
    .describe(
      'How many whole months of the audit trail are kept at least; stored in the database, where no other role changes it. 0 for all; left as it is when unset, 24 at first.',
    ),
  TEMPER_TEMPORAL_ADDRESS: engine.TEMPER_TEMPORAL_ADDRESS.optional().describe(
    'When set, search attributes are registered there.',
  ),
  TEMPER_TEMPORAL_NAMESPACE: engine.TEMPER_TEMPORAL_NAMESPACE,
  TEMPER_TEMPORAL_API_KEY: engine.TEMPER_TEMPORAL_API_KEY,
  TEMPER_TEMPORAL_TLS: engine.TEMPER_TEMPORAL_TLS,
  TEMPER_TEMPORAL_TLS_CA: engine.TEMPER_TEMPORAL_TLS_CA,
  TEMPER_TEMPORAL_TLS_CERT: engine.TEMPER_TEMPORAL_TLS_CERT,
  TEMPER_TEMPORAL_TLS_KEY: engine.TEMPER_TEMPORAL_TLS_KEY,
  TEMPER_TEMPORAL_TLS_SERVER_NAME: engine.TEMPER_TEMPORAL_TLS_SERVER_NAME,
};

/** Which settings each process reads; walked by the README's generator too. */
export const processes = {
  api: z.object({
    ...common,
    ...store,
    ...engine,
    ...sealing,
    ...networks,
    ...images,
    ...timing,
    ...tracing,
    ...webhooks,
    ...served,
    ...api,
  }),
  control: z.object({ ...common, ...store, ...engine, ...tracing, ...webhooks, ...audit, ...worker }),
  bmc: z.object({
    ...common,
    ...store,
    ...engine,
    ...opening,
    ...networks,
    ...images,
    ...timing,
    ...tracing,
    ...booted,
    ...worker,
    ...powerSync,
  }),
  boot: z.object({
    ...common,
    ...store,
    ...booting,
    TEMPER_HEADERS_TIMEOUT_MS: served.TEMPER_HEADERS_TIMEOUT_MS,
    TEMPER_KEEP_ALIVE_TIMEOUT_MS: served.TEMPER_KEEP_ALIVE_TIMEOUT_MS,
    TEMPER_MAX_CONNECTIONS: served.TEMPER_MAX_CONNECTIONS,
  }),
  migrate: z.object({ ...common, ...store, ...migrate }),
} as const;

export type ApiConfig = z.infer<typeof processes.api>;
export type ControlConfig = z.infer<typeof processes.control>;
export type BmcConfig = z.infer<typeof processes.bmc>;
export type BootConfig = z.infer<typeof processes.boot>;

// The schema's own words for a value that is none of several.
const sentence = (message: string): string =>
  message.startsWith('Invalid option: expected one of ')
    ? `must be one of ${[...message.matchAll(/"([^"]*)"/g)].map((found) => found[1]).join(', ')}`
    : message;

/** Names that no schema of a process has, and that are meant for others: the command, set-up, compose. */
const elsewhere: readonly string[] = [
  'TEMPER_URL', 'TEMPER_TOKEN', 'TEMPER_USERNAME', 'TEMPER_PASSWORD', 'TEMPER_VERSION', 'TEMPER_DATA_DIR', 'TEMPER_SYSTEM_FILE',
  'TEMPER_API_PUBLISH', 'TEMPER_API_PUBLIC_URL', 'TEMPER_DB_OWNER_PASSWORD', 'TEMPER_FILES_DIR', 'TEMPER_PYTHON',
  'TEMPER_CONDUCTOR_GROUPS', 'TEMPER_IDENTITY_PORT', 'TEMPER_TEMPORAL_PORT', 'TEMPER_TEMPORAL_UI_PORT', 'TEMPER_TEMPORAL_SOURCES',
  'TEMPER_POSTGRES_OS_USER', 'TEMPER_MUTATION_TESTS',
]; // biome-ignore format: one row of names

// All names begin so, which would make any two of them near.
const prefix = 'TEMPER_';

// Of programs that only development and tests start; each has a schema of its own.
const others = /^TEMPER_(RACK|DEMO|TEST)_/;

/**
 * Settings that no process has and that are near the name of one: what they were to set would be left at its default in
 * silence. Names that are near none are left alone; schedulers of containers put names of their own into the environment.
 */
const misspelledIn = (given: Readonly<Record<string, unknown>>, schema: z.ZodObject): string[] => {
  const known = [
    ...Object.values(processes).flatMap(({ shape }) => Object.keys(shape)),
    ...elsewhere,
    ...Object.keys(schema.shape),
  ];
  return Object.keys(given)
    .filter((name) => !known.includes(name) && !others.test(name))
    .flatMap((name) => {
      const near = nearest(
        name.slice(prefix.length),
        known.map((one) => one.slice(prefix.length)),
      );
      return near === undefined ? [] : [`${name} is no setting. Did you mean ${prefix}${near}?`];
    });
};

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
  const misspelled = misspelledIn(given, schema);
  if (read.success && misspelled.length === 0) return read.data;
  const shape: Readonly<Record<string, z.ZodType>> = schema.shape;
  const faults = (read.error?.issues ?? []).map(({ path, message }) => {
    const key = String(path[0]);
    return `${key} ${given[key] === undefined ? 'is not set' : sentence(message)}. ${shape[key]?.description ?? ''}`.trimEnd();
  });
  throw new ConfigFault([...new Set(faults), ...misspelled]);
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
