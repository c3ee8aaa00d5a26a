/** Settings that cannot be right are refused by name before a process does anything. */
import { apiSettings } from '../../src/process/settings/api-settings';
import { processes } from '../../src/process/settings/config';
import { ConfigFault } from '../../src/process/settings/fault';
import { parseSettings } from '../../src/process/settings/read';
import { good } from './support/entries';

/** What is wrong with the settings of a process; empty when nothing is. */
const faultsOf = (name: keyof typeof processes, change: NodeJS.ProcessEnv = {}): readonly string[] => {
  try {
    parseSettings(processes[name], { ...good[name], ...change });
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigFault) return thrown.faults;
    throw thrown;
  }
};

test.each(Object.keys(processes) as (keyof typeof processes)[])('the settings of %s can be right', (name) => {
  expect(faultsOf(name)).toEqual([]);
});

const key = Buffer.alloc(32, 9).toString('base64');

test.each([
  // setting                  value                         the bad part, as the operator reads it
  ['TEMPER_BMC_NETWORKS', 'foo', 'has "foo", which is no network'],
  ['TEMPER_BMC_NETWORKS', '10.0.0.0/33,x', 'has "10.0.0.0/33", "x", which is no network'],
  ['TEMPER_BMC_NETWORKS', '10.0.0.0/8,fd00::/129', 'has "fd00::/129", which is no network'],
  ['TEMPER_BMC_NETWORKS', ' , ', 'names no network'],
  ['TEMPER_DATABASE_URL', 'mysql://x', 'begins with postgres:// or postgresql://'],
  ['TEMPER_DATABASE_URL', 'postgres:x', 'begins with postgres:// or postgresql://'],
  ['TEMPER_DATABASE_URL', 'temper', 'begins with postgres:// or postgresql://'],
  ['TEMPER_TEMPORAL_ADDRESS', 'temporal', 'must be host:port'],
  ['TEMPER_TEMPORAL_ADDRESS', 'temporal:', 'must be host:port'],
  ['TEMPER_TEMPORAL_ADDRESS', 'temporal:0', 'must be host:port'],
  ['TEMPER_TEMPORAL_ADDRESS', 'temporal:70000', 'must be host:port'],
  ['TEMPER_TEMPORAL_ADDRESS', 'http://temporal:7233', 'must be host:port'],
  ['TEMPER_TEMPORAL_ADDRESS', '::1:7233', 'must be host:port'],
  ['TEMPER_TEMPORAL_ADDRESS', '[host]:7233', 'must be host:port'],
  ['TEMPER_PUBLIC_ENDPOINT', 'localhost:6385', 'begins with http:// or https://'],
  ['TEMPER_AUTH_STRATEGY', 'noauth,keystone', 'has noauth beside another strategy'],
  ['TEMPER_AUTH_STRATEGY', 'kerberos', 'names "kerberos"'],
  ['TEMPER_RAMDISK_LISTEN', 'on', 'must be off, api, or host:port'],
  ['TEMPER_RAMDISK_LISTEN', '192.0.2.1', 'must be off, api, or host:port'],
  ['TEMPER_AUTH_STRATEGY', 'keystone,keystone', 'names a strategy twice'],
  ['TEMPER_AUTH_STRATEGY', ',', 'names no strategy'],
  ['TEMPER_API_PORT', '65536', 'must be a port number'],
  ['TEMPER_API_PORT', 'http', 'must be a port number'],
  ['TEMPER_LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace.'],
  ['TEMPER_PROJECTS_MAY_ENROL', 'yes', 'must be true or false'],
  ['TEMPER_AGENT_NETWORKS', '10.0.0.0/33', 'has "10.0.0.0/33", which is no network'],
  ['TEMPER_AGENT_REQUIRE_TLS', 'no', 'must be true or false'],
  ['TEMPER_HEARTBEAT_TIMEOUT_S', '5', 'must be a whole number, at least 10'],
  ['TEMPER_IMAGE_ORIGINS', 'https://a.example.org,b.example.org', 'has "b.example.org", which is no origin'],
  ['TEMPER_SECRETS_PUBLIC_KEYS', 'k1:c2hvcnQ=', 'must be <id>:<base64 of 32 bytes>'],
  ['TEMPER_SECRETS_PUBLIC_KEYS', `k1@rack:${key}`, 'lacks a key without a conductor group'],
  ['TEMPER_SECRETS_PUBLIC_KEYS', `k1:${key},k2:${key}`, 'names two keys for the same conductor group'],
  ['TEMPER_SECRETS_PUBLIC_KEYS', `k1:${key},k1@rack:${key}`, 'names two keys by the same id'],
])('%s=%s is refused', (setting, value, says) => {
  const faults = faultsOf('api', { [setting]: value });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(new RegExp(`^${setting} `));
  expect(faults[0]).toContain(says);
});

test.each([
  ['TEMPER_BMC_NETWORKS', '0.0.0.0/0, ::/0'],
  ['TEMPER_BMC_NETWORKS', '192.0.2.7'],
  ['TEMPER_DATABASE_URL', 'postgresql://temper@db.example.org/temper?sslmode=require'],
  ['TEMPER_TEMPORAL_ADDRESS', 'temporal:7233'],
  ['TEMPER_TEMPORAL_ADDRESS', 'temporal_1.example.org:7233'],
  ['TEMPER_TEMPORAL_ADDRESS', '[2001:db8::7]:7233'],
  ['TEMPER_AUTH_STRATEGY', 'keystone, static_tokens'],
  ['TEMPER_IDENTITY_URL', 'https://keystone.example.org/v3'],
  ['TEMPER_IMAGE_ORIGINS', 'https://images.example.org, http://192.0.2.7:8080'],
  ['TEMPER_AGENT_NETWORKS', '10.20.0.0/16,fd00::/8'],
])('%s=%s is accepted', (setting, value) => {
  expect(faultsOf('api', { [setting]: value })).toEqual([]);
});

test.each(['control', 'bmc', 'migrate'] as const)('%s, too, refuses what cannot be a database or Temporal', (name) => {
  const faults = faultsOf(name, { TEMPER_DATABASE_URL: 'mysql://x', TEMPER_TEMPORAL_ADDRESS: 'temporal' });
  expect(faults).toEqual([
    expect.stringContaining('TEMPER_DATABASE_URL must'),
    expect.stringContaining('TEMPER_TEMPORAL_ADDRESS must'),
  ]);
});

test('an unset setting is reported as such, and an empty one counts as unset', () => {
  expect(faultsOf('bmc', { TEMPER_BMC_NETWORKS: '', TEMPER_SECRETS_PRIVATE_KEYS: undefined })).toEqual([
    expect.stringContaining('TEMPER_SECRETS_PRIVATE_KEYS is not set'),
    expect.stringContaining('TEMPER_BMC_NETWORKS is not set'),
  ]);
});

describe('a setting that is misspelled', () => {
  test.each([
    ['TEMPER_API_PROT', '6385', 'TEMPER_API_PORT'],
    ['TEMPER_BMC_NETWORK', '192.0.2.0/24', 'TEMPER_BMC_NETWORKS'],
    ['TEMPER_IMAGE_ORIGIN', 'https://images.example.org', 'TEMPER_IMAGE_ORIGINS'],
    ['TEMPER_LOGLEVEL', 'debug', 'TEMPER_LOG_LEVEL'],
  ])('%s is named with the nearest there is', (name, value, near) => {
    expect(faultsOf('api', { [name]: value })).toEqual([`${name} is no setting. Did you mean ${near}?`]);
  });

  test('is reported beside all other faults', () => {
    expect(faultsOf('api', { TEMPER_API_PROT: '1', TEMPER_API_PORT: 'http' })).toHaveLength(2);
  });

  test.each([
    'TEMPER_SOMETHING_OF_ANOTHER_PROGRAM',
    'TEMPER_SERVICE_HOST',
    'TEMPER_RACK_SPEED',
    'TEMPER_TEST_TEMPLATE',
    'TEMPER_POWER_SYNC_INTERVAL',
  ])('%s is near none, or of another process, and is left alone', (name) =>
    expect(faultsOf('migrate', { [name]: 'x' }).filter((fault) => fault.startsWith(`${name} `))).toEqual([]),
  );
});

test('a token outlives an outage of Keystone by a quarter of an hour, unless a setting says otherwise', () =>
  expect(parseSettings(processes.api, good.api).TEMPER_TOKEN_OUTAGE_SECONDS).toBe(900));

test.each([
  [{}, { rateLimitPerMinute: undefined, addressLimitPerMinute: 12_000 }],
  [{ TEMPER_ADDRESS_LIMIT_PER_MINUTE: '0' }, { addressLimitPerMinute: undefined }],
  [{ TEMPER_ADDRESS_LIMIT_PER_MINUTE: '7', TEMPER_RATE_LIMIT_PER_MINUTE: '5' }, { rateLimitPerMinute: 5 }],
])('addresses are limited by default, known callers are not: %p', (change, limits) => {
  const settings = apiSettings(parseSettings(processes.api, { ...good.api, ...change }));
  expect(settings).toMatchObject(limits);
});

test.each([
  ['20.20.2', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', false],
  ['23.1.0', true],
  ['24.0.0', true],
])('Node %s can share a port: %p', (node, can) => {
  const before = Object.getOwnPropertyDescriptor(process, 'versions')!;
  Object.defineProperty(process, 'versions', { ...before, value: { ...process.versions, node } });
  try {
    const says = `TEMPER_API_REUSE_PORT needs Node 22.12 or newer, and this is Node ${node}. `;
    const refused = can ? [] : [expect.stringContaining(says)];
    expect(faultsOf('api', { TEMPER_API_REUSE_PORT: 'true' })).toEqual(refused);
    expect(faultsOf('api', { TEMPER_API_REUSE_PORT: 'false' })).toEqual([]);
  } finally {
    Object.defineProperty(process, 'versions', before);
  }
});
