/** Temporal behind TLS that asks for a certificate: every way to connect proves itself, checks whom it speaks to, and says what is wrong. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { generate } from 'selfsigned';
import { checksOf } from '../../src/process/command/checks';
import { processes } from '../../src/process/settings/config';
import { connectionOptions, lazyClient, type TemporalSettings } from '../../src/process/temporal/client';
import { workerConnection } from '../../src/process/temporal/temporal';
import { endAll, run } from '../bin/support/entries';
import { type TestDatabase, temporalAddress, temporalNamespace, testDatabase } from '../support/servers';

const serverName = 'temporal.example.org';
let dir: string;
let server: Server;
let database: TestDatabase;
let good: TemporalSettings;

type Issued = { readonly cert: string; readonly private: string };
const authority = (name: string): Promise<Issued> =>
  generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  });
const issued = (by: Issued, name: string): Promise<Issued> =>
  generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ca: { key: by.private, cert: by.cert },
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
    ],
  });
const file = (name: string, content: string): string => {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
};

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'temper-tls-'));
  database = await testDatabase();
  const ours = await authority('ours');
  const [theirs, own] = await Promise.all([issued(ours, serverName), issued(ours, 'temper')]);
  const [host, port] = temporalAddress().split(':') as [string, string];
  server = createServer(
    {
      key: theirs.private,
      cert: theirs.cert,
      ca: ours.cert,
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (socket) => {
      const behind = connectTcp(Number(port), host);
      socket.pipe(behind).pipe(socket);
      for (const [one, other] of [
        [socket, behind],
        [behind, socket],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
      }
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  good = {
    TEMPER_TEMPORAL_ADDRESS: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    TEMPER_TEMPORAL_NAMESPACE: temporalNamespace,
    TEMPER_TEMPORAL_TLS: false,
    TEMPER_TEMPORAL_TLS_CA: file('ca.pem', ours.cert),
    TEMPER_TEMPORAL_TLS_CERT: file('own.pem', own.cert),
    TEMPER_TEMPORAL_TLS_KEY: file('own.key', own.private),
    TEMPER_TEMPORAL_TLS_SERVER_NAME: serverName,
  };
});
afterEach(endAll);
afterAll(async () => {
  server?.close();
  await database?.drop();
  rmSync(dir, { recursive: true, force: true });
});

const asText = (): Record<string, string> =>
  Object.fromEntries(Object.entries(good).map(([name, value]) => [name, String(value)]));

/** Asks as the API does, and as the workers do. */
const ways = {
  async client(settings: TemporalSettings) {
    const { client, close } = lazyClient(settings);
    try {
      const within = Date.now() + 15_000;
      await client.connection.withDeadline(within, () => client.workflowService.getSystemInfo({}));
    } finally {
      await close();
    }
  },
  async worker(settings: TemporalSettings) {
    await (await workerConnection(settings)).close();
  },
};

test.each(Object.keys(ways) as (keyof typeof ways)[])('a %s proves itself by its certificate', (way) =>
  expect(ways[way](good)).resolves.toBeUndefined(),
);

// A client tries on until its time is over: the three wait for theirs together.
test.concurrent.each([
  ['no certificate of its own', { TEMPER_TEMPORAL_TLS_CERT: undefined, TEMPER_TEMPORAL_TLS_KEY: undefined }],
  ['a server that the system’s authorities do not know', { TEMPER_TEMPORAL_TLS_CA: undefined }],
  ['a server of another name', { TEMPER_TEMPORAL_TLS_SERVER_NAME: 'other.example.org' }],
])('with %s neither connects', async (_, over) => {
  await Promise.all(Object.values(ways).map((way) => expect(way({ ...good, ...over })).rejects.toThrow()));
});

test('migrate registers its search attributes there', async () => {
  const { status, out, err } = await run('migrate', { ...asText(), TEMPER_DATABASE_URL: database.ownerUrl });
  expect([status, err]).toEqual([0, '']);
  expect(out).toContain('"migrated"');
});

test('doctor looks there', async () => {
  const found = checksOf(asText()).find(({ name }) => name === 'Temporal')!;
  expect(await found.find()).toMatchObject({ is: 'ok' });
});

/** The boot service and notifications read the store and nothing of Temporal; the console reads the API alone. */
const without: readonly string[] = ['boot', 'console', 'notifications'];

test('every process that connects reads the settings, and no other', () => {
  for (const [process, { shape }] of Object.entries(processes))
    expect([process, Object.keys(good).filter((name) => !Object.hasOwn(shape, name))]).toEqual([
      process,
      without.includes(process) ? Object.keys(good) : [],
    ]);
});

test.each([
  ['TEMPER_TEMPORAL_TLS_KEY', { TEMPER_TEMPORAL_TLS_KEY: undefined }, 'TEMPER_TEMPORAL_TLS_KEY: is not set'],
  ['TEMPER_TEMPORAL_TLS_CERT', { TEMPER_TEMPORAL_TLS_CERT: undefined }, 'TEMPER_TEMPORAL_TLS_CERT: is not set'],
  [
    'a file',
    { TEMPER_TEMPORAL_TLS_CA: '/nowhere/ca.pem' },
    'TEMPER_TEMPORAL_TLS_CA: /nowhere/ca.pem could not be read (ENOENT).',
  ],
])('%s that is missing is named', (_, over, says) => {
  expect(() => connectionOptions({ ...good, ...over })).toThrow(says);
});

test('without any of them nothing is encrypted, and any of them implies it', () => {
  const address = { TEMPER_TEMPORAL_ADDRESS: 'a:1', TEMPER_TEMPORAL_NAMESPACE: 'n', TEMPER_TEMPORAL_TLS: false };
  expect(connectionOptions(address)).toEqual({ address: 'a:1' });
  expect(connectionOptions({ ...address, TEMPER_TEMPORAL_API_KEY: 'k' })).toEqual({
    address: 'a:1',
    apiKey: 'k',
    tls: {},
  });
  expect(connectionOptions({ ...address, TEMPER_TEMPORAL_TLS_SERVER_NAME: 'b' })).toMatchObject({
    tls: { serverNameOverride: 'b' },
  });
});
