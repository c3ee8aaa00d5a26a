/** The stream of a run's events: order and resumption, who may listen and for how long, and how many. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApi } from '../../src/api';
import { raise } from '../../src/model/errors';
import { startTestApi, type TestApi } from '../support/api';
import { endRun, happened, runningRun, type SeenRun } from '../support/happenings';
import { type Persona, personas, stranger } from '../support/world';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ streams: { limit: 6, limitOfOne: 3 } });
});
afterAll(() => api?.close());

type Heard = { id: number; event: string; data: Record<string, unknown> };
type Listening = {
  status: number;
  type: string | null;
  next(): Promise<Heard | undefined>;
  rest(): Promise<Heard[]>;
  stop(): void;
};

/** Opens a stream and takes it apart. */
const listen = async (
  who: Persona,
  { run }: Pick<SeenRun, 'run'>,
  { last, url = api.url }: { last?: number; url?: string } = {},
): Promise<Listening> => {
  const stopping = new AbortController();
  const reply = await fetch(`${url}/temper/v1/runs/${run}/events`, {
    headers: { 'x-auth-token': who, ...(last !== undefined && { 'last-event-id': String(last) }) },
    signal: stopping.signal,
  });
  const decoder = new TextDecoder();
  const reader = reply.body?.getReader();
  let text = '';
  const next = async (): Promise<Heard | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end < 0) {
        const more = await reader?.read();
        if (!more || more.done) return undefined;
        text += decoder.decode(more.value, { stream: true });
        continue;
      }
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (field('id')) return { id: Number(field('id')), event: field('event')!, data: JSON.parse(field('data')!) };
    }
  };
  const rest = async (): Promise<Heard[]> => {
    const all: Heard[] = [];
    for (let one = await next(); one; one = await next()) all.push(one);
    return all;
  };
  return { status: reply.status, type: reply.headers.get('content-type'), next, rest, stop: () => stopping.abort() };
};

describe('a run’s stream', () => {
  test('tells what was, then what comes, and ends with the run', async () => {
    const seen = await runningRun(api);
    const first = await happened(api, seen, 'run.accepted', { verb: 'service' });
    const stream = await listen('lessee-reader', seen);
    expect([stream.status, stream.type]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await stream.next()).toMatchObject({
      id: first,
      event: 'run.accepted',
      data: { seq: first, kind: 'run.accepted', run_uuid: seen.run, node_uuid: seen.node, data: { verb: 'service' } },
    });
    const second = await happened(api, seen, 'step.begun', { index: 0 });
    expect(await stream.next()).toMatchObject({ id: second, event: 'step.begun' });
    const last = await endRun(api, seen);
    expect(await stream.rest()).toEqual([expect.objectContaining({ id: last, event: 'run.succeeded' })]);
  });

  test('goes on where a client left off', async () => {
    const seen = await runningRun(api);
    const ids = [];
    for (const kind of ['run.accepted', 'step.begun', 'step.done']) ids.push(await happened(api, seen, kind));
    ids.push(await endRun(api, seen));
    const stream = await listen('owner-reader', seen, { last: ids[1] });
    expect((await stream.rest()).map(({ id }) => id)).toEqual(ids.slice(2));
  });

  test('tells all that was, in pages, and what came after the end', async () => {
    const other = await startTestApi(); // its reader of events starts behind these
    const seen = await runningRun(other);
    await other.sql`
      insert into events (kind, node_uuid, run_id) select 'step.tried', ${seen.node}, ${seen.run} from generate_series(1, 450)`;
    const [end, late] = [await endRun(other, seen), await happened(other, seen, 'act.done')];
    const ids = (await (await listen('operator', seen, { url: other.url })).rest()).map(({ id }) => id);
    const over = await listen('operator', seen, { url: other.url, last: late });
    await other.close();
    expect([ids.length, new Set(ids).size, ...ids.slice(-2)]).toEqual([452, 452, end, late]);
    expect(over.status).toBe(204);
  });

  test('asks nothing of its own while nothing happens', async () => {
    const seen = await runningRun(api);
    await happened(api, seen, 'run.accepted');
    const stream = await listen('operator', seen);
    await stream.next();
    const { runs, allEvents } = api.inventory;
    const asked = [
      jest.spyOn(api.rooms.identity, 'identify'),
      jest.spyOn(runs, 'find'),
      jest.spyOn(allEvents, 'follow'),
      jest.spyOn(allEvents, 'missed'),
    ];
    const read = jest.spyOn(allEvents, 'after');
    while (read.mock.calls.length < 5) await new Promise((resolve) => setTimeout(resolve, 20));
    const times = asked.map(({ mock }) => mock.calls.length);
    jest.restoreAllMocks();
    stream.stop();
    expect(times).toEqual([0, 0, 0, 0]);
  });

  test('answers 204 where nothing will come any more, so that browsers stop asking', async () => {
    const seen = await runningRun(api);
    const last = await endRun(api, seen);
    const stream = await listen('operator', seen, { last });
    expect(stream.status).toBe(204);
  });

  test.each(['7', 'x', '99999999999999999999'])('refuses to go on from %s, which is no event of it', async (last) => {
    const seen = await runningRun(api);
    await happened(api, await runningRun(api), 'run.accepted');
    const reply = await api.as('operator', 'GET', `/temper/v1/runs/${seen.run}/events`, {
      headers: { 'last-event-id': last },
    });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('Last-Event-ID');
  });

  test('misses no event whose transaction ends after that of a later one', async () => {
    const seen = await runningRun(api);
    const held = await api.sql.reserve();
    await held`begin`;
    const [early] = await held<{ seq: number }[]>`
      insert into events (kind, node_uuid, run_id) values ('run.pause', ${seen.node}, ${seen.run}) returning seq`;
    const late = await happened(api, seen, 'step.done');
    const stream = await listen('operator', seen);
    const heard = stream.next();
    await held`commit`;
    held.release();
    expect((await heard)?.id).toBe(Number(early!.seq));
    expect((await stream.next())?.id).toBe(late);
    stream.stop();
  });

  test('shows no secret', async () => {
    const seen = await runningRun(api);
    await happened(api, seen, 'run.accepted', { steps: [{ args: { password: 'geheim' } }], error: 'password=geheim' });
    const stream = await listen('operator', seen);
    expect(JSON.stringify(await stream.next())).not.toContain('geheim');
    stream.stop();
  });

  test('is answered without a body to HEAD, and leaves nothing open', async () => {
    const seen = await runningRun(api);
    const reply = await api.as('operator', 'HEAD', `/temper/v1/runs/${seen.run}/events`);
    expect([reply.status, reply.text]).toEqual([200, '']);
    expect(api.rooms.streams.open_count).toBe(0);
  });
});

describe('who may listen', () => {
  test.each([
    ['system-reader', 200],
    ['owner-reader', 200],
    ['lessee-reader', 200],
    ['stranger-admin', 404],
  ] as const)('%s: %i', async (who, status) => {
    const seen = await runningRun(api);
    await endRun(api, seen);
    const stream = await listen(who, seen);
    expect(stream.status).toBe(status);
    await stream.rest();
  });

  test('a lessee is cut off when its lease ends, before it gets what came after', async () => {
    const seen = await runningRun(api);
    await happened(api, seen, 'run.accepted');
    const stream = await listen('lessee-member', seen);
    expect(await stream.next()).toMatchObject({ event: 'run.accepted' });
    await api.sql`update nodes set lessee = null where uuid = ${seen.node}`;
    await happened(api, seen, 'step.begun');
    expect(await stream.rest()).toEqual([]);
  });

  test('a former owner is cut off, and the present one goes on', async () => {
    const seen = await runningRun(api);
    await happened(api, seen, 'run.accepted');
    const [former, system] = [await listen('owner-admin', seen), await listen('system-reader', seen)];
    await Promise.all([former.next(), system.next()]);
    await api.sql`update nodes set owner = ${stranger} where uuid = ${seen.node}`;
    await happened(api, seen, 'step.begun');
    expect(await former.rest()).toEqual([]);
    expect(await system.next()).toMatchObject({ event: 'step.begun' });
    system.stop();
  });

  test('a token that ends while it streams ends the stream', async () => {
    let valid = true;
    const identity = {
      identify: async () => (valid ? personas['owner-member'] : raise('Unauthenticated', { challenge: 'x' })),
    };
    const server = createServer(createApi({ ...api.rooms, identity }));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const seen = await runningRun(api);
    await happened(api, seen, 'run.accepted');
    const stream = await listen('owner-member', seen, { url });
    await stream.next();
    valid = false;
    await happened(api, seen, 'step.begun');
    const rest = await stream.rest();
    server.close();
    expect(rest).toEqual([]);
  });
});

describe('open streams', () => {
  test('are bounded for one caller and for all, and closing one makes room', async () => {
    const seen = await runningRun(api);
    await happened(api, seen, 'run.accepted');
    const open = [];
    for (const who of ['operator', 'operator', 'operator', 'owner-reader', 'owner-reader', 'lessee-reader'] as const) {
      const stream = await listen(who, seen);
      await stream.next();
      open.push(stream);
      if (open.length === 3) {
        const fourth = await api.as('operator', 'GET', `/temper/v1/runs/${seen.run}/events`);
        expect([fourth.status, fourth.text.includes('of this caller')]).toEqual([503, true]);
      }
    }
    expect((await api.as('owner-reader', 'GET', `/temper/v1/runs/${seen.run}/events`)).status).toBe(503);
    for (const stream of open) stream.stop();
    while (api.rooms.streams.open_count > 0) await new Promise((resolve) => setImmediate(resolve));
    const again = await listen('operator', seen);
    expect(again.status).toBe(200);
    again.stop();
  });

  test('end when the API ends', async () => {
    const other = await startTestApi();
    const seen = await runningRun(other);
    await happened(other, seen, 'run.accepted');
    const stream = await listen('operator', seen, { url: other.url });
    await stream.next();
    other.rooms.streams.close();
    expect(await stream.rest()).toEqual([]);
    expect((await other.as('operator', 'GET', `/temper/v1/runs/${seen.run}/events`)).status).toBe(503);
    await other.close();
  });
});
