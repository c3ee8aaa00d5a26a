/** Pages of history and of runs after a year and a half: as few pages of the store as after a month, also while old months go. */
import { planWith } from '../../bench/plans/explain';
import type { Statement } from '../../bench/plans/statements';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { NodeUuid } from '../../src/model/ids';
import { forgetHistory } from '../../src/runs/retention';
import { type TestDatabase, testDatabase } from '../support/servers';

const nodes = 200;
/** What a node leaves behind in a month: each run has five events and four steps. */
const runsAMonth = 4;
const months = 18;
const keptMonths = 3;

let database: TestDatabase;
let sql: Sql;
let control: Inventory;
const sent: Statement[] = [];
let reader: Sql;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.ownerUrl, { max: 1 });
  reader = connect(database.apiUrl, { max: 1 });
  reader.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  control = createInventory(connect(database.controlUrl, { max: 1 }));
});
afterAll(async () => {
  await control?.close();
  await reader?.end({ timeout: 5 });
  await sql?.end({ timeout: 5 });
  await database?.drop();
});

/** The first node; all are made by their number, so that what a page shows is the same in each run. */
const node = '00000000-0000-4000-8000-000000000001' as NodeUuid;
const uuidOf = (number: ReturnType<typeof sql>) =>
  sql`('00000000-0000-4000-8000-' || lpad(${number}::text, 12, '0'))::uuid`;

const month = async (ago: number): Promise<void> => {
  await sql.begin(async (tx) => {
    // Triggers would look once for a watcher of each event.
    await tx`set local session_replication_role = replica`;
    await tx`
      create temp table made on commit drop as
      select gen_random_uuid() as id, ${uuidOf(sql`n`)} as node,
        date_trunc('month', now()) - ${ago} * interval '1 month' + round * interval '5 days' + n * interval '1 second' as at
      from generate_series(1, ${runsAMonth}) round, generate_series(1, ${nodes}) n order by round, n`;
    await tx`
      insert into runs (id, node_uuid, fence, kind, verb, state, input, requester, rule_set, workflow_id, created_at, finished_at)
      select id, node, 1, 'clean', 'clean', 'succeeded', '{}', '{}', 'x', id::text, at, at + interval '1 hour' from made`;
    await tx`
      insert into run_steps (run_id, index, interface, step, state)
      select id, index, 'deploy', 'erase_devices', 'done' from made, generate_series(0, 3) index`;
    await tx`
      insert into events (at, kind, node_uuid, run_id, data)
      select at, 'run.succeeded', node, id, '{"from": "cleaning", "to": "available"}'
      from generate_series(1, 5) number, made order by at, number`;
  });
  await sql`vacuum analyze events`;
  await sql`vacuum analyze runs`;
  await sql`vacuum analyze run_steps`;
};

const pagesOf = async (read: (inventory: Inventory) => Promise<readonly unknown[]>): Promise<number> => {
  sent.length = 0;
  expect(await read(createInventory(reader))).toHaveLength(20);
  const statement = sent.findLast(({ text }) => /\b(events|runs)\b/.test(text))!;
  return (await planWith(sql, statement)).pages;
};

const seen = { is: 'true' } as const;
const pages = async () => ({
  history: await pagesOf(({ history }) => history.ofNode(node, { limit: 20, sort_dir: 'desc' })),
  runs: await pagesOf(({ runList }) => runList.page({ visible: seen, states: ['succeeded'], limit: 20 })),
});

const bytes = async (): Promise<number> => {
  const [row] = await sql<{ bytes: string }[]>`
    select sum(pg_total_relation_size(name::regclass)) as bytes from unnest(array['events', 'runs', 'run_steps']) name`;
  return Number(row!.bytes);
};

test('a year and a half of history costs a page no more than a month does, and with a retention the store stops growing', async () => {
  await sql`insert into nodes (uuid, driver) select ${uuidOf(sql`n`)}, 'fake-hardware' from generate_series(1, ${nodes}) n`;
  await sql`update event_cursor set tx = '9000000000000000'`;
  const log = { info: () => {}, warn: (text: string) => expect(text).toBe('') };
  await month(months);
  const first = await pages();
  for (let ago = months - 1; ago >= 0; ago--) await month(ago);
  const later = await pages();
  const whole = await bytes();
  // A tree is one level higher at most, and PostgreSQL may plan the small tables otherwise. With one index for each month, the pages
  // would be as many times more as there are months.
  expect(later.history).toBeLessThanOrEqual(first.history * 3);
  expect(later.runs).toBeLessThanOrEqual(first.runs * 3);

  const [before] = await sql<{ at: Date }[]>`select history_before(${keptMonths}) as at`;
  for (let pass = 0; pass < 4; pass++)
    await forgetHistory({ inventory: control, log: log as never, historyMonths: keptMonths });
  // The month may end while this runs: what lies one month above the boundary stays in any case.
  const rows = nodes * runsAMonth;
  for (const [table, at, each] of [
    ['events', 'at', 5],
    ['runs', 'created_at', 1],
  ] as const) {
    const [left] = await sql<{ old: number; new: number }[]>`
      select count(*) filter (where ${sql(at)} < ${before!.at})::int as old,
        count(*) filter (where ${sql(at)} >= ${before!.at}::timestamptz + interval '1 month')::int as new from ${sql(table)}`;
    expect(left).toEqual({ old: 0, new: keptMonths * rows * each });
  }
  // What is made after a vacuum takes the place of what was deleted.
  for (const table of ['events', 'runs', 'run_steps']) await sql.unsafe(`vacuum ${table}`);
  for (let count = 0; count < 8; count++) await month(0);
  expect(await bytes()).toBeLessThanOrEqual(whole * 1.25);
  const last = await pages();
  expect(last.history).toBeLessThanOrEqual(first.history * 2);
});
