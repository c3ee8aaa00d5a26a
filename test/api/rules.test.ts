/** Every rule over HTTP: a caller whom it admits is answered, and one whom it refuses reads by which rule, or nothing. */
import { routes } from '../../src/api';
import { ruleNames } from '../../src/policy';
import type { TestApi } from '../support/api';
import { leftOut, ruleRows } from '../support/rule-table';
import { startRuleApi, walkRule } from '../support/rule-walk';

let api: TestApi;
beforeAll(async () => {
  api = await startRuleApi();
});
afterAll(() => api.close());
afterEach(() => api.setPolicy({ set: 'temper' }));

test('every rule of the product is walked or left out for a reason, and none twice', () => {
  const walked = ruleRows.map(({ rule }) => rule);
  expect([...walked, ...Object.keys(leftOut)].sort()).toEqual([...ruleNames].sort());
});

test('every rule that is left out as guarding nothing is named by no route', () => {
  const named = routes.flatMap(({ rules }) => (rules === 'public' ? [] : rules));
  const silent = Object.entries(leftOut).filter(([, why]) => /no route/.test(why));
  expect(silent.map(([rule]) => rule).filter((rule) => named.includes(rule))).toEqual([]);
});

test.each(ruleRows.map((one) => [one.rule, one.may, one.mayNot, one] as const))(
  '%s admits %s and refuses %s',
  (_rule, _may, _mayNot, one) => walkRule(api, one),
);
