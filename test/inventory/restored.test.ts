/** A dump of another cluster: its events lie in the future of this one, and what comes next is sent all the same. */
import { createInventory } from '../../src/inventory';
import { placeRestored } from '../../src/inventory/runs/restored';
import { startTestApi, type TestApi } from '../support/api';
import { happened, runningRun } from '../support/happenings';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.close());

/** As the database's owner, who may do what a control worker may. */
const taken = async (): Promise<string[]> => {
  const rows = await createInventory(api.sql).transaction((store) => store.feed.take(100));
  return (rows ?? []).map(({ kind }) => kind);
};

/** Until an event of this kind has come: transactions of other tests on the same servers hold the feed back. */
const takenUntil = async (kind: string): Promise<string[]> => {
  const kinds: string[] = [];
  while (!kinds.includes(kind)) kinds.push(...(await taken()));
  return kinds;
};

const placed = (): Promise<number> => api.sql.begin((tx) => placeRestored(tx)) as Promise<number>;

test('events that were sent stay sent, those that were not and those of today follow, once each', async () => {
  const run = await runningRun(api);
  await happened(api, run, 'step.begun');
  await takenUntil('step.begun');
  await happened(api, run, 'step.tried');
  const future = '(pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000000)';
  await api.sql`alter table events disable trigger user`;
  await api.sql.unsafe(`update events set tx = (${future} + seq)::text::xid8`);
  // From the row, not computed again: other databases of the server use up transaction numbers between two statements.
  await api.sql`
    update event_cursor set seq = e.seq, tx = e.tx from (select seq, tx from events where kind = 'step.begun' order by seq desc limit 1) e`;
  await api.sql`alter table events enable trigger user`;
  await happened(api, run, 'step.done');
  expect(await taken()).toEqual([]);
  expect(await placed()).toBeGreaterThan(0);
  await happened(api, run, 'run.succeeded');
  expect(await takenUntil('run.succeeded')).toEqual(['step.tried', 'step.done', 'run.succeeded']);
  expect(await placed()).toBe(0);
  expect(await taken()).toEqual([]);
});
