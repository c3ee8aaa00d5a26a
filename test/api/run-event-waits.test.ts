/** How often a stream of a run looks at the store, whatever is under way there. */

import type { Stream } from '../../src/api/streams/sse';
import { runEventRoutes } from '../../src/api/temper/runs/run-events';
import { startTestApi, type TestApi } from '../support/api';
import { runningRun, type SeenRun } from '../support/happenings';
import { personas } from '../support/world';

let api: TestApi;
let seen: SeenRun;
beforeAll(async () => {
  api = await startTestApi();
  seen = await runningRun(api);
});
afterAll(() => api?.close());

test('while an older transaction goes on, a stream looks less and less often, and at once again when it is over', async () => {
  const waits: number[] = [];
  const ending = new AbortController();
  const looks = 12;
  const ofRun = async () => {
    if (waits.length === looks) ending.abort();
    return { rows: [], unsettled: waits.length !== 8 };
  };
  const ear = {
    closing: new AbortController().signal,
    news: async (ms: number) => void waits.push(Math.round(ms)),
    close: async () => {},
  };
  const { feed } = api.inventory;
  const ctx = {
    ...api.rooms,
    inventory: { ...api.inventory, feed: { ...feed, ofRun } },
    streams: { ...api.rooms.streams, open: async () => ear },
  };
  const who = personas.operator;
  const request = { who, params: { run: seen.run }, header: () => undefined, again: async () => who };
  const { stream } = (await runEventRoutes[0]!.handler(request as never, ctx as never)) as { stream: Stream };
  await stream({ write: async () => {}, signal: ending.signal });
  const [before, quiet, after] = [waits.slice(0, 8), waits[8]!, waits.slice(9)];
  expect(before).toEqual([50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
  expect(quiet).toBeGreaterThan(2_000);
  expect(after).toEqual([50, 100, 200, 400]);
});
