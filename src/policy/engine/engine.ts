/** Makes a Policy from a rule set and an operator's file. */
import type { Caller } from '../../model/access/callers';
import { sha256Of } from '../../model/digests';
import { raise } from '../../model/errors';
import { always, never, type Predicate } from '../../model/predicates';
import { printCheck } from '../language/check';
import { parseRule } from '../language/parse';
import { secretRules } from '../reports/lint';
import { ruleSets } from '../rules/sets';
import { vocabulary } from '../rules/vocabulary';
import type { Mode, Policy, PolicyOptions, Question, Target } from '../types';
import { type Credentials, credentialsOf } from './credentials';
import { filterOf } from './filter';
import { createRuleSet, type RuleSet } from './ruleset';
import { admitsScope } from './scopes';
import { targetKeys } from './targets';

const noTarget: Target = {};

const keysAbsentWhenNull = Object.keys(targetKeys).filter((key) => targetKeys[key]?.absentWhenNull);

/** In `compat`, Ironic's form of the target: without some keys that are null. */
const asReference = (target: Target): Target =>
  keysAbsentWhenNull.some((key) => target[key] === null)
    ? Object.fromEntries(
        Object.entries(target).filter(([key, value]) => value !== null || !keysAbsentWhenNull.includes(key)),
      )
    : target;

/** Everything that can change a verdict, in a fixed order. */
const fingerprint = (set: RuleSet, mode: Mode, elevated: string | null, remote: boolean): string =>
  JSON.stringify([
    { mode, elevated, remote },
    [...set.rules.values()]
      .map(({ name, check, scopes }) => [name, printCheck(check), scopes] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  ]);

const credentialsCache = (elevated: string | null): ((who: Caller) => Credentials) => {
  const made = new WeakMap<Caller, Credentials>();
  return (who) => {
    const known = made.get(who);
    if (known) return known;
    const credentials = credentialsOf(who, elevated);
    made.set(who, credentials);
    return credentials;
  };
};

const once = <Answer>(answer: (asked: string) => Answer): ((asked: string) => Answer) => {
  const known = new Map<string, Answer>();
  return (asked) => {
    if (!known.has(asked)) known.set(asked, answer(asked));
    return known.get(asked)!;
  };
};

/** The first 64 bits of SHA-256. The text names projects, and some readers must not see them. */
/** Short hash of a rule set or of its files' text. */
export const policyDigest = (text: string): string => sha256Of(text).slice(0, 16);

/** Throws PolicyInvalid with every faulty rule and its fix; a faulty file is rejected as a whole. */
export const createPolicy = (options: PolicyOptions): Policy => {
  const { set: name, mode = 'strict', remote } = options;
  const elevated = options.elevatedServiceProject ?? null;
  const set = createRuleSet({ ...options, registered: ruleSets[name], vocabulary });
  const credentialsFor = credentialsCache(elevated);

  const question = (rule: string, who: Caller, target: Target): Question => ({
    rule,
    credentials: credentialsFor(who),
    target: mode === 'compat' ? asReference(target) : target,
    fallBack: true,
  });

  const allows = (rule: string, who: Caller, target: Target = noTarget): boolean => {
    if (who.all_powerful && !secretRules.has(rule)) return true;
    return set.decide(question(rule, who, target)).is === 'allowed';
  };

  const filter = (rule: string, who: Caller, columns: Readonly<Record<string, string>>): Predicate => {
    if (who.all_powerful && !secretRules.has(rule)) return always;
    const found = set.ruleFor(rule);
    const credentials = credentialsFor(who);
    if (!found || (found.name === rule && !admitsScope(found, credentials))) return never;
    return filterOf(set, found.check, credentials, mode, columns);
  };

  const defaults = once((rule: string) => {
    const known = ruleSets[name].find((one) => one.name === rule);
    return known && printCheck(parseRule(known.check).check);
  });
  const isWritten = (rule: string): boolean => {
    const found = set.rules.get(rule);
    return found !== undefined && found.from !== 'default' && printCheck(found.check) !== defaults(rule);
  };

  return Object.freeze({
    hash: policyDigest(fingerprint(set, mode, elevated, remote !== undefined)),
    allows,
    require: (rule: string, who: Caller, target?: Target): void => {
      if (!allows(rule, who, target)) raise('PolicyDenied', { rule });
    },
    filter,
    explain: (rule: string, who: Caller, target: Target = noTarget) => set.explain(question(rule, who, target)),
    // The sentence describes the rule of `temper`; other sets may admit other callers.
    says: (rule: string): string | undefined =>
      name === 'temper' && set.rules.get(rule)?.from === 'default'
        ? ruleSets[name].find((one) => one.name === rule)?.says
        : undefined,
    has: (rule: string): boolean => set.rules.has(rule),
    isWritten,
    warnings: Object.freeze(set.warnings),
  });
};
