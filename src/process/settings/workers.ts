/** Settings of the workers: power sync, retention and names. */
import { z } from 'zod';
import { httpSettings } from './http';
import { count, flag, hostPort, nonEmptyText, port, webUrl } from './kinds';

export const powerSync = {
  TEMPER_POWER_SYNC_SECONDS: count(0)
    .default(120)
    .describe('How often the power of every node of the group is looked at; 0 for never.'),
  TEMPER_POWER_SYNC_WORKERS: count(1, 10_000)
    .default(500)
    .describe('The most looks at power at once, per BMC worker; as many are under way as are due and last.'),
  TEMPER_POWER_SYNC_MAX_FAILURES: count(1)
    .default(3)
    .describe('Failed looks in a row after which a node goes to maintenance with fault `power failure`.'),
  TEMPER_FORCE_POWER_STATE: flag
    .default(false)
    .describe('Whether a node that is found in another power state than recorded is brought back, by a run.'),
};

export const audit = {
  TEMPER_AUDIT_RETENTION_MONTHS: count(0, 1_200)
    .default(24)
    .describe(
      'How many whole months of the audit trail are kept beside the present one; 0 for all. Never fewer than TEMPER_AUDIT_MINIMUM_MONTHS says.',
    ),
};

export const history = {
  TEMPER_HISTORY_RETENTION_MONTHS: count(0, 1_200)
    .default(24)
    .describe(
      'Whole months of events (the history of nodes) and ended runs that are kept beside the present one; 0 for all, else 2 at least.',
    ),
  TEMPER_WEBHOOK_LOG_DAYS: count(1, 3_650)
    .default(7)
    .describe(
      'For how many days deliveries of webhooks are kept after they ended, with what came of them. Those that are still to be made stay, however old.',
    ),
};

export const worker = {
  TEMPER_WORKER_HOSTNAME: nonEmptyText
    .optional()
    .describe('Name of this worker, as conductors show it; the host’s name when unset.'),
  TEMPER_FAKE_DELAY_MS: count(0)
    .default(0)
    .describe('How long an act of fake-hardware pretends to take, in milliseconds, unless a node says so itself.'),
  TEMPER_CONDUCTOR_GROUP: z
    .string()
    .default('')
    .describe('Conductor group a BMC worker serves; empty is the default group.'),
  TEMPER_SDK_METRICS_ADDRESS: hostPort
    .optional()
    .describe(
      'Address of the metrics of Temporal’s SDK, as host:port; nowhere when unset. Each worker of a host needs another port.',
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

export const serialConsole = {
  TEMPER_SERIAL_CONSOLE_PUBLIC_URL: webUrl
    .optional()
    .describe(
      'Where readers of serial lines reach this BMC worker, such as https://console-1.example.org; no line is read when unset. A port without TLS belongs behind a proxy that has it and passes upgrades on.',
    ),
  TEMPER_SERIAL_CONSOLE_HOST: nonEmptyText.default('127.0.0.1').describe('Address that its listener is at.'),
  TEMPER_SERIAL_CONSOLE_PORT: port.default(6389).describe('Its port.'),
  TEMPER_HEADERS_TIMEOUT_MS: httpSettings.TEMPER_HEADERS_TIMEOUT_MS,
  TEMPER_KEEP_ALIVE_TIMEOUT_MS: httpSettings.TEMPER_KEEP_ALIVE_TIMEOUT_MS,
  TEMPER_MAX_CONNECTIONS: httpSettings.TEMPER_MAX_CONNECTIONS,
  TEMPER_CONNECTIONS_PER_ADDRESS: httpSettings.TEMPER_CONNECTIONS_PER_ADDRESS,
  TEMPER_TRUSTED_PROXIES: httpSettings.TEMPER_TRUSTED_PROXIES,
};
