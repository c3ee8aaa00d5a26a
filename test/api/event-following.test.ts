/** What one stream of events writes, whatever the store and the rules say. */
import { type EventFollowing, followEvents, keepAliveMs } from '../../src/api/temper/events/event-following';
import { anonymous } from '../../src/model/access/callers';

const closing = new AbortController().signal;

test('a client that reads more slowly than events come finds out why its stream ends', async () => {
  const written: string[] = [];
  const write = async (text: string): Promise<void> => void written.push(text);
  await followEvents(
    {
      concerns: () => true,
      missed: async () => [],
      again: async () => anonymous,
      texts: async () => [],
      tailing: { from: { tx: '1', seq: 0 }, take: async () => undefined, closing, close() {} },
    },
    undefined,
    { write, signal: new AbortController().signal },
  );
  expect(written.at(-1)).toMatch(/^: .*reads more slowly.*Last-Event-ID\n\n$/);
});

test('a stream with much to look through of which the caller may see nothing gives a sign of life', async () => {
  const written: string[] = [];
  const ending = new AbortController();
  const event = (seq: number) => ({ tx: '1', seq }) as Awaited<ReturnType<EventFollowing['missed']>>[number];
  let time = 0;
  const now = jest.spyOn(performance, 'now').mockImplementation(() => time);
  const pages = 6;
  await followEvents(
    {
      concerns: () => false,
      missed: async ([{ seq }]) => {
        time += keepAliveMs / 2;
        if (time > pages * keepAliveMs) ending.abort();
        return Array.from({ length: 200 }, (_, nth) => event(seq + 1 + nth));
      },
      again: async () => anonymous,
      texts: async (_who, rows) => rows.map(String),
      tailing: { from: { tx: '9', seq: 0 }, take: async () => [], closing, close() {} },
    },
    { tx: '1', seq: 0 },
    { write: async (text) => void written.push(text), signal: ending.signal },
  ).finally(() => now.mockRestore());
  expect(written.slice(1)).toEqual(Array.from({ length: pages }, () => ': keep-alive\n\n'));
});
