/** One look serves all that ask meanwhile, and for a while afterwards those that ask again. */
import { setImmediate as turn } from 'node:timers/promises';
import { together } from '../../src/process/together';

beforeEach(() => jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
afterEach(() => jest.useRealTimers());

const counting = () => {
  let looks = 0;
  return async () => ++looks;
};

test('what is asked for meanwhile is found once', async () => {
  const look = together(counting(), 0);
  expect(await Promise.all([look(), look(), look()])).toEqual([1, 1, 1]);
  await turn();
  expect(await look()).toBe(2);
});

test('what was found is kept for as long as it is said, and not longer', async () => {
  const look = together(counting(), 250);
  expect([await look(), await look()]).toEqual([1, 1]);
  jest.advanceTimersByTime(249);
  expect(await look()).toBe(1);
  jest.advanceTimersByTime(1);
  expect(await look()).toBe(2);
});

test('a look that failed is forgotten as well', async () => {
  const results = [Promise.reject(new Error('away')), Promise.resolve('there')];
  const look = together(() => results.shift()!, 0);
  await expect(look()).rejects.toThrow('away');
  await turn();
  expect(await look()).toBe('there');
});
