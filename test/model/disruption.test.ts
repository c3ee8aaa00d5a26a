/** How many nodes a disruption budget lets be missing, and by what it may choose nodes. */
import fc from 'fast-check';
import { downStates, isBudgetKey, mayBeMissing } from '../../src/model/rollouts/disruption';

const most = (max_unavailable: number | string, total: number) =>
  mayBeMissing({ max_unavailable, min_available: null }, total);
const least = (min_available: number | string, total: number) =>
  mayBeMissing({ max_unavailable: null, min_available }, total);

test.each([
  [most(2, 10), 2],
  [most(0, 10), 0],
  [most('10%', 39), 3],
  [most('1%', 10), 1], // the smallest share is one node
  [least(8, 10), 2],
  [least(12, 10), 0],
  [least('90%', 39), 3],
  [least('100%', 39), 0],
])('case %#', (given, wanted) => expect(given).toBe(wanted));

test('a share of what must stay never lets more be missing than the rest', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 0, max: 5_000 }), (share, total) => {
      const missing = least(`${share}%`, total);
      return missing >= 0 && (total - missing) * 100 >= total * share;
    }),
  );
});

test.each([
  ['resource_class', true],
  ['properties.rack', true],
  ['traits', true],
  ['extra.rack', false], // tenants write it
  ['provision_state', false], // a run changes it, and its node would leave the budget
  ['properties.', false],
  ['__proto__', false],
  ['constructor', false],
])('%s as a key: %s', (key, may) => expect(isBudgetKey(key)).toBe(may));

test('states of failure count as missing, states of rest do not', () => {
  expect(downStates).toEqual(expect.arrayContaining(['service failed', 'clean failed', 'error']));
  expect(downStates).not.toEqual(expect.arrayContaining(['active']));
});
