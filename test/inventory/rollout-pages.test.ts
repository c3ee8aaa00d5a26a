/** Pages of a rollout's targets by state and by wave are what the whole list says, and what is due is listed without counting in vain. */
import { planWith } from '../../bench/plans/explain';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import type { RolloutRow } from '../../src/inventory/rollouts/rollouts';
import type { TargetSelection } from '../../src/inventory/rollouts/targets';
import { always } from '../../src/model/predicates';
import type { Limits } from '../../src/model/rollouts/layout';
import { nodesIn, runningRollout } from '../support/rollouts';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let owner: Sql;
let control: Sql;
let inventory: Inventory;
let sent: { text: string; values: readonly unknown[] }[];
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 2 });
  control = connect(database.controlUrl, { max: 2 });
  control.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  inventory = createInventory(control);
});
beforeEach(() => {
  sent = [];
});
afterAll(async () => {
  await Promise.all([owner?.end({ timeout: 1 }), inventory?.close()]);
  await database?.drop();
});

const racks = (nodes: number, many: number): string[] => Array.from({ length: nodes }, (_, at) => `r${at % many}`);
const begun = async (nodes: number, many: number, limits: Partial<Limits>): Promise<RolloutRow> =>
  runningRollout(inventory, await nodesIn(owner, racks(nodes, many)), limits);

const waves = [3, 9, 'rest' as const].map((size) => ({ size, advance: 'auto' as const, soak_ms: 0 }));
const states = ['done', 'failed', 'pending', 'refused'] as const;

/** Targets of each state in each wave, the states mixed, and at the end those that the plan has refused. */
const mixed = async (): Promise<RolloutRow> => {
  const rollout = await begun(30, 3, { waves });
  await owner`update rollout_targets set state = case position % 3 when 0 then 'done' when 1 then 'failed' else 'pending' end
    where rollout = ${rollout.id}`;
  await owner`insert into rollout_targets (rollout, position, node_uuid, state)
    select ${rollout.id}, position, gen_random_uuid(), 'refused' from generate_series(30, 34) position`;
  return rollout;
};

test('from every place on, of every state and every wave', async () => {
  const { id } = await mixed();
  const page = async (selection: Partial<TargetSelection>) =>
    inventory.rolloutTargets.list(id, { visible: always, limit: 100, ...selection });
  const all = await page({});
  expect(all.map(({ position }) => position)).toEqual(Array.from({ length: 35 }, (_, position) => position));
  for (const state of [undefined, ...states])
    for (const wave of [undefined, 0, 1, 2])
      for (const after of [undefined, 0, 2, 3, 11, 12, 20, 29, 30, 34, 40]) {
        const wanted = all.filter(
          (one) =>
            (state === undefined || one.state === state) &&
            (wave === undefined || one.wave === wave) &&
            (after === undefined || one.position > after),
        );
        const selection = { ...(state && { state }), ...(wave !== undefined && { wave }) };
        const found = await page({ ...selection, ...(after !== undefined && { after }) });
        expect({ state, wave, after, found }).toEqual({ state, wave, after, found: wanted });
      }
});

const dueOf = async (rollout: RolloutRow, wave: number, limit: number, skip = 0): Promise<number[]> =>
  (await inventory.rolloutDue.targets(rollout.id, wave, limit, skip)).map(({ position }) => position);

/** Rows that the last statement about what is due has read. */
const rowsRead = async (): Promise<number> =>
  (await planWith(control, sent.findLast(({ text }) => text.includes('as is_held'))!)).rowsRead;

test('what is due is listed without counting what was begun, where no bound is about power by turns', async () => {
  const spread = [{ by: 'properties.rack', max: 5 }];
  const rollout = await begun(200, 50, { spread });
  await owner`update rollout_targets set power_cycles = 1 where rollout = ${rollout.id}`;
  expect(await dueOf(rollout, 0, 10)).toHaveLength(10);
  // The targets and their nodes, and the 52 counters a few times; not the targets once for each counter.
  expect(await rowsRead()).toBeLessThan(1_000);
});

test('of all that are to come a page is read, and none where the whole has no room', async () => {
  const rollout = await begun(2_000, 4, { max_in_flight: 100 });
  await owner`update rollout_targets set power_cycles = 1 where rollout = ${rollout.id}`;
  await owner`vacuum analyze rollout_targets`;
  await owner`vacuum analyze rollout_counters`;
  expect(await dueOf(rollout, 0, 10)).toEqual(Array.from({ length: 10 }, (_, position) => position));
  expect(await rowsRead()).toBeLessThan(500);
  await owner`update rollout_counters set in_flight = most where rollout = ${rollout.id} and scope = 'total'`;
  expect(await dueOf(rollout, 0, 10)).toEqual([]);
  expect(await rowsRead()).toBeLessThan(500);
});

type Due = { position: number; held: boolean };

test('what is due is every target that may be begun, held and frozen nodes last, from whatever place on', async () => {
  const rollout = await begun(60, 5, { waves, spread: [{ by: 'properties.rack', max: 3 }] });
  const { id } = rollout;
  // Every combination of state, time and node comes up beside each other.
  await owner`
    update rollout_targets set power_cycles = position % 2,
      state = case when position % 7 in (0, 1) then 'failed' when position % 7 = 2 then 'done' else 'pending' end,
      ended_at = case when position % 7 < 3 then now() - interval '1 minute' end,
      retry_asked_at = case when position % 7 = 0 then now() end,
      not_before = case position % 11 when 0 then now() - interval '1 hour' when 1 then now() + interval '1 hour' end
    where rollout = ${id}`;
  await owner`update nodes set reservation = gen_random_uuid() where uuid in (
    select node_uuid from rollout_targets where rollout = ${id} and position % 5 = 3)`;
  await owner`insert into freezes (node_uuid, reason, requester, ended_at, until)
    select node_uuid, 'fans', '{}', case position % 3 when 1 then now() end, case position % 3 when 2 then now() - interval '1 hour' end
    from rollout_targets where rollout = ${id} and position % 4 = 2`;
  await owner`update rollout_counters set in_flight = most where rollout = ${id} and scope = 'properties.rack' and value in ('r1', 'r4')`;
  for (const wave of [0, 1, 2]) {
    const wanted = await owner<Due[]>`
      select t.position, (n.reservation is not null or exists (select from freezes f where f.node_uuid = n.uuid
          and f.ended_at is null and (f.until is null or f.until > now()))) as held
      from rollout_targets t join nodes n on n.uuid = t.node_uuid
      where t.rollout = ${id} and coalesce(t.not_before <= now(), true) and n.properties->>'rack' not in ('r1', 'r4')
        and (t.state = 'pending' and t.wave = ${wave} or t.state = 'failed' and t.retry_asked_at is not null and t.wave <= ${wave})
      order by held, t.position`;
    const all = wanted.map(({ position }) => position);
    expect(await dueOf(rollout, wave, 100)).toEqual(all);
    for (const skip of [0, 1, 2, 5, 9, 20, all.length - 1, all.length])
      for (const limit of [1, 3, 10])
        expect(await dueOf(rollout, wave, limit, skip)).toEqual(all.slice(skip, skip + limit));
  }
});

test('where power is switched on by turns, what was begun in the last minute keeps its feed waiting', async () => {
  const rollout = await begun(12, 3, { power_starts_per_minute: [{ by: 'properties.rack', max: 2 }] });
  const { id } = rollout;
  await owner`update rollout_targets set power_cycles = 1 where rollout = ${id}`;
  expect(await dueOf(rollout, 0, 100)).toHaveLength(12);
  // Of r0 two in the last minute, of r1 one that was tried again in it, of r2 one now and one before.
  await owner`
    update rollout_targets t set state = 'done', admitted_at = now() - case when n.properties->>'rack' = 'r2' and before = 2
        then interval '2 minutes' else interval '1 second' end,
      begun_before = case when n.properties->>'rack' = 'r1' then now() - interval '1 second' end
    from (select position, row_number() over (partition by n.properties->>'rack' order by position) as before, n.uuid
      from rollout_targets t join nodes n on n.uuid = t.node_uuid where t.rollout = ${id}) nth, nodes n
    where t.rollout = ${id} and nth.position = t.position and n.uuid = nth.uuid
      and before <= case n.properties->>'rack' when 'r1' then 1 else 2 end`;
  const due = await owner<{ position: number }[]>`
    select t.position from rollout_targets t join nodes n on n.uuid = t.node_uuid
    where t.rollout = ${id} and t.state = 'pending' and n.properties->>'rack' = 'r2' order by position`;
  expect(await dueOf(rollout, 0, 100)).toEqual(due.map(({ position }) => position));
  await owner`update rollout_targets set power_cycles = 0 where rollout = ${id} and state = 'pending'`;
  expect(await dueOf(rollout, 0, 100)).toHaveLength(7);
});
