/** Events of all nodes and runs: who sees which, as a list and as they happen, and how a stream goes on. */
import { until } from '../../demo/nodes';
import { startTestApi, type TestApi } from '../support/api';
import { happened, runningRun, type SeenRun } from '../support/happenings';
import { type TestDatabase, testDatabase } from '../support/servers';
import { lessee, type Persona } from '../support/world';

let database: TestDatabase;
let api: TestApi;
let leased: SeenRun;
let other: SeenRun;
let before: number;

beforeAll(async () => {
  database = await testDatabase();
  api = await startTestApi({ database, streams: { limitOfOne: 4 } });
  leased = await runningRun(api);
  other = await runningRun(api);
  await api.sql`update nodes set owner = 'project-elsewhere', lessee = null where uuid = ${other.node}`;
  await api.sql`update runs set owner = 'project-elsewhere', lessee = null, lease_id = null where id = ${other.run}`;
  // Of the time before the lease: its tenant was another project, or the owner itself.
  const past = await happened(api, { node: leased.node, run: null }, 'node.moved', { from: 'available', to: 'active' });
  await api.sql`alter table events disable trigger all`;
  await api.sql`update events set at = now() - interval '1 day' where seq = ${past}`;
  await api.sql`alter table events enable trigger all`;
  before = past;
});
afterAll(async () => {
  await api?.close();
  await database?.drop();
});

type Shown = { seq: number; kind: string; node_uuid: string; run_uuid: string | null; data: Record<string, unknown> };
const listed = async (who: Persona, query = ''): Promise<Shown[]> => {
  const reply = await api.as(who, 'GET', `/temper/v1/events${query}`);
  expect(reply.status).toBe(200);
  return reply.body.events;
};

test('the list has what a caller may see, newest first, and no event of a lease before its own', async () => {
  const mine = await happened(api, leased, 'step.begun', { step: 'power.reboot' });
  const theirs = await happened(api, other, 'step.begun', { step: 'power.reboot' });
  const seqs = async (who: Persona) => (await listed(who)).map(({ seq }) => seq);
  expect(await seqs('operator')).toEqual([theirs, mine, before]);
  expect(await seqs('owner-member')).toEqual([mine, before]);
  expect(await seqs('lessee-member')).toEqual([mine]);
  expect(await seqs('stranger-admin')).toEqual([]);
});

test('values of fields are for callers who read everything: each field has a rule of its own', async () => {
  const changed = { changed: { driver_info: { redfish_address: 'https://192.0.2.9' } } };
  const seq = await happened(api, { node: leased.node, run: null }, 'node.updated', changed);
  const dataFor = async (who: Persona) => (await listed(who)).find((event) => event.seq === seq)?.data;
  expect(await dataFor('operator')).toEqual(changed);
  expect(await dataFor('owner-member')).toEqual({});
  expect(await dataFor('lessee-member')).toEqual({});
});

test('where a BMC is stands in no text for a caller who may not know it', async () => {
  const seq = await happened(api, leased, 'step.tried', { error: 'https://192.0.2.9/redfish/v1 did not answer' });
  const errorFor = async (who: Persona) => (await listed(who)).find((event) => event.seq === seq)?.data.error;
  expect(await errorFor('operator')).toContain('192.0.2.9');
  expect(await errorFor('lessee-member')).not.toContain('192.0.2.9');
});

test('it is filtered by node, run and kind, and goes on after a page', async () => {
  expect(await listed('operator', `?node=${other.node}`)).toMatchObject([{ run_uuid: other.run }]);
  expect(await listed('operator', `?run=${leased.run}&kind=step.begun`)).toMatchObject([{ kind: 'step.begun' }]);
  const [newest, ...older] = await listed('operator');
  expect(await listed('operator', '?limit=1')).toEqual([newest]);
  expect(await listed('operator', `?marker=${newest!.seq}`)).toEqual(older);
});

test.each([
  ['node', () => `?node=${other.node}`],
  ['run', () => `?run=${other.run}`],
])('a %s that is hidden is missing', async (_, query) => {
  expect((await api.as('owner-member', 'GET', `/temper/v1/events${query()}`)).status).toBe(404);
});

const streamOf = async (who: Persona, query = '', last?: number, { url } = api) => {
  const leaving = new AbortController();
  const reply = await fetch(`${url}/temper/v1/events${query}`, {
    headers: {
      'x-auth-token': who,
      accept: 'text/event-stream',
      ...(last !== undefined && { 'last-event-id': String(last) }),
    },
    signal: leaving.signal,
  });
  const reader = reply.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    status: reply.status,
    until: async (wanted: string): Promise<string> => {
      while (!text.includes(wanted)) {
        const { value, done } = await reader.read();
        if (done) break;
        text += decoder.decode(value, { stream: true });
      }
      return text;
    },
    close: () => leaving.abort(),
  };
};

/** What has happened can be placed once no older transaction is under way: others of this server's databases count. */
const allPlaced = (): Promise<true> =>
  until('older transactions to end', 120_000, async () => {
    const [row] = await api.sql<{ placed: boolean }[]>`
      select pg_snapshot_xmin(pg_current_snapshot()) > max(tx) as placed from events`;
    return row!.placed || undefined;
  });

test('a stream has the events of now on, of what the caller may see alone', async () => {
  await allPlaced();
  const stream = await streamOf('lessee-member');
  await stream.until('retry:');
  await happened(api, other, 'step.begun', { note: 'elsewhere' });
  const seq = await happened(api, leased, 'step.done', { note: 'mine' });
  const text = await stream.until('mine');
  stream.close();
  expect(text).toContain(`id: ${seq}\nevent: step.done\ndata: `);
  expect(text).not.toContain('elsewhere');
  expect(text.match(/^id:/gm)).toHaveLength(1);
});

test('a stream goes on where the client left off', async () => {
  const first = await happened(api, leased, 'step.begun', { note: 'one' });
  await happened(api, leased, 'step.begun', { note: 'two' });
  await happened(api, other, 'step.begun', { note: 'elsewhere' });
  await happened(api, leased, 'step.begun', { note: 'three' });
  const stream = await streamOf('owner-member', '', first);
  await stream.until('three');
  await happened(api, leased, 'step.begun', { note: 'four' });
  const text = await stream.until('four');
  stream.close();
  expect([...text.matchAll(/"note":"(\w+)"/g)].map(([, note]) => note)).toEqual(['two', 'three', 'four']);
});

test('what a client has missed is found among its own events, however many others there are since', async () => {
  const first = await happened(api, leased, 'step.begun', { note: 'old' });
  await happened(api, leased, 'step.begun', { note: 'missed' });
  await api.sql`
    insert into events (kind, node_uuid, run_id, data)
    select 'step.begun', ${other.node}, ${other.run}, '{"note": "elsewhere"}' from generate_series(1, 6000)`;
  await happened(api, leased, 'step.begun', { note: 'since' });
  await allPlaced();
  // An API whose reader of all streams begins with this one: that of the other API may be at work for an earlier stream.
  const fresh = await startTestApi({ database });
  const known = jest.spyOn(fresh.rooms.identity, 'identify');
  const read = jest.spyOn(fresh.inventory.allEvents, 'missed');
  const stream = await streamOf('owner-member', '', first, fresh);
  const text = await stream.until('since');
  stream.close();
  const [looks, pages] = [known.mock.calls.length, await Promise.all(read.mock.results.map(({ value }) => value))];
  jest.restoreAllMocks();
  await fresh.close();
  expect([...text.matchAll(/"note":"(\w+)"/g)].map(([, note]) => note)).toEqual(['missed', 'since']);
  expect(pages).toHaveLength(1);
  expect(pages[0]).toHaveLength(2);
  // At the request, and before its one page is written.
  expect(looks).toBeLessThanOrEqual(2);
});

test.each([
  ['owner-member', '', ['a', 'b', 'd', 'f']],
  ['lessee-member', '', ['a', 'b', 'd', 'f']],
  ['operator', '', ['a', 'b', 'c', 'd', 'e', 'f']],
  ['owner-member', () => `?node=${leased.node}`, ['a', 'b', 'd', 'f']],
  ['operator', () => `?run=${other.run}`, ['c', 'e']],
  ['operator', '?kind=step.done', ['b', 'e']],
] as const)('%s with %p gets what it has missed in order', async (who, query, notes) => {
  const first = await happened(api, leased, 'step.begun', { note: 'start' });
  for (const [seen, kind, note] of [
    [leased, 'step.begun', 'a'],
    [leased, 'step.done', 'b'],
    [other, 'step.begun', 'c'],
    [leased, 'step.begun', 'd'],
    [other, 'step.done', 'e'],
    [leased, 'step.begun', 'f'],
  ] as const)
    await happened(api, seen, kind, { note });
  await allPlaced();
  const stream = await streamOf(who, typeof query === 'string' ? query : query(), first);
  const text = await stream.until(`"note":"${notes.at(-1)}"`);
  stream.close();
  expect([...text.matchAll(/"note":"(\w+)"/g)].map(([, note]) => note)).toEqual(notes);
});

test('an event that the caller may not see is no place, like one that does not exist', async () => {
  const hidden = await happened(api, other, 'step.begun');
  const own = await happened(api, leased, 'step.begun');
  const answerTo = async (who: Persona, last: number) => {
    const leaving = new AbortController();
    const headers = { 'x-auth-token': who, accept: 'text/event-stream', 'last-event-id': String(last) };
    const reply = await fetch(`${api.url}/temper/v1/events`, { headers, signal: leaving.signal });
    const text = reply.ok ? '' : await reply.text();
    leaving.abort();
    return { status: reply.status, text };
  };
  const missing = await answerTo('owner-member', 999_999_999);
  expect(missing).toMatchObject({ status: 400, text: expect.stringContaining('Last-Event-ID: is no event') });
  expect(await answerTo('owner-member', hidden)).toEqual(missing);
  expect([await answerTo('owner-member', own), await answerTo('operator', hidden)]).toMatchObject([
    { status: 200 },
    { status: 200 },
  ]);
});

test('what a caller may no longer see stops coming', async () => {
  const stream = await streamOf('lessee-member');
  await stream.until('retry:');
  await api.sql`update nodes set lessee = null where uuid = ${leased.node}`;
  await happened(api, leased, 'step.begun', { note: 'after the lease' });
  await api.sql`update nodes set lessee = ${lessee} where uuid = ${leased.node}`;
  const fresh = await runningRun(api);
  await happened(api, fresh, 'step.begun', { note: 'another' });
  const text = await stream.until('another');
  stream.close();
  expect(text).not.toContain('after the lease');
});

test('one caller has only so many streams', async () => {
  const streams = [];
  for (let at = 0; at < 4; at++) streams.push(await streamOf('owner-reader'));
  expect(await streamOf('owner-reader')).toMatchObject({ status: 503 });
  for (const one of streams) one.close();
});
