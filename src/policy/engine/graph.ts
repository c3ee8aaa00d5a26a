/** References between rules: undefined names and cycles, found before the first decision. */

import { type Check, walk } from '../language/check';
import { maxDepth } from '../language/compile';
import type { ActiveRule } from '../types';

/** Replaces every undefined name. */
export const defaultRule = 'default';

type Rules = ReadonlyMap<string, ActiveRule>;

/** Cache: references are read several times per rule, and for the defaults in every set. */
const references = new WeakMap<Check, readonly string[]>();

/** Names of the direct references without duplicates, negated parts included. */
export const referencesOf = ({ check: whole }: ActiveRule): readonly string[] => {
  const known = references.get(whole);
  if (known) return known;
  const names = new Set<string>();
  for (const { check } of walk(whole)) if (check.is === 'rule') names.add(check.name);
  const found = [...names];
  references.set(whole, found);
  return found;
};

export const undefinedReferences = (rules: Rules): { rule: string; name: string }[] =>
  [...rules.values()].flatMap((rule) =>
    referencesOf(rule)
      .filter((name) => !rules.has(name))
      .map((name) => ({ rule: rule.name, name })),
  );

/** A cycle (first name = last name), or a chain that is too long. */
export type Tangle = { readonly is: 'cycle' | 'too long'; readonly path: readonly string[] };

/** Returns the first tangle. An undefined name leads to the default rule. */
export const findTangle = (rules: Rules): Tangle | undefined => {
  // Length of the longest chain below each rule, so a chain entered in its middle still gets its full length.
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

/** Limit of the checks of a rule with all references expanded: larger ones take too long. */
export const mostChecks = 100_000;

/** References in a cycle count as zero. */
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
