/** Which rules refer to which: undefined references and cycles, found before anyone asks. */

import { walk } from './language/check';
import type { ActiveRule } from './merge';

/** The rule that stands in for every name nobody defined. */
export const defaultRule = 'default';

type Rules = ReadonlyMap<string, ActiveRule>;

/** Names that a rule refers to directly, negated parts included. */
export const referencesOf = (rule: ActiveRule): string[] =>
  [...walk(rule.check)].flatMap(({ check }) => (check.is === 'rule' ? [check.name] : []));

/** References to names that nothing defines. */
export const undefinedReferences = (rules: Rules): { rule: string; name: string }[] =>
  [...rules.values()].flatMap((rule) =>
    referencesOf(rule)
      .filter((name) => !rules.has(name))
      .map((name) => ({ rule: rule.name, name })),
  );

/** One cycle as the names along it (first = last), or undefined. An undefined name leads to the default rule. */
export const findCycle = (rules: Rules): string[] | undefined => {
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    const seen = path.indexOf(name);
    if (seen >= 0) return [...path.slice(seen), name];
    const rule = rules.get(name);
    if (done.has(name) || !rule) return undefined;
    for (const next of referencesOf(rule)) {
      const cycle = visit(rules.has(next) ? next : defaultRule, [...path, name]);
      if (cycle) return cycle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of rules.keys()) {
    const cycle = visit(name, []);
    if (cycle) return cycle;
  }
  return undefined;
};

/** Names reachable from a rule by references, itself included. */
export const reachable = (rules: Rules, from: string, seen = new Set<string>()): Set<string> => {
  const rule = rules.get(from);
  if (!rule || seen.has(from)) return seen;
  seen.add(from);
  for (const name of referencesOf(rule)) reachable(rules, name, seen);
  return seen;
};
