/** What is old goes: events that were read, ended runs that none of them names; what is under way stays, however old. */
import { randomUUID } from 'node:crypto';
import { createInventory, type Inventory } from '../../src/inventory';
import { connect, type Sql } from '../../src/inventory/database';
import { forgetHistory } from '../../src/runs/retention';
import { type TestDatabase, testDatabase } from '../support/servers';

let database: TestDatabase;
let sql: Sql;
let control: Inventory;
beforeAll(async () => {
  database = await testDatabase();
  sql = connect(database.ownerUrl, { max: 2 });
  control = createInventory(connect(database.controlUrl, { max: 2 }));
});
afterAll(async () => {
  await control?.close();
  await sql?.end({ timeout: 5 });
  await database?.drop();
});

// Far on both sides of a boundary of months.
const old = new Date(Date.now() - 3 * 366 * 86_400_000);
const young = new Date(Date.now() - 40 * 86_400_000);
const node = randomUUID();

beforeEach(async () => {
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`truncate events, runs, run_steps, intents, run_messages, rollouts, rollout_targets, nodes cascade`;
  });
  await readUpTo('9000000000000000', 0);
});

/** As webhooks and counters have read; a transaction's number beyond all of this server's is behind every event. */
const readUpTo = (tx: string, seq: number) => sql`update event_cursor set tx = ${tx}::xid8, seq = ${seq}`;

const event = async (at: Date, values: Readonly<Record<string, unknown>> = {}): Promise<number> => {
  const row = { at, kind: 'node.updated', node_uuid: node, ...values };
  const [made] = await sql<{ seq: number }[]>`insert into events ${sql(row as never)} returning seq`;
  return Number(made!.seq);
};

const run = async (created_at: Date, finished_at: Date | null): Promise<string> => {
  const id = randomUUID();
  const state = finished_at ? 'succeeded' : 'running';
  const facts = { fence: 1, kind: 'clean', verb: 'clean', state, rule_set: 'x', workflow_id: id };
  const documents = { input: sql.json({}), requester: sql.json({}) };
  await sql`insert into runs ${sql({ id, node_uuid: node, ...facts, ...documents, created_at, finished_at } as never)}`;
  await sql`insert into run_steps (run_id, index, interface, step) values (${id}, 0, 'deploy', 'erase')`;
  await sql`insert into run_messages (run_id, kind) values (${id}, 'abort')`;
  return id;
};

const rollout = async (finished_at: Date | null, ofRun?: string): Promise<string> => {
  const id = randomUUID();
  await sql`
    insert into rollouts (id, verb, spec, summary, plan_hash, seed, requester, rule_set, finished_at)
    values (${id}, 'clean', '{}', '{}', 'x', 'x', '{}', 'x', ${finished_at})`;
  if (ofRun)
    await sql`insert into rollout_targets (rollout, position, node_uuid, run_id) values (${id}, 1, ${node}, ${ofRun})`;
  return id;
};

const events = async () => (await sql`select seq from events order by seq`).map(({ seq }) => Number(seq));
const runs = async () => (await sql`select id from runs order by id`).map(({ id }) => id as string);
const log = { info: () => {}, warn: (text: string) => expect(text).toBe('') };
const pass = (historyMonths: number) => forgetHistory({ inventory: control, log: log as never, historyMonths });

test('old events and old runs go, with the steps and messages of the runs; the rest of the history can be read', async () => {
  const ended = await run(old, old);
  const lately = await run(young, young);
  await event(old, { run_id: ended });
  const kept = await event(young, { kind: 'run.succeeded', run_id: lately });
  await pass(24);
  expect([await events(), await runs()]).toEqual([[kept], [lately]]);
  for (const table of ['run_steps', 'run_messages'])
    expect(await sql`select run_id from ${sql(table)}`).toEqual([{ run_id: lately }]);
  expect((await control.history.ofNode(node as never, { limit: 10, sort_dir: 'desc' })).map(({ seq }) => seq)).toEqual([
    kept,
  ]);
});

test('a run under way stays with its events, however old', async () => {
  const open = await run(old, null);
  const seq = await event(old, { run_id: open });
  await pass(2);
  expect([await events(), await runs()]).toEqual([[seq], [open]]);
});

test('a run that began long ago and ended lately stays', async () => {
  const long = await run(old, young);
  await pass(2);
  expect(await runs()).toEqual([long]);
});

test('a run that an event of today names stays, and so does one that holds its node', async () => {
  const named = await run(old, old);
  await event(young, { run_id: named });
  const holding = await run(old, old);
  await sql`insert into nodes (driver, reservation) values ('fake-hardware', ${holding})`;
  await run(old, old);
  await pass(2);
  expect(await runs()).toEqual([named, holding].sort());
});

test('what a rollout under way has left stays; the runs of one that is over go, and their targets stay', async () => {
  const [kept, gone] = [await run(old, old), await run(old, old)];
  const [open, over] = [await rollout(null, kept), await rollout(old, gone)];
  const seq = await event(old, { rollout_id: open });
  await event(old, { rollout_id: over });
  await pass(2);
  expect([await events(), await runs()]).toEqual([[seq], [kept]]);
  expect(await sql`select run_id from rollout_targets where rollout = ${over}`).toEqual([{ run_id: gone }]);
});

test('an event that webhooks have not read yet stays', async () => {
  const read = await event(old, { tx: '0' });
  const unread = await event(old, { tx: '0' });
  await readUpTo('0', read);
  await pass(2);
  expect(await events()).toEqual([unread]);
});

test('a pass goes on behind rows that stay, batch by batch, and ends at the first that is young', async () => {
  const open = await run(old, null);
  const stays = [await event(old, { run_id: open }), await event(old, { run_id: open })];
  const [gone, today] = [await event(old), await event(young)];
  const first = await control.retention.events(2, 2);
  expect(first).toEqual({ forgotten: 0, next: stays[1] });
  expect(await control.retention.events(2, 2, first.next)).toEqual({ forgotten: 1, next: today });
  expect(await control.retention.events(2, 2, today)).toEqual({ forgotten: 0 });
  expect(await events()).toEqual([...stays, today]);
  expect(await events()).not.toContain(gone);
});

test('more rows that stay than a pass looks at keep none behind them from being deleted', async () => {
  const open = await rollout(null);
  const stay = 50_000;
  await sql`
    insert into events (at, kind, rollout_id) select ${old}, 'rollout.target.done', ${open} from generate_series(1, ${stay})`;
  await event(old);
  const historyPlaces = {};
  for (let passes = 0; passes < 2; passes++)
    await forgetHistory({ inventory: control, log: log as never, historyMonths: 2, historyPlaces });
  expect((await events()).length).toBe(stay);
  // And begins again with the oldest.
  await event(old, { tx: '0' });
  await sql`update rollouts set finished_at = ${old}`;
  for (let passes = 0; passes < 3; passes++)
    await forgetHistory({ inventory: control, log: log as never, historyMonths: 2, historyPlaces });
  expect(await events()).toEqual([]);
});

test('runs of one moment go batch by batch, none twice and none left', async () => {
  for (let count = 0; count < 5; count++) await run(old, old);
  const stays = await run(old, null);
  let place: { at: string; id: string } | undefined;
  const forgotten: number[] = [];
  for (let batch = 0; batch < 4; batch++) {
    const done = await control.retention.runs(2, 2, place);
    forgotten.push(done.forgotten);
    place = done.next ?? place;
  }
  expect(forgotten.reduce((sum, count) => sum + count)).toBe(5);
  expect(await runs()).toEqual([stays]);
});

test('0 keeps all, and what is younger than two months stays however short a time is asked for', async () => {
  const [first, second] = [await event(old), await event(young)];
  await run(old, old);
  const lately = await run(young, young);
  await pass(0);
  expect([(await events()).length, (await runs()).length]).toEqual([2, 2]);
  await control.retention.events(1, 10);
  await control.retention.runs(1, 10);
  expect([await events(), await runs()]).toEqual([[second], [lately]]);
  expect(await events()).not.toContain(first);
});

test.each(['apiUrl', 'bmcUrl'] as const)('the role of %s deletes nothing', async (url) => {
  const other = createInventory(connect(database[url], { max: 1 }));
  try {
    await expect(other.retention.events(2, 10)).rejects.toThrow('permission denied');
    await expect(other.retention.runs(2, 10)).rejects.toThrow('permission denied');
  } finally {
    await other.close();
  }
});

test('no event is changed or deleted by hand, and no role of a worker deletes a run', async () => {
  await event(old);
  for (const change of [`update events set kind = 'x'`, 'delete from events', 'truncate events'])
    await expect(sql.unsafe(change)).rejects.toThrow('append-only');
  const own = connect(database.controlUrl, { max: 1 });
  try {
    for (const table of ['events', 'runs'])
      await expect(own.unsafe(`delete from ${table}`)).rejects.toThrow('permission denied');
    await expect(own.unsafe(`set temper.forgetting = 'on'; delete from events`)).rejects.toThrow('permission denied');
  } finally {
    await own.end({ timeout: 5 });
  }
});
