/** The compose file against the product's own settings: every process can be given each of its settings, and no secret of another. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { processes } from '../../src/process/settings/config';
import { admissionSettings } from '../../src/process/settings/rollouts';

const root = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

type Service = {
  readonly command?: readonly string[];
  readonly env_file?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly hostname?: string;
  readonly stop_grace_period?: string;
  readonly volumes?: readonly string[];
};
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { readonly internal?: boolean } | null>;
};
const { services, networks } = compose;

const table = [
  ['migrate', 'migrate'],
  ['api', 'api'],
  ['api-ramdisks', 'api'],
  ['worker-control', 'control'],
  ['worker-bmc', 'bmc'],
  ['boot', 'boot'],
  ['console', 'console'],
  ['notifications', 'notifications'],
] as const;

/** What the compose file decides itself, because it makes what these name; nothing that an operator writes is dropped for it. */
const decided: Readonly<Record<string, readonly string[]>> = {
  migrate: [
    'TEMPER_API_DB_PASSWORD',
    'TEMPER_BMC_DB_PASSWORD',
    'TEMPER_BOOT_DB_PASSWORD',
    'TEMPER_CONTROL_DB_PASSWORD',
    'TEMPER_DATABASE_URL',
    'TEMPER_NOTIFICATIONS_DB_PASSWORD',
    'TEMPER_TEMPORAL_ADDRESS',
    'TEMPER_TEMPORAL_NAMESPACE',
  ],
  api: [
    'TEMPER_API_HOST',
    'TEMPER_DATABASE_URL',
    'TEMPER_HEALTH_HOST',
    'TEMPER_HEALTH_PORT',
    'TEMPER_TEMPORAL_ADDRESS',
    'TEMPER_TEMPORAL_NAMESPACE',
  ],
  'api-ramdisks': [
    'TEMPER_DATABASE_URL',
    'TEMPER_HEALTH_HOST',
    'TEMPER_HEALTH_PORT',
    'TEMPER_RAMDISK_LISTEN',
    'TEMPER_TEMPORAL_ADDRESS',
    'TEMPER_TEMPORAL_NAMESPACE',
  ],
  'worker-control': [
    'TEMPER_DATABASE_URL',
    'TEMPER_HEALTH_HOST',
    'TEMPER_HEALTH_PORT',
    'TEMPER_TEMPORAL_ADDRESS',
    'TEMPER_TEMPORAL_NAMESPACE',
    'TEMPER_WORKFLOW_BUNDLE',
  ],
  'worker-bmc': [
    'TEMPER_DATABASE_URL',
    'TEMPER_HEALTH_HOST',
    'TEMPER_HEALTH_PORT',
    'TEMPER_SERIAL_CONSOLE_HOST',
    'TEMPER_TEMPORAL_ADDRESS',
    'TEMPER_TEMPORAL_NAMESPACE',
  ],
  boot: ['TEMPER_BOOT_DIR', 'TEMPER_BOOT_HOST', 'TEMPER_DATABASE_URL', 'TEMPER_HEALTH_HOST', 'TEMPER_HEALTH_PORT'],
  console: ['TEMPER_CONSOLE_API_URL', 'TEMPER_CONSOLE_HOST', 'TEMPER_HEALTH_HOST', 'TEMPER_HEALTH_PORT'],
  notifications: ['TEMPER_DATABASE_URL', 'TEMPER_HEALTH_HOST', 'TEMPER_HEALTH_PORT'],
};

/** Lines of an example, `#NAME=value` among them: what an operator may write, by whether it has to be written. */
const linesOf = (file: string): { readonly name: string; readonly value: string; readonly optional: boolean }[] =>
  [...read(file).matchAll(/^(#?)([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, hash, name, value]) => ({
    name: name!,
    value: value!,
    optional: hash === '#',
  }));
const exampleOf = (file: string): string => `${file}.example`;

const key = `k1:${Buffer.alloc(32, 9).toString('base64')}`;
/** Values for what the examples leave empty. */
const filledIn: Readonly<Record<string, string>> = {
  TEMPER_SECRETS_PUBLIC_KEYS: key,
  TEMPER_SECRETS_PRIVATE_KEYS: key,
  TEMPER_DIGEST_KEYS: key,
  TEMPER_WEBHOOK_KEYS: key,
  TEMPER_CONSOLE_KEY: key,
};
const filled = (text: string): string => text.replaceAll(/\$\{(\w+):[-?]([^}]*)\}/g, 'secret');

/** The environment of a container: files in order, then what the compose file decides, as compose merges them. */
const environmentOf = (service: string, { optional = false } = {}): Record<string, string> => {
  const { env_file = [], environment = {} } = services[service]!;
  const lines = env_file.flatMap((file) => linesOf(exampleOf(file))).filter((line) => optional || !line.optional);
  return {
    ...Object.fromEntries(lines.map(({ name, value }) => [name, value || filledIn[name] || 'secret'])),
    ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(String(value))])),
  };
};

const faultsOf = (name: keyof typeof processes, env: Readonly<Record<string, string>>) => {
  const schema: z.ZodObject = processes[name];
  return schema.safeParse(env).error?.issues ?? [];
};

test.each(table)('%s starts with the examples, as they are and with all that they offer', (service, name) => {
  expect(faultsOf(name, environmentOf(service))).toEqual([]);
  expect(faultsOf(name, environmentOf(service, { optional: true }))).toEqual([]);
});

test.each(table)(
  '%s reads every setting of its own from its files; the compose file decides no more than it must',
  (service, name) => {
    const { env_file, environment = {} } = services[service]!;
    expect(env_file).toEqual(['deploy/env/shared.env', `deploy/env/${name}.env`]);
    expect(Object.keys(environment).sort()).toEqual(decided[service]);
    expect(Object.keys(environment).filter((setting) => !(setting in processes[name].shape))).toEqual([]);
  },
);

test('no value that may be left out is written by the compose file: it would be empty, and hide what a file says', () => {
  for (const [service, { environment = {} }] of Object.entries(services))
    for (const [name, value] of Object.entries(environment))
      if (/^TEMPER_/.test(name))
        expect({ service, name, value }).not.toMatchObject({ value: expect.stringContaining(':-') });
});

test('what control workers admit runs of rollouts by is offered once, for them and the API: two files would come to differ', () => {
  const offered = ['api', 'control'].flatMap((name) => linesOf(`deploy/env/${name}.env.example`));
  expect(
    offered.map(({ name }) => name).filter((setting) => setting in admissionSettings && setting in processes.api.shape),
  ).toEqual([]);
  const shared = linesOf('deploy/env/shared.env.example').map(({ name }) => name);
  expect(shared).toEqual(expect.arrayContaining(['TEMPER_POLICY_FILE', 'TEMPER_USERS_FILE', 'TEMPER_DEFAULT_RAMDISK']));
});

test('the examples name settings of their process only, and those of all processes stand in the shared one', () => {
  const files = readdirSync(join(root, 'deploy/env')).filter((file) => file.endsWith('.example'));
  expect(files.sort()).toEqual(
    ['api', 'bmc', 'boot', 'console', 'control', 'migrate', 'notifications', 'shared'].map(
      (name) => `${name}.env.example`,
    ),
  );
  for (const [, name] of table)
    for (const { name: setting } of linesOf(`deploy/env/${name}.env.example`))
      expect(processes[name].shape).toHaveProperty(setting);
  for (const { name: setting } of linesOf('deploy/env/shared.env.example'))
    expect({ setting, by: Object.values(processes).filter(({ shape }) => setting in shape).length > 1 }).toEqual({
      setting,
      by: true,
    });
});

test('a secret is given to the processes that must know it, and to no other', () => {
  const holders = (setting: string) =>
    table.flatMap(([service]) => (setting in environmentOf(service, { optional: true }) ? [service] : []));
  expect(holders('TEMPER_SECRETS_PRIVATE_KEYS')).toEqual(['worker-bmc']);
  expect(holders('TEMPER_CONSOLE_KEY')).toEqual(['console']);
  expect(holders('TEMPER_DIGEST_KEYS')).toEqual(['api', 'api-ramdisks']);
  expect(holders('TEMPER_IDENTITY_PASSWORD')).toEqual(['api', 'api-ramdisks', 'worker-control', 'boot']);
  expect(holders('TEMPER_WEBHOOK_KEYS')).toEqual(['api', 'api-ramdisks', 'worker-control']);
  expect(holders('TEMPER_NOTIFICATIONS_URL')).toEqual(['notifications']);
  for (const role of ['API', 'CONTROL', 'BMC', 'BOOT', 'NOTIFICATIONS'])
    expect(holders(`TEMPER_${role}_DB_PASSWORD`)).toEqual(['migrate']);
});

test('a BMC worker has its name from where it is started: one in a file that several read would be the name of all of them', () => {
  expect(services['worker-bmc']!.hostname).toBe('worker-bmc');
  for (const file of ['shared', 'bmc'])
    expect(
      linesOf(`deploy/env/${file}.env.example`).filter(
        ({ name, optional }) => name === 'TEMPER_WORKER_HOSTNAME' && !optional,
      ),
    ).toEqual([]);
});

test('serial consoles are off until their one setting is set; their port is published on loopback, for a proxy', () => {
  const { environment, ports } = services['worker-bmc']!;
  expect(environmentOf('worker-bmc')).not.toHaveProperty('TEMPER_SERIAL_CONSOLE_PUBLIC_URL');
  const read = processes.bmc.parse(environmentOf('worker-bmc', { optional: true }));
  expect(read.TEMPER_SERIAL_CONSOLE_PUBLIC_URL).toMatch(/^https:/);
  expect(environment!.TEMPER_SERIAL_CONSOLE_HOST).toBe('0.0.0.0');
  expect(ports).toEqual([`\${TEMPER_SERIAL_CONSOLE_PUBLISH:-127.0.0.1:6389}:${read.TEMPER_SERIAL_CONSOLE_PORT}`]);
});

test('the boot service writes images of image records into its folder, and the list of machines for DHCP beside what dnsmasq reads as root', () => {
  const mounted = services.boot!.volumes!.map((volume) => volume.replace(/^\$\{[^}]*\}[^:]*:/, ''));
  expect(mounted).toEqual([
    '/etc/temper:ro',
    '/var/lib/temper/boot',
    '/var/lib/temper/dhcp:ro',
    '/var/lib/temper/dhcp/machines',
  ]);
});

test('metrics can be fetched from other containers', () => {
  for (const [service] of table.slice(1))
    expect(services[service]!.environment).toMatchObject({ TEMPER_HEALTH_HOST: '0.0.0.0', TEMPER_HEALTH_PORT: '9090' });
});

test('Temporal has 512 history shards: their number can never be changed', () => {
  expect(services.temporal!.environment!.NUM_HISTORY_SHARDS).toMatch(/^\$\{TEMPORAL_HISTORY_SHARDS:-512\}$/);
});

describe('networks', () => {
  const on = (network: string) =>
    Object.keys(services).filter((service) => services[service]!.networks?.includes(network));

  test('each store is reached by those that need it, and by nothing from outside', () => {
    expect(on('store')).toEqual([
      'postgres',
      'migrate',
      'api',
      'api-ramdisks',
      'worker-control',
      'worker-bmc',
      'boot',
      'notifications',
    ]);
    expect(on('engine-store')).toEqual(['temporal-postgres', 'temporal-schema', 'temporal']);
    expect(on('engine')).toEqual([
      'temporal',
      'temporal-namespace',
      'temporal-ui',
      'migrate',
      'api',
      'api-ramdisks',
      'worker-control',
      'worker-bmc',
    ]);
    for (const name of ['store', 'engine', 'engine-store']) expect(networks[name]).toEqual({ internal: true });
  });

  test('stores and Temporal have no way out, and each process has one of its own', () => {
    const waysOut = (service: string) =>
      (services[service]!.networks ?? ['default']).filter((name) => !networks[name]?.internal);
    for (const service of [
      'postgres',
      'temporal-postgres',
      'temporal-schema',
      'temporal',
      'temporal-namespace',
      'migrate',
    ])
      expect([service, waysOut(service)]).toEqual([service, []]);
    expect(
      ['api', 'api-ramdisks', 'worker-control', 'worker-bmc', 'boot', 'console', 'notifications', 'temporal-ui'].map(
        waysOut,
      ),
    ).toEqual([['front'], ['boot'], ['hooks'], ['bmc'], ['boot'], ['front'], ['hooks'], ['ui']]);
    expect(
      Object.entries(services)
        .filter(([, { ports }]) => ports)
        .map(([name]) => name),
    ).toEqual(['temporal-ui', 'api', 'api-ramdisks', 'worker-bmc', 'boot', 'console']);
  });
});

test('every variable without a default stands in .env.example', () => {
  const wanted = [...read('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)].map((match) => match[1]!);
  const offered = new Set(linesOf('.env.example').map(({ name }) => name));
  expect(wanted.length).toBeGreaterThan(0);
  expect(wanted.filter((name) => !offered.has(name))).toEqual([]);
});

test('what .env.example offers is read by the compose file', () => {
  const text = read('docker-compose.yml');
  expect(linesOf('.env.example').filter(({ name }) => !text.includes(`\${${name}:`))).toEqual([]);
});

test('what the compose file depends on, mounts and runs is there', () => {
  for (const [name, { depends_on = {}, command = [], networks: of = [] }] of Object.entries(services)) {
    expect({ name, missing: Object.keys(depends_on).filter((other) => !services[other]) }).toEqual({
      name,
      missing: [],
    });
    expect(of.filter((network) => !(network in networks))).toEqual([]);
    const [program] = command;
    if (program) expect(existsSync(join(root, program.replace('dist', 'src').replace('.js', '.ts')))).toBe(true);
  }
  for (const file of ['schema.sh', 'namespace.sh', 'dynamic-config.yaml'])
    expect(existsSync(join(root, 'deploy/temporal', file))).toBe(true);
});

test('files with settings are kept out of the repository and out of the image', () => {
  expect(read('.gitignore')).toContain('\n.env\ndeploy/env/*.env\n');
  expect(read('.dockerignore')).not.toMatch(/^!.*(deploy|env)/m);
});

describe('the image', () => {
  const dockerfile = read('deploy/Dockerfile');

  test('runs no scripts of packages', () => {
    const installs = dockerfile.match(/npm ci\b.*/g)!;
    expect(installs).toHaveLength(1);
    for (const line of installs) expect(line).toContain('--ignore-scripts');
  });

  test('leaves what is for development behind', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, from]) => from!.split(' '));
    expect(copied.filter((one) => !one.includes('.')).sort()).toEqual(['LICENSE', 'NOTICE', 'scripts/lib', 'src']);
    expect(readdirSync(join(root, 'src/bin')).sort()).toEqual([
      'api.ts',
      'boot.ts',
      'console.ts',
      'migrate.ts',
      'notifications.ts',
      'temper.ts',
      'worker.ts',
    ]);
  });

  test('has one base, which can be pinned by its digest', () => {
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(dockerfile.match(/^FROM \$\{NODE_IMAGE\}( AS \w+)?$/gm)).toHaveLength(2);
  });
});

/** Seconds that systemd gives the same process to end. */
const stopSeconds = (unit: string): number =>
  Number(/^TimeoutStopSec=(\d+)$/m.exec(read(`deploy/systemd/temper-${unit}.service`))![1]);

test.each(['api', 'api-ramdisks', 'boot', 'console'])(
  '%s has as long to answer what is under way as systemd gives it',
  (name) => {
    expect(services[name]?.stop_grace_period).toBe(`${stopSeconds(name)}s`);
  },
);
