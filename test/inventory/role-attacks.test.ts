/** Each process's role tries on a real PostgreSQL to become more than it is, or to reach beyond Temper's tables. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect, type Sql } from '../../src/inventory/database';
import { openRights } from '../../src/inventory/database-rights';
import { migrate } from '../../src/inventory/migrate';
import {
  type OwnedPostgres,
  passwords,
  type Role,
  saidStatements,
  startOwnedPostgres,
} from '../support/owned-postgres';

const roles = Object.keys(passwords) as Role[];

let cluster: OwnedPostgres;
beforeAll(async () => {
  // As an administrator makes it who leaves the last line out, on a server with other people's databases.
  const made = saidStatements().filter((statement) => !statement.includes('revoke'));
  cluster = await startOwnedPostgres([...made, 'create database "Other people\'s"']);
  await migrate(cluster.owner, passwords);
});
afterAll(() => cluster?.close());

/** @returns the refusal of the statement, which is rolled back */
const refusal = async (role: Role, statement: string, database = 'temper'): Promise<string> => {
  const sql = connect(cluster.urlOf(role, passwords[role], database), { max: 1 });
  const through = new Error('went through');
  try {
    return await sql
      .begin(async (tx) => {
        await tx.unsafe(statement);
        throw through;
      })
      .catch((error: Error) => error.message);
  } finally {
    await sql.end();
  }
};

const rightsOfOthers = ['set role temper_owner', 'set role postgres', 'set session authorization postgres'];
const ownObjects = [
  'create temporary table nodes (a int)',
  'create domain pg_temp.text as pg_catalog.text',
  `create function pg_temp.f() returns int language sql as 'select 1'`,
  'create cast (text as uuid) with inout as implicit',
  'create operator public.+ (leftarg = text, rightarg = text, function = textcat)',
  'create table public.own (a int)',
  'create schema own',
  'create extension dblink',
];
const ownersObjects = [
  'alter table audit disable trigger all',
  'create trigger own before insert on nodes for each row execute function note_work()',
  'create rule own as on insert to nodes do nothing',
  'alter table nodes alter column name set default pg_read_file(name)',
  'create or replace function keyed(document jsonb) returns jsonb language sql as $$ select 1 $$',
  'alter function forget_events set search_path = pg_temp',
  'truncate audit',
  'set session_replication_role = replica',
  `select setval('audit_seq', 1)`,
];
const files = [
  `select pg_read_file('/etc/hostname')`,
  `select pg_ls_dir('.')`,
  `select lo_import('/etc/hostname')`,
  `copy (select 1) to program 'true'`,
  `copy events from '/etc/hostname'`,
  'select * from pg_authid',
];

test.each(roles)('%s is refused all that would make it more than it is', async (role) => {
  for (const statement of [...rightsOfOthers, ...ownObjects, ...ownersObjects, ...files]) {
    const said = await refusal(role, statement);
    expect({ statement, said }).toEqual({ statement, said: expect.stringMatching(/^permission denied|must be owner/) });
  }
});

/** As the administrator of the server types it. */
const typed = async (administrator: Sql): Promise<void> => {
  for (const { statement } of await openRights(administrator)) await administrator.unsafe(statement);
};

test('the command warns of each right that it cannot take, with the statement that does', async () => {
  const program = join(__dirname, '../../dist/bin/migrate.js');
  const env = { ...process.env, TEMPER_DATABASE_URL: cluster.urlOf('temper_owner', 'own') };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  const warned = stdout.split('\n').flatMap((line) => (line.includes('statement') ? [JSON.parse(line).statement] : []));
  expect(warned).toEqual([
    'revoke connect, temporary on database "Other people\'s", postgres, template1 from public',
    'revoke execute on function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) from public',
  ]);
});

test('what the owner cannot take from the roles is found, and the statement that is said takes it', async () => {
  const right = "to connect to the databases Other people's, postgres, template1";
  expect(await openRights(cluster.owner)).toMatchObject([{ right }, { right: 'to make large objects' }]);
  const reach = async () => [
    ...(await Promise.all(roles.map((role) => refusal(role, 'select 1', 'postgres')))),
    ...(await Promise.all(roles.map((role) => refusal(role, 'select lo_create(0)')))),
  ];
  expect(new Set(await reach())).toEqual(new Set(['went through']));
  const administrator = connect(cluster.urlOf('postgres', 'owner'), { max: 1 });
  await typed(administrator);
  await administrator.end();
  expect(await openRights(cluster.owner)).toEqual([]);
  expect(new Set(await reach())).toEqual(
    new Set(['permission denied for database "postgres"', 'permission denied for function lo_create']),
  );
});

test('an owner who is a superuser takes large objects from the roles, and leaves other databases as they are', async () => {
  const functions = 'function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea)';
  await cluster.superuser.unsafe('create database second');
  const second = connect(cluster.urlOf('postgres', 'owner', 'second'), { max: 1 });
  await second.unsafe(`grant execute on ${functions} to public`);
  await migrate(second, passwords);
  expect(await openRights(second)).toEqual([
    {
      right: 'to connect to the databases temper',
      statement: 'revoke connect, temporary on database temper from public',
    },
  ]);
  await typed(second);
  expect(await openRights(second)).toEqual([]);
  expect(await refusal('temper_boot', 'select 1')).toBe('went through');
  await second.end();
});
