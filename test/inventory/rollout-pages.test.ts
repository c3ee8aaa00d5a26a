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
let inventory: Inventory;
let sent: { text: string; values: readonly unknown[] }[];
beforeAll(async () => {
  database = await testDatabase();
  owner = connect(database.ownerUrl, { max: 2 });
  const sql = connect(database.apiUrl, { max: 2 });
  sql.options.debug = (_connection: number, text: string, values: unknown[]) => void sent.push({ text, values });
  inventory = createInventory(sql);
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

test('what is due is listed without counting what was begun, where no bound is about power by turns', async () => {
  const spread = [{ by: 'properties.rack', max: 5 }];
  const { id } = await begun(200, 50, { spread });
  await owner`update rollout_targets set power_cycles = 1 where rollout = ${id}`;
  sent = [];
  expect(await inventory.rolloutTargets.due(id, 0, 10)).toHaveLength(10);
  const { rowsRead } = await planWith(owner, sent.find(({ text }) => /order by n\.reservation/.test(text))!);
  // The targets and their nodes, and the 52 counters a few times; not the targets once for each counter.
  expect(rowsRead).toBeLessThan(2_000);
});
