/** What the console passes on of a stream of the API, wherever the network cuts that stream. */
import type { Response as Answer, Request } from 'express';
import type { PageContext } from '../../src/console/server/context';
import { streamOf } from '../../src/console/server/live';

/** All that a page is sent of a stream that comes in these pieces. */
const passedOn = async (pieces: readonly Uint8Array[]): Promise<string> => {
  const body = new ReadableStream({
    start(stream) {
      for (const piece of pieces) stream.enqueue(piece);
      stream.close();
    },
  });
  let sent = '';
  const response = { on() {}, writeHead() {}, write: (text: string) => (sent += text), end() {} };
  const request = { header: () => undefined, socket: { setTimeout() {} } };
  const context = {
    api: { open: async () => new Response(body) },
    sessions: { onceOver: () => () => undefined },
  } as unknown as PageContext;
  await streamOf(() => '/temper/v1/events')(context, request as unknown as Request, response as unknown as Answer);
  return sent.replaceAll(': keep-alive\n\n', '');
};

const bytes = (text: string) => new TextEncoder().encode(text);
const change = (place: number) => `id: ${place}\nevent: change\ndata: now\n\n`;

test('a change is passed on with its own place, wherever the stream is cut', async () => {
  const stream = bytes(': hello\n\nid: 1234\nevent: step.done\ndata: {"name":"Zürich"}\n\n');
  for (let at = 0; at <= stream.length; at += 1)
    expect({ at, sent: await passedOn([stream.slice(0, at), stream.slice(at)]) }).toEqual({
      at,
      sent: `retry: 2000\n\n${change(1234)}`,
    });
  expect(await passedOn([...stream].map((byte) => Uint8Array.of(byte)))).toBe(`retry: 2000\n\n${change(1234)}`);
});

test('an event that its end cut off is no change, and its place is not passed on', async () => {
  const sent = await passedOn([bytes('id: 7\ndata: {}\n\nid: 12'), bytes('34\ndata: {}')]);
  expect(sent).toBe(`retry: 2000\n\n${change(7)}`);
});
