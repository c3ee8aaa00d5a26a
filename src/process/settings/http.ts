/** Settings of the API's HTTP server: limits, quotas, proxies, connections. */
import { type Quota, quotaTable } from '../../model/access/quotas';
import { count, milliseconds, networks as networkList, origins, ramdiskListen } from './kinds';

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
  TEMPER_QUOTA_RUNBOOK_REVISIONS: quota(
    'runbook_revisions',
    ' Revisions of deleted runbooks count too, each as 4 KiB at least.',
  ),
  TEMPER_QUOTA_ROLLOUTS: quota('rollouts'),
  TEMPER_QUOTA_ROLLOUT_PLANS: quota('rollout_plans', ' A plan ends after TEMPER_ROLLOUT_PLAN_HOURS.'),
};

export const httpSettings = {
  TEMPER_RAMDISK_LISTEN: ramdiskListen.describe(
    'Address at which requests of ramdisks, which have no login, are served (lookup, heartbeat, continue_inspection). One of: host:port, at which the process `api ramdisks` serves nothing else; api, the address of the API; off.',
  ),
  TEMPER_ROLLOUT_APPROVERS: count(1, 2)
    .default(1)
    .describe(
      'How many users must approve the plan of a rollout whose caller may not start it alone; a user counts once. A plan keeps the number, and a start takes this one if it is more.',
    ),
  TEMPER_ROLLOUT_APPROVAL_HOURS: count(1, 720).default(24).describe('How long an approval of a rollout counts.'),
  TEMPER_IDEMPOTENCY_HOURS: count(1, 8_760)
    .default(24)
    .describe('How long the answer to a request with an Idempotency-Key is kept for its repeats.'),
  TEMPER_RATE_LIMIT_PER_MINUTE: count(1)
    .optional()
    .describe(
      'Requests that each API process serves one caller (user and scope) in a minute; also an upper bound for one address without a known caller. Any number of a known caller when unset.',
    ),
  TEMPER_ADDRESS_LIMIT_PER_MINUTE: count(0)
    .default(12_000)
    .describe(
      'Requests without a known caller that each API process serves one address in a minute; 0 for any number. New passwords and tokens count too. TEMPER_RATE_LIMIT_PER_MINUTE if that is less.',
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
      'Networks of proxies in front (CIDR, comma-separated). Their X-Forwarded-For and X-Forwarded-Proto are believed, for the audit trail, limits and links. TEMPER_CONNECTIONS_PER_ADDRESS does not bind them. None when unset.',
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
  TEMPER_CONNECTIONS_PER_ADDRESS: count(1)
    .default(1_000)
    .describe(
      'Connections of one address (of IPv6: of one network of 56 bits) at most; further ones are closed. TEMPER_TRUSTED_PROXIES are excepted.',
    ),
  TEMPER_DRAIN_MS: count(0, 30_000)
    .default(0)
    .describe(
      'How long connections are still taken after SIGTERM, while /readyz says 503, so that load balancers turn away first.',
    ),
};
