/** The table of settings against what installations are made from: each is offered to operators, decided there, or left out for a reason. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { processes } from '../../src/process/settings/config';

const root = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

type ProcessName = keyof typeof processes;
const names = Object.keys(processes) as ProcessName[];
const settingsOf = (name: ProcessName): string[] => Object.keys(processes[name].shape);
const every = [...new Set(names.flatMap(settingsOf))];

const offeredIn = (file: string): string[] =>
  [...read(`deploy/env/${file}.env.example`).matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name!);

const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { readonly environment?: Readonly<Record<string, string>> }>;
};
const serviceOf: Readonly<Record<ProcessName, string>> = {
  migrate: 'migrate',
  api: 'api',
  control: 'worker-control',
  bmc: 'worker-bmc',
  boot: 'boot',
  console: 'console',
  notifications: 'notifications',
};

/** Not for this: settings that no example offers, by why. A name with a process in front is left out for that process alone. */
const notOffered: Readonly<Record<string, readonly string[]>> = {
  'for npm start, demos and tests': [
    'TEMPER_SUPERVISED',
    'TEMPER_CONSOLE_DEMO',
    'TEMPER_FAKE_DELAY_MS',
    'TEMPER_NOAUTH_BEYOND_LOOPBACK',
  ],
  'the port is what compose, the chart and the units publish': [
    'TEMPER_API_PORT',
    'TEMPER_API_REUSE_PORT',
    'TEMPER_BOOT_PORT',
    'TEMPER_CONSOLE_PORT',
  ],
  'rhythms of the engine and bounds of patience, right for every site until a developer measures otherwise': [
    'TEMPER_SETTLE_MS',
    'TEMPER_POLL_MS',
    'TEMPER_ABORT_TIMEOUT_MS',
    'TEMPER_HEARTBEAT_MS',
    'TEMPER_RETRY_MS',
    'TEMPER_LOCK_WAIT_MS',
    'TEMPER_HEADERS_TIMEOUT_MS',
    'TEMPER_REQUEST_TIMEOUT_MS',
    'TEMPER_BOOT_PIECE_MS',
  ],
  'migrate ends by itself: it has no health to ask for': ['migrate TEMPER_HEALTH_PORT', 'migrate TEMPER_HEALTH_HOST'],
  'read by the other kind of worker only': [
    'control TEMPER_CONDUCTOR_GROUP',
    'control TEMPER_WORKER_HOSTNAME',
    'bmc TEMPER_BUILD_ID',
    'bmc TEMPER_WORKFLOW_CACHE',
    'bmc TEMPER_WORKFLOW_BUNDLE',
  ],
};
const leftOut = new Set(Object.values(notOffered).flat());

test.each(names)(
  'each setting of %s is offered by an example, decided by the compose file, or left out for a reason',
  (name) => {
    const decided = Object.keys(services[serviceOf[name]]!.environment ?? {});
    const known = new Set([...offeredIn('shared'), ...offeredIn(name), ...decided]);
    const forgotten = settingsOf(name).filter(
      (setting) => !known.has(setting) && !leftOut.has(setting) && !leftOut.has(`${name} ${setting}`),
    );
    expect(forgotten).toEqual([]);
  },
);

test('what is left out is a setting that no example offers', () => {
  for (const one of leftOut) {
    const [setting, name] = one.split(' ').reverse() as [string, ProcessName?];
    const readers = name === undefined ? names : [name];
    expect([one, readers.some((reader) => settingsOf(reader).includes(setting))]).toEqual([one, true]);
    const files = readers.length === 1 ? readers : ['shared', ...readers];
    expect([one, files.filter((file) => offeredIn(file).includes(setting))]).toEqual([one, []]);
  }
});

const chart = (folder: string): string =>
  readdirSync(join(root, folder))
    .map((file) => read(`${folder}/${file}`))
    .join('\n');

/** Settings that name what a cluster has to open, mount or let through, and the value of the chart that does; each of the others stands in a secret alone. */
const openedBy: Readonly<Record<string, string>> = {
  TEMPER_HEALTH_HOST: 'networkPolicy.metrics',
  TEMPER_HEALTH_PORT: 'networkPolicy.metrics',
  TEMPER_SDK_METRICS_ADDRESS: 'engineMetrics.enabled',
  TEMPER_DATABASE_URL: 'networkPolicy.postgres',
  TEMPER_TEMPORAL_ADDRESS: 'networkPolicy.temporal',
  TEMPER_IDENTITY_URL: 'networkPolicy.identity',
  TEMPER_BMC_NETWORKS: 'networkPolicy.bmcs',
  TEMPER_AGENT_NETWORKS: 'networkPolicy.bmcs',
  TEMPER_IMAGE_ORIGINS: 'networkPolicy.images',
  TEMPER_OTLP_ENDPOINT: 'networkPolicy.traces',
  TEMPER_WEBHOOK_ORIGINS: 'networkPolicy.hooks',
  TEMPER_GATE_METRICS_URL: 'networkPolicy.hooks',
  TEMPER_NOVA_URL: 'networkPolicy.hooks',
  TEMPER_NOTIFICATIONS_URL: 'networkPolicy.rabbit',
  TEMPER_GLANCE_URL: 'networkPolicy.glance',
  TEMPER_POLICY_REMOTE_ORIGINS: 'networkPolicy.policies',
  TEMPER_RAMDISK_LISTEN: 'api.ramdisks',
  TEMPER_API_HOST: 'api.service',
  TEMPER_API_PORT: 'api.service',
  TEMPER_BOOT_HOST: 'boot.service',
  TEMPER_BOOT_PORT: 'boot.service',
  TEMPER_BOOT_DIR: 'boot.volume',
  TEMPER_BOOT_RAMDISK_API_URL: 'boot.passesOn',
  TEMPER_CONSOLE_HOST: 'console.service',
  TEMPER_CONSOLE_PORT: 'console.service',
  TEMPER_CONSOLE_API_URL: 'api.service',
  TEMPER_SERIAL_CONSOLE_PUBLIC_URL: 'bmc.groups',
  TEMPER_SERIAL_CONSOLE_HOST: 'bmc.groups',
  TEMPER_SERIAL_CONSOLE_PORT: 'bmc.groups',
};
/** Addresses and files that are told to others, or read from the files of the secret; and what the chart does not do. */
const nothingToOpen: Readonly<Record<string, readonly string[]>> = {
  'an address that others are told': [
    'TEMPER_TEMPORAL_UI_URL',
    'TEMPER_NOTIFICATIONS_HOST',
    'TEMPER_IDENTITY_PUBLIC_URL',
    'TEMPER_BOOT_URL',
    'TEMPER_BOOT_IMAGES_URL',
    'TEMPER_RAMDISK_API_URL',
    'TEMPER_CONSOLE_URL',
    'TEMPER_PUBLIC_ENDPOINT',
  ],
  'a bound or a list of the process itself': ['TEMPER_CORS_ORIGINS'],
  'for units of one host: a pod has its port to itself': ['TEMPER_API_REUSE_PORT'],
  'below /etc/temper, of settings.files': [
    'TEMPER_TEMPORAL_TLS_CA',
    'TEMPER_NOTIFICATIONS_CA_FILE',
    'TEMPER_POLICY_DIRS',
    'TEMPER_HTPASSWD_FILE',
    'TEMPER_USERS_FILE',
    'TEMPER_OIDC_FILE',
    'TEMPER_TOKENS_FILE',
    'TEMPER_POLICY_FILE',
    'TEMPER_POLICY_SHADOW_FILE',
    'TEMPER_BOOT_CA_FILE',
  ],
  'DHCP needs the network of a host, which no pod has: dnsmasq and a boot service beside it run on one': [
    'TEMPER_BOOT_DHCP_DIR',
  ],
};
const outward = /_(URL|ORIGINS|ENDPOINT|(?<!PER_)ADDRESS|HOST|PORT|LISTEN|NETWORKS|DIRS?|FILE|CA)$/;

test('each setting that names an address, a port or a folder has its value in the chart, or nothing to open', () => {
  const told = [...Object.keys(openedBy), ...Object.values(nothingToOpen).flat()];
  expect(told.toSorted()).toEqual(every.filter((setting) => outward.test(setting)).toSorted());
});

test('the chart has these values, and its templates read them', () => {
  const values = parse(read('deploy/helm/temper/values.yaml'));
  const templates = chart('deploy/helm/temper/templates');
  for (const path of new Set(Object.values(openedBy))) {
    const [first, second] = path.split('.') as [string, string];
    expect([path, values[first]]).toEqual([path, expect.objectContaining({ [second]: expect.anything() })]);
    expect([path, templates.includes(`.${second}`)]).toEqual([path, true]);
  }
});

test('the chart tells processes settings that they have', () => {
  const told = [...chart('deploy/helm/temper/templates').matchAll(/\b(TEMPER_[A-Z_]+)\b/g)].map(
    ([, setting]) => setting!,
  );
  expect(told.length).toBeGreaterThan(10);
  expect(told.filter((setting) => !every.includes(setting))).toEqual([]);
});
