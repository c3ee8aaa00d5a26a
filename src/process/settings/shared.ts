/** Settings that several processes share. */
import { z } from 'zod';
import {
  count,
  flag,
  hostPort,
  keys,
  networks as networkList,
  nonEmptyText,
  origins,
  port,
  postgresUrl,
  publicKeys,
  webUrl,
} from './kinds';

export const common = {
  TEMPER_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info')
    .describe('How much is logged.'),
  TEMPER_HEALTH_PORT: port.optional().describe('Port of /healthz, /readyz and /metrics; none when unset.'),
  TEMPER_HEALTH_HOST: nonEmptyText.default('127.0.0.1').describe('Address of that port.'),
  TEMPER_SUPERVISED: z.literal('1').optional().describe('Set by the supervisor of `npm start`: end when it is gone.'),
};

export const store = {
  TEMPER_DATABASE_URL: postgresUrl.describe(
    'PostgreSQL, as this process’s own role; the owner of the database for migrate.',
  ),
  TEMPER_DATABASE_POOL: count(1).default(10).describe('Connections of this process to PostgreSQL at most.'),
};

export const engine = {
  TEMPER_TEMPORAL_ADDRESS: hostPort.describe(
    'Temporal’s frontend, as host:port. No default: nothing is started behind your back.',
  ),
  TEMPER_TEMPORAL_NAMESPACE: nonEmptyText.default('temper').describe('Temporal namespace.'),
  TEMPER_QUEUE_PREFIX: nonEmptyText
    .default('temper')
    .describe('First part of task queue names; differs if installations share a namespace.'),
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

export const sealing = {
  TEMPER_SECRETS_PUBLIC_KEYS: publicKeys.describe(
    'Keys that secrets are sealed to: <id>:<base64 of 32 bytes> for all conductor groups, <id>@<group>:<base64> for one that has its own; separated by commas. Made by `temper secrets keys`.',
  ),
  TEMPER_DIGEST_KEYS: keys.describe(
    'Keys by which requests with an Idempotency-Key are recognised, known to API processes only: <id>:<base64 of 32 bytes>, several separated by commas; the first is used, all recognise.',
  ),
};

export const opening = {
  TEMPER_SECRETS_PRIVATE_KEYS: keys.describe(
    'Private halves of TEMPER_SECRETS_PUBLIC_KEYS, for this worker’s conductor group: <id>:<base64 of 32 bytes>, several separated by commas; the present one and those before it. No other process may have them.',
  ),
  TEMPER_SECRETS_PUBLIC_KEYS: sealing.TEMPER_SECRETS_PUBLIC_KEYS.optional().describe(
    'As for the API. Secrets of nodes that change their conductor group are sealed to the other group’s key. The public half of this worker’s first key when unset.',
  ),
};

export const networks = {
  TEMPER_BMC_NETWORKS: networkList.describe(
    'Networks in which BMCs may live (CIDR, comma-separated); checked when a node is written and at every connection.',
  ),
  TEMPER_AGENT_NETWORKS: networkList
    .optional()
    .describe(
      'Networks in which ramdisks may live (CIDR, comma-separated); checked at their first heartbeat and at every connection. Those of the BMCs when unset.',
    ),
};

export const images = {
  TEMPER_IMAGE_ORIGINS: origins
    .default([])
    .describe(
      'Origins that images and firmware may come from, such as https://images.example.org (comma-separated); any when empty.',
    ),
};

export const tracing = {
  TEMPER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe('OpenTelemetry collector (OTLP over HTTP), such as http://localhost:4318; no traces when unset.'),
};

export const webhooks = {
  TEMPER_WEBHOOK_ORIGINS: origins
    .default([])
    .describe(
      'Origins that webhooks may be sent to, such as https://hooks.example.org (comma-separated); none when empty. Names that resolve to loopback or link-local addresses are refused all the same; such an address is allowed if it is listed itself.',
    ),
  TEMPER_WEBHOOK_KEYS: keys
    .optional()
    .describe(
      'Keys for the secrets of webhooks, as TEMPER_DIGEST_KEYS has them, but others: control workers hold these. No webhooks when unset.',
    ),
};
