/** Which attempts of an act are reported to its workflow: so many that the number is right, so few that an abort has room. */
import { isReported } from '../../src/activities/reported-attempts';

const second = 1_000;

test.each([
  ['the first is what the workflow has asked for', 1, 0, false],
  ['those that follow within the first ten are', 2, second, true],
  ['the tenth too', 10, 12 * second, true],
  ['behind a lease they follow each other every two seconds: not each one', 11, 20 * second, false],
  ['but each tenth', 20, 38 * second, true],
  ['a BMC that is away for hours is tried each minute: each one', 57, 56 * 60 * second, true],
  ['ten seconds apart is far enough', 31, 300 * second, true],
])('%s', (_, attempt, sinceMs, reported) => {
  expect(isReported(attempt, sinceMs)).toBe(reported);
});

test('an act that waits half a day behind a lease is reported less than 10,000 times', () => {
  const attempts = Array.from({ length: (12 * 3_600) / 2 }, (_, index) => index + 1);
  expect(attempts.filter((attempt) => isReported(attempt, (attempt - 1) * 2 * second)).length).toBeLessThan(2_500);
});
