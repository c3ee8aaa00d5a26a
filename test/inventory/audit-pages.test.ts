/** Pages of the audit trail: joined they are the whole, over the borders of months, and a full page asks no older month. */
import { planWith } from '../../bench/plans/explain';
import type { Statement } from '../../bench/plans/statements';
import { createInventory, type Inventory } from '../../src/inventory';
import type { AuditEntry, AuditSelection } from '../../src/inventory/audit-list';
import { connect, type Sql } from '../../src/inventory/database';
import type { NodeUuid, RunUuid } from '../../src/model/ids';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let owner: Sql;
let reader: Sql;
let inventory: Inventory;
const sent: Statement[] = [];
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 1 });
  reader = connect(database.apiUrl, { max: 1 });
  reader.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  inventory = createInventory(reader);
});
afterAll(async () => {
  await inventory?.close();
  await owner?.end({ timeout: 5 });
  await database?.drop();
});

const uuidOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const node = uuidOf(3) as NodeUuid;
const run = uuidOf(1006) as RunUuid;

/** `n` of a row is its place among those of its month. */
const addMonth = async (ago: number, rows: number): Promise<void> => {
  await owner`select audit_make_month(audit_month(now()) - ${ago} * interval '1 month')`;
  // At both ends of a month several rows of one moment, and between them one each half hour.
  await owner`
    insert into audit (at, requester, action, verdict, resource, resource_id, node_uuid, project, run_id)
    select (audit_month(now()) - ${ago} * interval '1 month') at time zone 'UTC' + case when n < ${rows - 5}::int then greatest(n - 5, 0) * interval '30 minutes'
        else interval '27 days 12:34:56.123456' end,
      jsonb_build_object('user_id', 'u' || n % 3, 'project_id', case when n % 100 = 51 then 'rare' else 'p' || n % 4 end, 'request_id', 'req-' || n % 50),
      case when n % 2 = 0 then 'node.update' else 'run.clean' end, case when n % 7 = 0 then 'refused' else 'granted' end,
      'node', 'x', ('00000000-0000-4000-8000-' || lpad((n % 10 + case when n % 100 = 50 then 70 else 0 end)::text, 12, '0'))::uuid,
      case when n % 100 = 51 then 'rare' else 'p' || n % 5 end,
      case when n % 3 = 0 then ('00000000-0000-4000-8000-' || lpad((1000 + n % 15)::text, 12, '0'))::uuid end
    from generate_series(0, ${rows - 1}::int) n`;
};

const monthsAgo = (count: number, day: number): Date => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count, day));
};

type Filter = Omit<AuditSelection, 'limit' | 'after'>;
const filters: readonly [string, Filter][] = [
  ['nothing', {}],
  ['a node', { node }],
  ['a project, which owned or asked', { project: 'p1' }],
  ['a project and a verdict', { project: 'p1', verdict: 'refused' }],
  ['a run', { run }],
  ['a user', { user: 'u1' }],
  ['an action', { action: 'run.clean' }],
  ['a verdict', { verdict: 'refused' }],
  ['a request', { request: 'req-11' }],
  ['times', { since: monthsAgo(3, 2), until: monthsAgo(1, 28) }],
  ['times of one month, and a node', { since: monthsAgo(2, 1), until: monthsAgo(1, 1), node }],
];

/** What a filter means, said once more. */
const isWanted = (row: AuditEntry, { node, project, run, user, action, verdict, request, since, until }: Filter) =>
  (node === undefined || row.node_uuid === node) &&
  (project === undefined || row.project === project || row.requester.project_id === project) &&
  (run === undefined || row.run_id === run) &&
  (user === undefined || row.requester.user_id === user) &&
  (action === undefined || row.action === action) &&
  (verdict === undefined || row.verdict === verdict) &&
  (request === undefined || row.requester.request_id === request) &&
  (since === undefined || row.at >= since) &&
  (until === undefined || row.at < until);

const joined = async (filter: Filter, limit: number): Promise<number[]> => {
  const seqs: number[] = [];
  for (;;) {
    const last = seqs.at(-1);
    const after = last === undefined ? undefined : await inventory.auditList.placeOf(last);
    const page = await inventory.auditList.page({ ...filter, limit, ...(after && { after }) });
    seqs.push(...page.map(({ seq }) => seq));
    if (page.length < limit) return seqs;
  }
};

describe('four months', () => {
  let whole: AuditEntry[];
  beforeAll(async () => {
    // The oldest in the middle: numbers need not follow the months, as after a clock that went back, or a long transaction.
    for (const ago of [3, 1, 4, 2]) await addMonth(ago, 120);
    await owner`
      insert into audit (at, requester, action, resource, resource_id, project)
      select (audit_month(now()) - interval '1 month') at time zone 'UTC' - (n % 2) * interval '1 microsecond', '{}', 'x', 'x', 'x', 'p1'
      from generate_series(1, 6) n`;
    await owner`vacuum analyze audit`;
    whole = await owner<AuditEntry[]>`select *, at::text as moment from audit order by at desc, seq desc`;
  });

  test.each(filters)('pages by %s, joined, are the whole', async (_name, filter) => {
    const wanted = whole.filter((row) => isWanted(row, filter)).map(({ seq }) => seq);
    expect(wanted.length).toBeGreaterThan(5);
    for (const limit of [3, 7, 100]) expect(await joined(filter, limit)).toEqual(wanted);
  });

  test('the place of a row is exact, and there is none of another number', async () => {
    const [row] = whole as unknown as { seq: number; moment: string }[];
    expect(await inventory.auditList.placeOf(row!.seq)).toEqual({ seq: row!.seq, at: row!.moment });
    expect(await inventory.auditList.placeOf(999_999)).toBeUndefined();
  });
});

describe('months that are kept beside the newest', () => {
  const rows = 1_000;
  const kept: readonly [string, Filter][] = [
    ...filters.filter(([name]) => !name.startsWith('times')),
    ['a node with one row of a hundred', { node: uuidOf(70) as NodeUuid }],
    ['a project with one row of a hundred', { project: 'rare' }],
  ];
  const limit = 4;
  /** Of the first page and of one that follows it. */
  const pagesOf = async (filter: Filter): Promise<number> => {
    const [place] = await inventory.auditList.page({ ...filter, limit: 1 });
    const after = await inventory.auditList.placeOf(place!.seq);
    sent.length = 0;
    await inventory.auditList.placeOf(place!.seq);
    for (const from of [undefined, after])
      expect(await inventory.auditList.page({ ...filter, limit, ...(from && { after: from }) })).toHaveLength(limit);
    let pages = 0;
    for (const statement of sent.filter(({ text }) => / audit /.test(text)))
      pages += (await planWith(owner, statement)).pages;
    return pages;
  };
  const counted = async (): Promise<Record<string, number>> => {
    await owner`vacuum analyze audit`;
    const counts: Record<string, number> = {};
    for (const [name, filter] of kept) counts[name] = await pagesOf(filter);
    return counts;
  };

  test('are not asked while the page is full', async () => {
    await addMonth(0, rows);
    for (const ago of [1, 2]) await addMonth(ago, rows);
    const first = await counted();
    for (let ago = 3; ago < 20; ago++) await addMonth(ago, rows);
    const later = await counted();
    // A text is an ID or a name: the index of the other is looked into once a month, on both pages.
    const looks = (name: string): number => (name === 'a user' ? 2 * 4 * 17 : 0);
    const more = Object.entries(later).filter(([name, pages]) => pages > first[name]! + 8 + looks(name));
    expect(more).toEqual([]);
  });
});
