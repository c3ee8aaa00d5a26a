/** Which rules refer to which: undefined references and cycles, found before the first decision. */

import { type Check, walk } from '../language/check';
import { maxDepth } from '../language/compile';
import type { ActiveRule } from '../types';

/** The rule that stands in for every undefined name. */
export const defaultRule = 'default';

type Rules = ReadonlyMap<string, ActiveRule>;

/** Asked several times for every rule of a set, and for the defaults in every set. */
const references = new WeakMap<Check, readonly string[]>();

/** Names that a rule refers to directly, negated parts included, each once. */
export const referencesOf = ({ check: whole }: ActiveRule): readonly string[] => {
  const known = references.get(whole);
  if (known) return known;
  const names = new Set<string>();
  for (const { check } of walk(whole)) if (check.is === 'rule') names.add(check.name);
  const found = [...names];
  references.set(whole, found);
  return found;
};

/** References to names that nothing defines. */
export const undefinedReferences = (rules: Rules): { rule: string; name: string }[] =>
  [...rules.values()].flatMap((rule) =>
    referencesOf(rule)
      .filter((name) => !rules.has(name))
      .map((name) => ({ rule: rule.name, name })),
  );

/** What is wrong with the references of a set: names along a circle (first = last), or where a chain grows too long. */
export type Tangle = { readonly is: 'cycle' | 'too long'; readonly path: readonly string[] };

/** The first tangle, or undefined. An undefined name leads to the default rule. */
export const findTangle = (rules: Rules): Tangle | undefined => {
  // How many references follow one another below a rule: a chain that was walked from its middle is as long as any.
  const below = new Map<string, number>();
  const path: string[] = [];
  const visit = (name: string): Tangle | undefined => {
    const seen = path.indexOf(name);
    if (seen >= 0) return { is: 'cycle', path: [...path.slice(seen), name] };
    const rule = rules.get(name);
    if (!rule) return undefined;
    if (path.length + (below.get(name) ?? 0) >= maxDepth) return { is: 'too long', path: [path[0]!, '...', name] };
    if (below.has(name)) return undefined;
    path.push(name);
    let longest = 0;
    for (const next of referencesOf(rule)) {
      const reached = rules.has(next) ? next : defaultRule;
      const found = visit(reached);
      if (found) return found;
      if (rules.has(reached)) longest = Math.max(longest, 1 + below.get(reached)!);
    }
    path.pop();
    below.set(name, longest);
    return undefined;
  };
  for (const name of rules.keys()) {
    const found = visit(name);
    if (found) return found;
  }
  return undefined;
};

/** Rules whose references, all written out, hold more checks than this take too long to decide. */
export const mostChecks = 100_000;

/** The first rule that grows beyond `mostChecks`, or undefined. References in a circle count nothing. */
export const findOvergrown = (rules: Rules): string | undefined => {
  const sizes = new Map<string, number>();
  const sizeOf = (name: string, depth: number): number => {
    const known = sizes.get(name);
    const rule = rules.get(name) ?? rules.get(defaultRule);
    if (known !== undefined || !rule || depth > maxDepth) return known ?? 0;
    sizes.set(name, 0);
    let size = 0;
    for (const { check } of walk(rule.check)) size += check.is === 'rule' ? 1 + sizeOf(check.name, depth + 1) : 1;
    sizes.set(name, size);
    return size;
  };
  return [...rules.keys()].find((name) => sizeOf(name, 0) > mostChecks);
};

/** Names reachable from a rule by references, itself included. */
export const reachable = (rules: Rules, from: string): ReadonlySet<string> => {
  const seen = new Set<string>();
  for (const ahead = [from]; ahead.length > 0; ) {
    const name = ahead.pop()!;
    const rule = rules.get(name);
    if (!rule || seen.has(name)) continue;
    seen.add(name);
    ahead.push(...referencesOf(rule));
  }
  return seen;
};
