/** Pages of events: joined they are what the caller may see of the whole, and what a tenant's cost does not grow with what others do. */
import { planWith } from '../../bench/plans/explain';
import type { Statement } from '../../bench/plans/statements';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { EventSelection, SeenEvent } from '../../src/inventory/event-pages';
import { always, and, matches, never, or, type Predicate } from '../../src/model/predicates';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let owner: Sql;
let inventory: Inventory;
const sent: Statement[] = [];
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 1 });
  const reader = connect(database.apiUrl, { max: 1 });
  reader.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  inventory = createInventory(reader);
  await owner`select setseed(0.5)`;
  await owner`
    insert into nodes (uuid, name, driver, owner, lessee)
    select ${uuid('0', 'n')}, 'n' || n, 'fake-hardware', case when n % 3 = 0 then 'busy' else 'o' || n % 7 end, case when n % 5 = 2 then 'tenant' end
    from generate_series(1, 60) n`;
  await owner`
    insert into rollouts (id, project, state, verb, spec, summary, plan_hash, seed, requester, rule_set)
    select ${uuid('1', 'n')}, case n % 3 when 0 then 'tenant' when 1 then 'busy' end, 'succeeded', 'clean', '{}', '{}', '', '',
      jsonb_build_object('user_id', 'u' || n), 'temper'
    from generate_series(1, 6) n`;
  // What the plan says of a node need not be so any more.
  await owner`
    insert into rollout_targets (rollout, position, node_uuid, owner, lessee)
    select ${uuid('1', 'r')}, n, ${uuid('0', 'n')}, case when n % 2 = 0 then 'busy' else 'tenant' end, case when n % 4 = 1 then 'tenant' end
    from generate_series(1, 6) r, generate_series(1, 40) n`;
  await addEvents(4_000, 1);
  // The quiet ones did nothing lately.
  await addEvents(3_000, 3);
  await owner`vacuum analyze`;
});
afterAll(async () => {
  await inventory?.close();
  await owner?.end({ timeout: 5 });
  await database?.drop();
});

const uuid = (kind: string, number: string) =>
  owner`(${`${kind}0000000-0000-4000-8000-`}::text || lpad((${owner.unsafe(number)})::text, 12, '0'))::uuid`;

/** Of each so many-th node; some without a node, some of a rollout, some from before the lease began. */
const addEvents = (count: number, each: number) => owner`
  insert into events (at, kind, node_uuid, rollout_id, data)
  select case when random() < 0.3 then now() - interval '1 day' else now() + interval '1 second' end, case when random() < 0.5 then 'node.moved' else 'node.power' end,
    case when random() < 0.95 then ${uuid('0', `1 + ((random() * 59)::int / ${each}) * ${each}`)} end,
    case when random() < 0.2 then ${uuid('1', '1 + (random() * 5)::int')} end, '{}'
  from generate_series(1, ${count}::int)`;

const is = (column: string, value: string): Predicate => ({ is: 'equals', column, value });
const ofProject = (project: string, lessee: string): Predicate => or(is('now_owner', project), is(lessee, project));
const own = (project: string): Omit<EventSelection, 'limit'> => ({
  ofRuns: ofProject(project, 'tenant'),
  ofNodes: ofProject(project, 'tenant'),
  ofRollouts: is('rollout_project', project),
  ofTargets: and(or(is('target_owner', project), is('target_lessee', project)), ofProject(project, 'now_lessee')),
});
const everything = { ofRuns: always, ofNodes: always, ofRollouts: always, ofTargets: always };

const callers: readonly [string, Omit<EventSelection, 'limit'>][] = [
  ['one that sees everything', everything],
  ['one that sees no rollouts', { ...everything, ofRollouts: never, ofTargets: never }],
  ['a lessee', own('tenant')],
  ['an owner of many nodes', own('busy')],
  ['an owner of few', own('o4')],
  ['a project that has nothing', own('nothing')],
  ['a lessee who sees no rollouts', { ...own('tenant'), ofRollouts: never, ofTargets: never }],
  ['a lessee who sees no events of nodes', { ...own('tenant'), ofNodes: never, ofRuns: never }],
  [
    'a lessee who sees the rollouts of a user too',
    { ...own('tenant'), ofRollouts: or(is('rollout_requester', 'u1'), is('rollout_project', 'tenant')) },
  ],
  ['one that sees all rollouts, and its nodes', { ...own('tenant'), ofRollouts: always }],
];

/** What a caller may see, said once more. */
const maySee = (
  event: SeenEvent,
  { ofRuns, ofNodes, ofRollouts, ofTargets, kind }: Omit<EventSelection, 'limit'>,
): boolean => {
  if (kind !== undefined && event.kind !== kind) return false;
  if (event.rollout_id !== null)
    return matches(ofRollouts, event) || (event.node_uuid !== null && matches(ofTargets, event));
  return event.node_uuid !== null && matches(event.run_id === null ? ofNodes : ofRuns, event);
};

const joined = async (selection: Omit<EventSelection, 'limit'>, limit: number): Promise<number[]> => {
  const seqs: number[] = [];
  for (;;) {
    const last = seqs.at(-1);
    const page = await inventory.allEvents.page({ ...selection, limit, ...(last !== undefined && { before: last }) });
    seqs.push(...page.map(({ seq }) => seq));
    if (page.length < limit) return seqs;
  }
};

describe.each(callers)('to %s', (_name, selection) => {
  test.each([undefined, 'node.power'])('pages, joined, are all that it may see (kind %s)', async (kind) => {
    const asked = { ...selection, ...(kind !== undefined && { kind }) };
    const all = await inventory.allEvents.page({ ...everything, limit: 10_000 });
    const wanted = all.filter((event) => maySee(event, asked)).map(({ seq }) => seq);
    for (const limit of [37, 100, 1_000]) expect(await joined(asked, limit)).toEqual(wanted);
  });
});

test('each of these callers but one sees some, and not all', async () => {
  const all = await inventory.allEvents.page({ ...everything, limit: 10_000 });
  const shares = callers.map(([, selection]) => all.filter((event) => maySee(event, selection)).length / all.length);
  expect(all.length).toBeGreaterThan(6_000);
  expect(shares.filter((share) => share > 0.01 && share < 0.99)).toHaveLength(callers.length - 2);
});

test('a page of a tenant reads no more of the store when others have done more', async () => {
  const pagesOf = async (project: string): Promise<number> => {
    sent.length = 0;
    await inventory.allEvents.page({ ...own(project), limit: 10 });
    let pages = 0;
    for (const statement of sent.filter(({ text }) => / events /.test(text)))
      pages += (await planWith(owner, statement)).pages;
    return pages;
  };
  const before = [await pagesOf('tenant'), await pagesOf('o4'), await pagesOf('nothing')];
  await addEvents(60_000, 3);
  await owner`vacuum analyze events`;
  const after = [await pagesOf('tenant'), await pagesOf('o4'), await pagesOf('nothing')];
  expect(after.filter((pages, at) => pages > 2 * before[at]!)).toEqual([]);
});
