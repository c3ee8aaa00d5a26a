/** A process whose release is newer than its database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../demo/nodes';
import { createInventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { migrationFiles } from '../../src/inventory/migrate';
import { schemaCheck } from '../../src/process/schema';
import { type Env, endAll, good, start } from '../bin/support/entries';
import {
  type TestDatabase,
  temporalAddress,
  temporalNamespace,
  testDatabase,
  workflowBundle,
} from '../support/servers';

test('it is not ready while the database lacks a migration, and looks no more once it has all', async () => {
  const database = await testDatabase();
  const sql = connect(database.ownerUrl, { max: 1 });
  const inventory = createInventory(connect(database.apiUrl, { max: 1 }));
  const missingMigrations = jest.fn(inventory.missingMigrations);
  const check = schemaCheck({ missingMigrations });
  const newest = migrationFiles().at(-1)!;
  try {
    await sql`delete from migrations where name = ${newest}`;
    await expect(check()).rejects.toThrow(`the database lacks ${newest}: run migrate of this release`);
    await sql`insert into migrations (name) values (${newest}), ('9999-of-a-newer-release.sql')`;
    await check();
    await check();
    expect(missingMigrations).toHaveBeenCalledTimes(2);
  } finally {
    await inventory.close();
    await sql.end({ timeout: 5 });
    await database.drop();
  }
});

const engine = () => ({
  TEMPER_TEMPORAL_ADDRESS: temporalAddress(),
  TEMPER_TEMPORAL_NAMESPACE: temporalNamespace,
  TEMPER_QUEUE_PREFIX: `schema-${process.pid}`,
});

const programs: readonly (readonly [command: string, env: (database: TestDatabase, dir: string) => Env])[] = [
  ['api', ({ apiUrl }) => ({ ...good.api, ...engine(), TEMPER_DATABASE_URL: apiUrl })],
  [
    'worker control',
    ({ controlUrl }) => ({
      ...good.control,
      ...engine(),
      TEMPER_DATABASE_URL: controlUrl,
      TEMPER_WORKFLOW_BUNDLE: workflowBundle(),
    }),
  ],
  ['worker bmc', ({ bmcUrl }) => ({ ...good.bmc, ...engine(), TEMPER_DATABASE_URL: bmcUrl })],
  ['boot', ({ bootUrl }, dir) => ({ ...good.boot, TEMPER_BOOT_DIR: dir, TEMPER_DATABASE_URL: bootUrl })],
];

test.each(programs)('%s is not ready before the database has its schema, and is then', async (command, env) => {
  const dir = mkdtempSync(join(tmpdir(), 'schema-check-'));
  const database = await testDatabase();
  const sql = connect(database.ownerUrl, { max: 1 });
  const newest = migrationFiles().at(-1)!;
  try {
    await sql`delete from migrations where name = ${newest}`;
    const entry = start(command, { ...env(database, dir), TEMPER_HEALTH_PORT: '0' });
    const { port } = JSON.parse(await entry.says('"message":"health"')) as { port: number };
    await entry.says('"message":"ready"');
    const look = async () => {
      const reply = await fetch(`http://127.0.0.1:${port}/readyz`);
      return { status: reply.status, body: await reply.json() };
    };
    const reason = expect.stringContaining(`the database lacks ${newest}`);
    expect(await look()).toEqual({ status: 503, body: { ready: false, reason } });
    await sql`insert into migrations (name) values (${newest})`;
    await until('it to be ready', 60_000, async () => (await look()).status === 200 || undefined);
  } finally {
    await endAll();
    await sql.end({ timeout: 5 });
    await database.drop();
    rmSync(dir, { recursive: true, force: true });
  }
});
