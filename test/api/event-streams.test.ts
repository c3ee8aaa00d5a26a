/** One reader of events for all streams of a process: what wakes a stream, and what is kept for it. */
import { createStreams } from '../../src/api';
import type { SeenEvent } from '../../src/inventory/event-pages';
import { startTestApi, type TestApi } from '../support/api';
import { happened, runningRun, type SeenRun } from '../support/happenings';

let api: TestApi;
let mine: SeenRun;
let other: SeenRun;

beforeAll(async () => {
  api = await startTestApi();
  mine = await runningRun(api);
  other = await runningRun(api);
});
afterAll(() => api?.close());

type Streams = ReturnType<typeof createStreams>;
let opened: Streams[] = [];
afterEach(() => {
  for (const streams of opened) streams.close();
  opened = [];
});

const streamsOf = (inventory: TestApi['inventory']): Streams => {
  const streams = createStreams({ inventory, log: api.rooms.log });
  opened.push(streams);
  return streams;
};

test('callers of projects, and those without a scope, leave a fifth of all streams to callers of the system', async () => {
  const streams = createStreams({ inventory: api.inventory, log: api.rooms.log, limit: 10, quota: 6 });
  opened.push(streams);
  const open = (caller: string, project: string | null, ofSystem = false) =>
    streams.open({ caller, project, ofSystem }, () => false);
  for (const caller of ['a', 'b', 'c', 'd', 'e']) await open(caller, 'one');
  for (const caller of ['f', 'g']) await open(caller, 'other');
  const last = await open('h', null);
  const full = { code: 'TooManyStreams', facts: { limit: 8, whose: 'of projects open' } };
  await expect(open('i', 'third')).rejects.toMatchObject(full);
  await expect(open('j', null)).rejects.toMatchObject(full);
  for (const caller of ['k', 'l']) await open(caller, null, true);
  await expect(open('m', null, true)).rejects.toMatchObject({ code: 'TooManyStreams', facts: { limit: 10 } });
  last.close();
  await open('i', 'third');
});

const opener = { caller: 'a caller', project: null, ofSystem: true };
const ofMine = ({ run_id }: SeenEvent): boolean => run_id === mine.run;
const unending = new AbortController().signal;
const longMs = 100_000;

test('an event that does not concern a stream neither wakes it nor is kept for it', async () => {
  const streams = streamsOf(api.inventory);
  const tailing = await streams.open(opener, ofMine);
  const first = tailing.take(longMs, unending);
  await happened(api, other, 'step.begun', {});
  const seq = await happened(api, mine, 'step.begun', {});
  expect((await first)?.map((row) => row.seq)).toEqual([seq]);
  tailing.close();
});

describe('with more events than are kept for a stream', () => {
  const pages = 11;
  const pageRows = 500;

  /** Streams that read so many events of another run, then one of this, from when `begin` is called: who opens later gets none of them. */
  const flooded = async () => {
    const start = await api.inventory.allEvents.end();
    await happened(api, other, 'step.begun', {});
    await happened(api, mine, 'step.begun', {});
    let rows: SeenEvent[] = [];
    while (rows.length < 2) rows = await api.inventory.allEvents.after(start, 2);
    const [theirs, own] = rows as [SeenEvent, SeenEvent];
    let read = 0;
    let begun = false;
    const begin = (): void => {
      begun = true;
    };
    const after = async (): Promise<SeenEvent[]> => {
      if (!begun) return [];
      read += 1;
      if (read <= pages) return Array.from({ length: pageRows }, () => theirs);
      return read === pages + 1 ? [own] : [];
    };
    return {
      streams: streamsOf({ ...api.inventory, allEvents: { ...api.inventory.allEvents, after } }),
      own,
      begin,
    };
  };

  test('a stream that they do not concern goes on', async () => {
    const { streams, own, begin } = await flooded();
    const tailing = await streams.open(opener, ofMine);
    begin();
    expect(await tailing.take(longMs, unending)).toEqual([own]);
    tailing.close();
  });

  test('a stream that they concern and that does not take them is cut off', async () => {
    const { streams, own, begin } = await flooded();
    const behind = await streams.open(opener, () => true);
    const witness = await streams.open(opener, ofMine);
    begin();
    expect(await witness.take(longMs, unending)).toEqual([own]);
    expect(await behind.take(longMs, unending)).toBeUndefined();
    behind.close();
    witness.close();
  });
});
