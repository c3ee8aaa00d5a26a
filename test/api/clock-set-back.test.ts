/** A clock that is set back lengthens no wait of a process: what has passed is counted by a clock that only goes forward. */
import { waitForLock } from '../../src/api/server/lock-wait';
import { keepAliveMs, untilKeepAlive } from '../../src/api/temper/events/event-following';
import { raise } from '../../src/model/errors';
import { runWaking } from '../../src/rollouts/waking';

let ending: AbortController;
beforeEach(() => {
  ending = new AbortController();
  // The wall clock loses a day at each look at it.
  let days = 20_000;
  jest.spyOn(Date, 'now').mockImplementation(() => {
    days -= 1;
    return days * 86_400_000;
  });
});
afterEach(() => {
  ending.abort();
  jest.restoreAllMocks();
});

test('a request waits for a held node no longer than it may', async () => {
  const held = waitForLock(async () => raise('NodeLocked', { node: 'n1' }), 200);
  await expect(held).rejects.toMatchObject({ code: 'NodeLocked' });
});

test('a stream gives its sign of life in time', () => {
  const left = untilKeepAlive(performance.now());
  expect(left).toBeGreaterThan(keepAliveMs / 2);
  expect(left).toBeLessThanOrEqual(keepAliveMs);
});

test('rollouts that were not looked at are woken at once, and again', async () => {
  let passed = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => {
    passed += 20_000;
    return passed;
  });
  let looks = 0;
  const silent = async () => {
    looks += 1;
    if (looks === 3) ending.abort();
    return [];
  };
  const rolloutWakes = { unsent: async () => [], due: async () => [], silent };
  const inventory = { recovery: { current: async () => undefined }, rolloutWakes } as never;
  const log = { info: () => undefined, warn: () => undefined };
  await runWaking({ inventory, wake: async () => undefined, log }, ending.signal);
  expect(looks).toBe(3);
});
