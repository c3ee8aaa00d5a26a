/** The months of the audit trail: made ahead, dropped when they are old, never changed. */
import { audit } from '../../src/inventory/audit';
import { connect, type Sql } from '../../src/inventory/database';
import { migrate } from '../../src/inventory/migrate';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.ownerUrl, { max: 2 });
});
afterAll(async () => {
  await sql?.end({ timeout: 5 });
  await database?.drop();
});

const months = async (): Promise<string[]> =>
  (await sql`select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass`).map(
    ({ name }) => name as string,
  );

const ago = (count: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, 15));
};
const monthOf = (date: Date) => `audit_${date.toISOString().slice(0, 7).replace('-', '_')}`;

const oldRow = async (at: Date): Promise<void> => {
  await sql`select audit_make_month(date_trunc('month', ${at}::timestamptz at time zone 'UTC'))`;
  await sql`insert into audit (at, requester, action, resource, resource_id) values (${at}, '{}', 'old', 'x', 'x')`;
};

const as = async <T>(url: string, work: (trail: ReturnType<typeof audit>) => Promise<T>): Promise<T> => {
  const own = connect(url, { max: 1 });
  try {
    return await work(audit(own));
  } finally {
    await own.end({ timeout: 5 });
  }
};

test('months are there for half a year ahead', async () => {
  const there = await months();
  for (const ahead of [0, 1, 6]) expect(there).toContain(monthOf(ago(-ahead)));
});

test('a backup that is older than the months ahead is written to once it is migrated', async () => {
  for (const ahead of [0, 1, 2, 3, 4, 5, 6]) await sql`drop table ${sql(monthOf(ago(-ahead)))}`;
  const insert = () => sql`insert into audit (requester, action, resource, resource_id) values ('{}', 'new', 'x', 'x')`;
  await expect(insert()).rejects.toThrow('no partition');
  await migrate(sql, {});
  await insert();
  for (const ahead of [0, 1, 6]) expect(await months()).toContain(monthOf(ago(-ahead)));
});

/** As migrate does for the owner of the database. */
const keepAtLeast = (count: number) => sql`update audit_minimum set months = ${count}`;

test('the role of control workers drops nothing that the owner of the database wants kept', async () => {
  await oldRow(ago(23));
  await oldRow(ago(30));
  await as(database.controlUrl, async (trail) => {
    await keepAtLeast(0);
    expect(await trail.keep(1)).toBe(0);
    await keepAtLeast(24);
    expect(await trail.keep(1)).toBe(1);
  });
  expect(await months()).toContain(monthOf(ago(23)));
  const control = connect(database.controlUrl, { max: 1 });
  try {
    for (const statement of [
      'update audit_minimum set months = 1',
      'delete from audit_minimum',
      'insert into audit_minimum (single, months) values (true, 1)',
      `drop table ${monthOf(ago(23))}`,
      `alter table audit detach partition ${monthOf(ago(23))}`,
    ])
      await expect(control.unsafe(statement)).rejects.toThrow(/permission denied|must be owner/);
  } finally {
    await control.end({ timeout: 5 });
  }
});

test('migrate sets how much is kept at least, leaves it as it is otherwise, and writes a row when it changes', async () => {
  const stored = async () => (await sql`select months from audit_minimum`)[0]!.months;
  const none = { temper_api: undefined, temper_control: undefined, temper_bmc: undefined };
  await migrate(sql, none, { auditMinimumMonths: 36 });
  await migrate(sql, none, { auditMinimumMonths: 36 });
  await migrate(sql, none);
  expect(await stored()).toBe(36);
  expect(await sql`select data from audit where action = 'audit.minimum'`).toEqual([{ data: { from: 24, to: 36 } }]);
});

test('months go when they lie further back than is kept, and those that are missing are made', async () => {
  await keepAtLeast(1);
  await as(database.controlUrl, (trail) => trail.keep(12));
  await oldRow(ago(3));
  await oldRow(ago(4));
  await sql.unsafe(`drop table ${monthOf(ago(-6))}`);
  await as(database.controlUrl, async (trail) => {
    expect(await trail.keep(0)).toBe(0);
    expect(await trail.keep(3)).toBe(1);
    expect(await trail.keep(3)).toBe(0);
  });
  const there = await months();
  expect(there).toContain(monthOf(ago(3)));
  expect(there).toContain(monthOf(ago(-6)));
  expect(there).not.toContain(monthOf(ago(4)));
});

test.each(['apiUrl', 'bmcUrl'] as const)('the role of %s makes and drops none', (url) =>
  expect(as(database[url], (trail) => trail.keep(1))).rejects.toThrow('permission denied'),
);

test.each(['apiUrl', 'controlUrl', 'bmcUrl'] as const)('the role of %s writes rows', (url) =>
  as(database[url], (trail) =>
    trail.write({
      requester: {
        user_id: null,
        user_name: null,
        project_id: null,
        system_scope: null,
        strategy: 'x',
        request_id: url,
      },
      action: 'node.x',
      rule: null,
      rule_set: null,
      resource: 'node',
      resource_id: '5a4e4a0e-4d0e-4cf5-8f3d-0d2a0f6d7a11',
    }),
  ),
);

test('rows are never changed, in the months as little as in the whole', async () => {
  for (const table of ['audit', monthOf(ago(0))])
    for (const change of [`update ${table} set action = 'x'`, `delete from ${table}`, `truncate ${table}`])
      await expect(sql.unsafe(change)).rejects.toThrow('append-only');
});
