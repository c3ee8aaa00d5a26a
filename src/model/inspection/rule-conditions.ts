/** Conditions of inspection rules on the inspection's data. Pure. */

import { cidrContains, isCidr } from '../access/bmc-addresses';
import { ownValue } from '../own';
import { type ConditionOp, namedArgs, plainOp, type RuleDoc, type RuleStep } from './rule-ops';
import { fillIn, itemsOf } from './rule-values';

/** Matches the whole text or a part. It has a time limit, against catastrophic backtracking. */
export type Matching = (regex: string, text: string) => boolean;

export type RuleFacts = Readonly<Record<string, unknown>>;

/** Throws RangeError for senseless values. */
type Condition = (args: RuleDoc, matching: Matching) => boolean;

const isNumeric = (value: unknown): boolean =>
  (typeof value === 'number' || (typeof value === 'string' && value.trim() !== '')) && Number.isFinite(Number(value));

const equal = (a: unknown, b: unknown): boolean =>
  isNumeric(a) && isNumeric(b) ? Number(a) === Number(b) : JSON.stringify(a) === JSON.stringify(b);

const less = (a: unknown, b: unknown): boolean => {
  if (isNumeric(a) && isNumeric(b)) return Number(a) < Number(b);
  if (typeof a === 'string' && typeof b === 'string') return a < b;
  throw new RangeError(`${JSON.stringify(a)} and ${JSON.stringify(b)} cannot be compared`);
};

const eachPair =
  (holds: (a: unknown, b: unknown) => boolean): Condition =>
  ({ values, force_strings }) => {
    if (!Array.isArray(values)) throw new RangeError('values is no list');
    const list = force_strings ? values.map(String) : values;
    return list.slice(1).every((value, at) => holds(list[at], value));
  };

const truths: Readonly<Record<string, boolean>> = { yes: true, true: true, no: false, false: false };

const truthOf = (value: unknown): boolean | undefined => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return value !== 0;
  return typeof value === 'string' ? ownValue(truths, value.toLowerCase()) : undefined;
};

const emptyTexts = ['', 'None', 'null', '[]', '{}'];
const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  emptyTexts.includes(typeof value === 'string' ? value : JSON.stringify(value));

const comparedText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

const checks: Readonly<Record<ConditionOp, Condition>> = {
  eq: eachPair(equal),
  lt: eachPair(less),
  gt: eachPair((a, b) => less(b, a)),
  'is-empty': ({ value }) => isEmpty(value),
  'in-net': ({ address, subnet }) => {
    if (!isCidr(String(subnet))) throw new RangeError(`${comparedText(subnet)} is no network`);
    return cidrContains(String(subnet), String(address));
  },
  matches: ({ value, regex }, matching) => matching(`^(?:${String(regex)})$`, comparedText(value)),
  contains: ({ value, regex }, matching) => matching(String(regex), comparedText(value)),
  'one-of': ({ value, values }) => Array.isArray(values) && values.some((each) => equal(each, value)),
  'is-none': ({ value }) => value === null || value === undefined || value === 'None',
  'is-true': ({ value }) => truthOf(value) === true,
  'is-false': ({ value }) => value === null || truthOf(value) === false,
};

const holdsOnce = (condition: RuleStep, facts: RuleFacts, matching: Matching): boolean => {
  const args = fillIn(namedArgs(condition), facts) as RuleDoc;
  const result = checks[plainOp(condition.op) as ConditionOp](args, matching);
  return condition.op.startsWith('!') ? !result : result;
};

const together: Readonly<Record<NonNullable<RuleStep['multiple']>, (results: readonly boolean[]) => boolean>> = {
  any: (results) => results.some(Boolean),
  all: (results) => results.every(Boolean),
  first: (results) => results[0] === true,
  last: (results) => results.at(-1) === true,
};

const holds = (condition: RuleStep, facts: RuleFacts, matching: Matching): boolean => {
  const items = itemsOf(condition.loop);
  if (!items) return holdsOnce(condition, facts, matching);
  // An item may refer to the inspection's data, and arguments to the item.
  const results = items.map((item) => holdsOnce(condition, { ...facts, item: fillIn(item, facts) }, matching));
  return together[condition.multiple ?? 'any'](results);
};

/** True without conditions. Throws RangeError for senseless values. */
export const allHold = (conditions: readonly RuleStep[], facts: RuleFacts, matching: Matching): boolean =>
  conditions.every((condition) => holds(condition, facts, matching));
