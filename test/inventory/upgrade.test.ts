/** A database of an older release gets the migrations that it lacks, each once and in order, and keeps its rows. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Sql } from '../../src/inventory/database';
import { migrate } from '../../src/inventory/migrate';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: Sql;
let folder: string;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.ownerUrl, { max: 2 });
  folder = mkdtempSync(join(tmpdir(), 'upgrade-'));
  cpSync(join(__dirname, '../../src/inventory/migrations'), folder, { recursive: true });
});
afterAll(async () => {
  await sql?.end({ timeout: 5 });
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const release = (files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};
const upgrade = () => migrate(sql, {}, { folder });
const applied = async () =>
  (await sql`select name from migrations where name > '9' order by name`).map(({ name }) => name as string);

test('an upgrade applies what is missing to the rows that are there, and a second one finds nothing to do', async () => {
  release({ '9001-racks.sql': 'create table racks (name text primary key, units text not null);' });
  expect(await upgrade()).toEqual(['9001-racks.sql']);
  await sql`insert into racks values ('a', '42'), ('b', '48')`;
  release({
    '9003-heights.sql': 'update racks set height = units::int; alter table racks drop column units;',
    '9002-height.sql': 'alter table racks add column height int;',
  });
  // Two processes at once: the second waits for the lock, and then lacks nothing.
  expect((await Promise.all([upgrade(), upgrade()])).sort()).toEqual([[], ['9002-height.sql', '9003-heights.sql']]);
  expect(await sql`select * from racks order by name`).toEqual([
    { name: 'a', height: 42 },
    { name: 'b', height: 48 },
  ]);
  expect(await upgrade()).toEqual([]);
});

test('an upgrade that fails at its last file leaves the database as it was', async () => {
  const before = await applied();
  release({ '9004-doors.sql': 'create table doors (name text);', '9005-faulty.sql': 'alter table no_such add x int;' });
  await expect(upgrade()).rejects.toThrow('no_such');
  expect(await applied()).toEqual(before);
  expect(await sql`select to_regclass('doors') as doors`).toEqual([{ doors: null }]);
});
