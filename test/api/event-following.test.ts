/** What one stream of events writes, whatever the store and the rules say. */
import { followEvents } from '../../src/api/temper/event-following';
import { anonymous } from '../../src/model/access/callers';

test('a client that reads more slowly than events come finds out why its stream ends', async () => {
  const written: string[] = [];
  const write = async (text: string): Promise<void> => void written.push(text);
  await followEvents(
    {
      concerns: () => true,
      missed: async () => [],
      again: async () => anonymous,
      texts: async () => [],
      tailing: { from: { tx: '1', seq: 0 }, take: async () => undefined, close() {} },
      closing: new AbortController().signal,
    },
    undefined,
    { write, signal: new AbortController().signal },
  );
  expect(written.at(-1)).toMatch(/^: .*reads more slowly.*Last-Event-ID\n\n$/);
});
