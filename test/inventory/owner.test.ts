/** The owner of the database that docs/operations.md makes, who is no superuser, brings a new cluster to the newest schema. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type Sql } from '../../src/inventory/database';
import { migrate, migrationFiles } from '../../src/inventory/migrate';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres';

let cluster: OwnPostgres;
let owner: Sql;
beforeAll(async () => {
  cluster = await startOwnPostgres();
  const page = readFileSync(join(__dirname, '../../docs/operations.md'), 'utf8');
  const said = /```sql\n(create role temper_owner [^`]*)```/.exec(page)![1]!.replace("'...'", "'own'");
  const sql = connect(cluster.url, { max: 1 });
  for (const statement of said.split(';').filter((text) => text.trim())) await sql.unsafe(statement);
  await sql.end();
  const url = Object.assign(new URL(cluster.url), { username: 'temper_owner', password: 'own', pathname: '/temper' });
  owner = connect(url.href, { max: 1 });
});
afterAll(async () => {
  await owner.end();
  await cluster.close();
});

const passwords = { temper_api: 'a', temper_control: 'c', temper_bmc: 'b', temper_boot: 'o' };

test('it migrates, and again with other passwords', async () => {
  expect(await owner`select rolsuper from pg_roles where rolname = current_user`).toEqual([{ rolsuper: false }]);
  expect(await migrate(owner, passwords)).toEqual(migrationFiles());
  expect(await migrate(owner, { ...passwords, temper_api: 'another' }, { auditMinimumMonths: 12 })).toEqual([]);
});

test('what was let go of history in a transaction leaves the rest of it as protected as before', async () => {
  await owner`insert into events (kind, at, data) values ('node.moved', now() - interval '90 months', '{}'), ('node.moved', now(), '{}')`;
  await owner.begin(async (tx) => {
    await tx`update event_cursor set (tx, seq) = (select tx, seq from events order by tx desc, seq desc limit 1)`;
    const [gone] = await tx`select forgotten from forget_events(24, 0, 10)`;
    expect(gone).toEqual({ forgotten: 1 });
    await expect(tx.savepoint((inner) => inner`delete from events`)).rejects.toThrow('append-only');
  });
  expect(await owner`select count(*)::int as left from events`).toEqual([{ left: 1 }]);
});
