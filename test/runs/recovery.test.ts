/** A restore of the database or of the engine is noticed, and holds everything back until an administrator ends it. */
import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import postgres from 'postgres';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect } from '../../src/inventory/database';
import { restored } from '../../src/model/runs/recovery';
import { ensureMarkHolder as makeMarkHolder } from '../../src/process/temporal/temporal';
import { detectRestore } from '../../src/runs/marks';
import { upkeepOnce } from '../../src/runs/upkeep';
import { type OwnTemporal, startOwnTemporal } from '../support/own-temporal';
import { type TestDatabase, temporalAddress, temporalNamespace, testDatabase } from '../support/servers';

const quiet = { info() {}, warn() {} };
const databases: TestDatabase[] = [];
let temporal: OwnTemporal;
beforeAll(async () => {
  temporal = await startOwnTemporal();
});
afterAll(async () => {
  await temporal?.close();
  await Promise.all(databases.map((one) => one.drop()));
});

const named = (url: string, name: string): string => Object.assign(new URL(url), { pathname: `/${name}` }).href;

/** A database, and one with the same content under another name: what a restore of a dump in the same cluster makes. */
const made = async (): Promise<TestDatabase> => {
  const database = await testDatabase();
  databases.push(database);
  return database;
};
const copyOf = async (from: TestDatabase): Promise<TestDatabase> => {
  const [source, name] = [new URL(from.ownerUrl).pathname.slice(1), `test_${randomUUID().slice(0, 8)}`];
  const sql = postgres(named(from.ownerUrl, 'postgres'), { max: 1, onnotice: () => {} });
  await sql.unsafe(`create database "${name}" template "${source}"`);
  await sql.end();
  const drop = async () => {
    const again = postgres(named(from.ownerUrl, 'postgres'), { max: 1, onnotice: () => {} });
    await again.unsafe(`drop database if exists "${name}" with (force)`);
    await again.end();
  };
  const copy: TestDatabase = {
    ownerUrl: named(from.ownerUrl, name),
    apiUrl: named(from.apiUrl, name),
    controlUrl: named(from.controlUrl, name),
    bmcUrl: named(from.bmcUrl, name),
    bootUrl: named(from.bootUrl, name),
    notificationsUrl: named(from.notificationsUrl, name),
    drop,
  };
  databases.push(copy);
  return copy;
};

/** As a control worker has it: store and engine, and a schedule that starts nothing meanwhile. */
const within = async <T>(database: TestDatabase, prefix: string, work: (deps: Deps) => Promise<T>): Promise<T> => {
  const connection = await Connection.connect({ address: temporalAddress() });
  const client = new Client({ connection, namespace: temporalNamespace });
  const inventory = createInventory(connect(database.controlUrl, { max: 2 }));
  const ensureMarkHolder = () => makeMarkHolder(client, prefix);
  try {
    return await work({ inventory, client, log: quiet, queuePrefix: prefix, ensureMarkHolder });
  } finally {
    await inventory.close();
    await connection.close();
  }
};
type Deps = Parameters<typeof upkeepOnce>[0];
const held = async ({ inventory }: { inventory: Inventory }) => (await inventory.recovery.current())?.side;

test('a database that is older than the engine is noticed; work goes on after the recovery was ended', async () => {
  const prefix = `test-${randomUUID().slice(0, 8)}`;
  const database = await made();
  await within(database, prefix, async (deps) => {
    await deps.ensureMarkHolder();
    expect(await detectRestore(deps, true)).toBe(true);
    expect(await detectRestore(deps, true)).toBe(true);
  });
  const backup = await copyOf(database);
  await within(database, prefix, async (deps) => {
    for (let pass = 0; pass < 3; pass++) expect(await detectRestore(deps, true)).toBe(true);
  });
  await within(backup, prefix, async (deps) => {
    expect(await detectRestore(deps, true)).toBe(false);
    expect(await held(deps)).toBe('store');
    // A pass of upkeep neither ends a workflow nor moves a mark.
    const before = await deps.inventory.recovery.mark();
    expect(await upkeepOnce(deps)).toBe(true);
    expect(await deps.inventory.recovery.mark()).toEqual(before);
    const api = createInventory(connect(backup.apiUrl, { max: 1 }));
    expect(await api.recovery.leave()).toBe(true);
    expect(await api.recovery.leave()).toBe(false);
    await api.close();
    expect(await detectRestore(deps, true)).toBe(true);
    expect(await detectRestore(deps, true)).toBe(true);
    expect(await held(deps)).toBeUndefined();
  });
});

test('a backup that is younger than the marks is held back where the operator says that it was restored', async () => {
  const prefix = `test-${randomUUID().slice(0, 8)}`;
  const database = await made();
  await within(database, prefix, async (deps) => {
    await deps.ensureMarkHolder();
    expect(await detectRestore(deps, true)).toBe(true);
  });
  const backup = await copyOf(database);
  // No mark has moved since, so nothing shows by itself.
  await within(backup, prefix, async (deps) => {
    expect(await detectRestore(deps, false)).toBe(true);
    const owner = connect(backup.ownerUrl, { max: 1 });
    expect(await createInventory(owner).recovery.enter(restored('store'))).toBe(true);
    await owner.end();
    expect(await detectRestore(deps, true)).toBe(false);
    expect(await held(deps)).toBe('store');
  });
});

test('an engine that is older than the database is noticed, and one that has lost everything needs no operator', async () => {
  const prefix = `test-${randomUUID().slice(0, 8)}`;
  const database = await made();
  const twice = (deps: Deps) => detectRestore(deps, true).then(() => detectRestore(deps, true));
  await within(database, prefix, async (deps) => {
    await deps.ensureMarkHolder();
    expect(await twice(deps)).toBe(true);
  });
  await temporal.kill();
  const putBack = temporal.backUp();
  await temporal.start();
  await within(database, prefix, async (deps) => expect(await twice(deps)).toBe(true));
  await temporal.kill();
  putBack();
  await temporal.start();
  await within(database, prefix, async (deps) => {
    expect(await detectRestore(deps, false)).toBe(false);
    expect(await held(deps)).toBe('engine');
    const api = createInventory(connect(database.apiUrl, { max: 1 }));
    await api.recovery.leave();
    await api.close();
    expect(await twice(deps)).toBe(true);
  });
  await temporal.kill();
  temporal.lose();
  await temporal.start();
  await within(database, prefix, async (deps) => {
    await deps.ensureMarkHolder();
    expect(await twice(deps)).toBe(true);
  });
});

test('a database in another cluster says so to every process, before anything was compared', async () => {
  const database = await made();
  const owner = connect(database.ownerUrl, { max: 1 });
  const urls = [database.apiUrl, database.controlUrl, database.bmcUrl];
  const all = urls.map((url) => createInventory(connect(url, { max: 1 })));
  await owner`update store_mark set system_id = '1', timeline = 1, count = 3, mark = gen_random_uuid()`;
  for (const inventory of all) expect(await held({ inventory })).toBe('store');
  await owner`update store_mark set system_id = null`;
  for (const inventory of all) expect(await held({ inventory })).toBeUndefined();
  await Promise.all([owner.end(), ...all.map((inventory) => inventory.close())]);
});
