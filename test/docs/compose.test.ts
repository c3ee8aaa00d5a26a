/** The compose file against the product's own settings: every process gets what it requires, and nothing it does not know. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { processes } from '../../src/bin/config';

const root = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

type Service = {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
};
const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };

const table = [
  ['migrate', 'migrate'],
  ['api', 'api'],
  ['worker-control', 'control'],
  ['worker-bmc', 'bmc'],
] as const;

const key = `k1:${Buffer.alloc(32, 9).toString('base64')}`;

/** Values for what .env must give, and for what it may leave out; `${A:?b}` and `${A:-b}` as compose reads them. */
const given: Readonly<Record<string, string>> = {
  TEMPER_SECRETS_PUBLIC_KEYS: key,
  TEMPER_SECRETS_PRIVATE_KEYS: key,
  TEMPER_DIGEST_KEYS: key,
  TEMPER_BMC_NETWORKS: '10.0.0.0/8',
  TEMPER_AUTH_STRATEGY: 'keystone',
};
const filled = (text: string): string =>
  text.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) =>
    kind === '-' ? rest : (given[name] ?? 'secret'),
  );

const environmentOf = (service: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(services[service]!.environment ?? {})
      .map(([key, value]) => [key, filled(value)] as const)
      .filter(([, value]) => value !== ''),
  );

test.each(table)('%s starts with the settings that the compose file gives it', (service, name) => {
  const schema: z.ZodObject = processes[name];
  expect(schema.safeParse(environmentOf(service)).error?.issues ?? []).toEqual([]);
});

test.each(table)('%s is given no setting that it does not read', (service, name) => {
  const unknown = Object.keys(services[service]!.environment ?? {}).filter((key) => !(key in processes[name].shape));
  expect(unknown).toEqual([]);
});

test('only processes that must know a key are given one', () => {
  const holders = (name: string) => Object.keys(services).filter((service) => services[service]!.environment?.[name]);
  expect(holders('TEMPER_SECRETS_PUBLIC_KEYS')).toEqual(['api', 'worker-bmc']);
  expect(holders('TEMPER_DIGEST_KEYS')).toEqual(['api']);
  for (const name of ['TEMPER_SECRETS_PRIVATE_KEYS', 'TEMPER_SECRETS_KEYS'])
    expect(holders(name)).toEqual(['worker-bmc']);
});

test('every variable without a default stands in .env.example', () => {
  const wanted = [...read('docker-compose.yml').matchAll(/\$\{(\w+):\?/g)].map((match) => match[1]!);
  const offered = new Set([...read('.env.example').matchAll(/^#?(\w+)=/gm)].map((match) => match[1]!));
  expect(wanted.length).toBeGreaterThan(0);
  expect(wanted.filter((name) => !offered.has(name))).toEqual([]);
});

test('what the compose file depends on, mounts and runs is there', () => {
  for (const [name, { depends_on = {}, command = [] }] of Object.entries(services)) {
    expect({ name, missing: Object.keys(depends_on).filter((other) => !services[other]) }).toEqual({
      name,
      missing: [],
    });
    const [program] = command;
    if (program) expect(existsSync(join(root, program.replace('dist', 'src').replace('.js', '.ts')))).toBe(true);
  }
  for (const file of ['schema.sh', 'namespace.sh', 'dynamic-config.yaml'])
    expect(existsSync(join(root, 'deploy/temporal', file))).toBe(true);
});
