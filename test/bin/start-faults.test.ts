/** A process that cannot start says what to mend, in plain words and by the setting's name, and ends with status 78. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ending, type Env, endAll, good, run } from './support/entries';

let dir: string;
let taken: Server;
let takenPort: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'start-faults-'));
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  takenPort = String((taken.address() as AddressInfo).port);
});
// At once: each is a process of its own, which ends by itself.
afterAll(async () => {
  await endAll();
  taken.close();
  rmSync(dir, { recursive: true, force: true });
});

const file = (name: string, content: string): string => {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
};

/** One plain message on standard error that has all the texts; no stack anywhere, nothing failed in the log. */
const expectPlain = ({ status, out, err }: Ending, texts: readonly string[]): void => {
  expect(err).toMatch(/^temper [\w-]+ cannot start; these settings need a look:\n/);
  for (const text of texts) expect(err).toContain(text);
  expect(`${out}${err}`).not.toMatch(/^\s+at /m);
  expect(`${out}${err}`).not.toMatch(/"stack"|"level":50|"ready"|hunter2/);
  expect(status).toBe(78);
};

const cases: readonly (readonly [title: string, env: () => Env, texts: readonly string[]])[] = [
  [
    'settings that are missing or wrong, all at once',
    () => ({
      TEMPER_BMC_NETWORKS: 'foo',
      TEMPER_DATABASE_URL: 'mysql://temper:hunter2@x',
      TEMPER_SECRETS_PUBLIC_KEYS: '',
    }),
    ['TEMPER_BMC_NETWORKS has "foo"', 'TEMPER_DATABASE_URL must', 'TEMPER_SECRETS_PUBLIC_KEYS is not set'],
  ],
  [
    'a key that only BMC workers may have',
    () => ({ TEMPER_SECRETS_PRIVATE_KEYS: good.bmc.TEMPER_SECRETS_PRIVATE_KEYS! }),
    ['TEMPER_SECRETS_PRIVATE_KEYS: is for BMC workers only'],
  ],
  [
    'the missing companions of its strategies',
    () => ({ TEMPER_AUTH_STRATEGY: 'keystone,http_basic', TEMPER_IDENTITY_URL: 'http://127.0.0.1:9/v3' }),
    [
      'TEMPER_IDENTITY_USERNAME is not set. Strategy keystone',
      'TEMPER_IDENTITY_PASSWORD',
      'TEMPER_HTPASSWD_FILE',
      'TEMPER_USERS_FILE is not set. Strategy http_basic',
    ],
  ],
  ['noauth on an address that others reach', () => ({ TEMPER_API_HOST: '0.0.0.0' }), ['TEMPER_API_HOST is 0.0.0.0']],
  [
    'noauth on a name that only looks like loopback',
    () => ({ TEMPER_API_HOST: '127.example.org' }),
    ['TEMPER_API_HOST is 127.example.org', 'TEMPER_NOAUTH_BEYOND_LOOPBACK'],
  ],
  [
    'noauth beside keystone, before it asks for settings of keystone',
    () => ({ TEMPER_AUTH_STRATEGY: 'noauth,keystone' }),
    ['TEMPER_AUTH_STRATEGY has noauth beside another strategy'],
  ],
  [
    'a policy file that is not there',
    () => ({ TEMPER_POLICY_FILE: join(dir, 'none.yaml') }),
    ['TEMPER_POLICY_FILE: ', 'none.yaml cannot be used', 'ENOENT'],
  ],
  [
    'a policy file that is not YAML',
    () => ({ TEMPER_POLICY_FILE: file('broken.yaml', '"baremetal:node:get": "role:a"\n  bad: [') }),
    ['TEMPER_POLICY_FILE: ', 'broken.yaml cannot be used', 'broken.yaml:2: '],
  ],
  [
    'a policy file that is not a map of rules',
    () => ({ TEMPER_POLICY_FILE: file('list.yaml', '- one\n') }),
    ['TEMPER_POLICY_FILE: ', 'a map of rule names to rules'],
  ],
  [
    'every rule that cannot be',
    () => ({
      TEMPER_POLICY_FILE: file('rules.yaml', '"baremetal:node:get": "rule:nowhere"\n"baremetal:node:updat": "!"\n'),
    }),
    ['TEMPER_POLICY_FILE: ', 'rule:nowhere', '"baremetal:node:updat"'],
  ],
  [
    'an identity file that is not there, together with a policy file that is not',
    () => ({
      TEMPER_AUTH_STRATEGY: 'static_tokens',
      TEMPER_TOKENS_FILE: join(dir, 'no-tokens.yaml'),
      TEMPER_POLICY_FILE: join(dir, 'none.yaml'),
    }),
    ['TEMPER_TOKENS_FILE: ', 'no-tokens.yaml', 'TEMPER_POLICY_FILE: '],
  ],
  [
    'an htpasswd file and a tokens file that cannot be used, without what stands in them',
    () => ({
      TEMPER_AUTH_STRATEGY: 'http_basic,static_tokens',
      TEMPER_HTPASSWD_FILE: file('htpasswd', 'alice:hunter2\n'),
      TEMPER_USERS_FILE: file('users.yaml', 'users: {}\n'),
      TEMPER_TOKENS_FILE: file('tokens.yaml', 'tokens:\n  - token: hunter2\n'),
    }),
    ['TEMPER_HTPASSWD_FILE: ', 'line 1 is not a bcrypt hash', 'TEMPER_TOKENS_FILE: ', 'line 2'],
  ],
  [
    'a port of its own that is taken',
    () => ({ TEMPER_API_PORT: takenPort }),
    ['TEMPER_API_PORT: port ', ' of 127.0.0.1 is taken'],
  ],
  [
    'an address that this machine does not have',
    () => ({ TEMPER_API_HOST: '192.0.2.1', TEMPER_NOAUTH_BEYOND_LOOPBACK: 'true' }),
    ['TEMPER_API_HOST: 192.0.2.1 is no address of this machine'],
  ],
];

test.concurrent.each(cases)('the api names %s', async (_, env, texts) => {
  expectPlain(await run('api', { ...good.api, ...env() }), texts);
});

test.concurrent('noauth beside keystone is the only thing reported then', async () => {
  const { err } = await run('api', { ...good.api, TEMPER_AUTH_STRATEGY: 'noauth,keystone' });
  expect(err).not.toContain('TEMPER_IDENTITY');
});

test.concurrent.each([
  ['api', good.api],
  ['worker control', good.control],
  ['worker bmc', good.bmc],
  ['boot', good.boot],
  ['console', good.console],
  ['demo-identity', good['demo-identity']],
])('%s names a health port that is taken', async (command, env) => {
  expectPlain(await run(command, { ...env, TEMPER_HEALTH_PORT: takenPort }), [
    `TEMPER_HEALTH_PORT: port ${takenPort} of 127.0.0.1 is taken`,
  ]);
});

test.concurrent.each<[command: string, text: string, env: Env]>([
  ['worker control', 'TEMPER_TEMPORAL_ADDRESS must be', { ...good.control, TEMPER_TEMPORAL_ADDRESS: 'temporal' }],
  ['worker control', 'TEMPER_WORKFLOW_BUNDLE: none.js', { ...good.control, TEMPER_WORKFLOW_BUNDLE: 'none.js' }],
  ['worker bmc', 'TEMPER_BMC_NETWORKS has "10.0.0.0/33", "x"', { ...good.bmc, TEMPER_BMC_NETWORKS: '10.0.0.0/33,x' }],
  ['boot', 'TEMPER_BOOT_DIR is not set', { TEMPER_DATABASE_URL: 'postgres://temper@127.0.0.1:9/temper' }],
  [
    'boot',
    'TEMPER_BOOT_CA_FILE: /nonexistent/ca.pem could not be read (ENOENT)',
    { ...good.boot, TEMPER_BOOT_CA_FILE: '/nonexistent/ca.pem' },
  ],
  ['console', 'TEMPER_CONSOLE_KEY is not set', { TEMPER_CONSOLE_API_URL: 'http://127.0.0.1:9' }],
  [
    'console',
    'TEMPER_CONSOLE_DEMO signs every visitor in',
    { ...good.console, TEMPER_CONSOLE_DEMO: '/nonexistent', TEMPER_CONSOLE_URL: 'https://temper.example.org' },
  ],
  [
    'console',
    'TEMPER_CONSOLE_DEMO: /nonexistent could not be read (ENOENT)',
    { ...good.console, TEMPER_CONSOLE_DEMO: '/nonexistent' },
  ],
  ['migrate', 'TEMPER_DATABASE_URL must be', { TEMPER_DATABASE_URL: 'mysql://x' }],
  ['rack', 'TEMPER_RACK_DIR is not set', good.rack],
  ['demo-identity', 'TEMPER_API_PUBLIC_URL is not set', {}],
])('%s does not start when %s', async (command, text, env) => {
  expectPlain(await run(command, env), [text]);
});

test.concurrent('the rack and the demo identity service name the port of theirs that is taken', async () => {
  const rack = { TEMPER_RACK_DIR: dir, TEMPER_RACK_SIZE: '1', TEMPER_RACK_CONTROL_PORT: takenPort };
  expectPlain(await run('rack', rack), [`TEMPER_RACK_CONTROL_PORT: port ${takenPort} of 127.0.0.1 is taken`]);
  const identity = { ...good['demo-identity'], TEMPER_DEMO_IDENTITY_PORT: takenPort };
  expectPlain(await run('demo-identity', identity), ['TEMPER_DEMO_IDENTITY_PORT: port']);
});
