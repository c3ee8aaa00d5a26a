/** The owner of the database that docs/operations.md makes, who is no superuser, brings a new cluster to the newest schema. */
import { migrate, migrationFiles } from '../../src/inventory/migrate';
import { type OwnedPostgres, passwords, startOwnedPostgres } from '../support/owned-postgres';

let cluster: OwnedPostgres;
let owner: OwnedPostgres['owner'];
beforeAll(async () => {
  cluster = await startOwnedPostgres();
  ({ owner } = cluster);
});
afterAll(() => cluster?.close());

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
