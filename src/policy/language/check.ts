/** Syntax tree of a check string, and its canonical print. */

import type { CheckKind } from './kinds';
import type { Template } from './template';

export type Check =
  | { readonly is: 'true' }
  | { readonly is: 'false' }
  | { readonly is: 'and'; readonly all: readonly Check[] }
  | { readonly is: 'or'; readonly any: readonly Check[] }
  | { readonly is: 'not'; readonly of: Check }
  | { readonly is: 'rule'; readonly name: string }
  | { readonly is: 'role'; readonly match: Template }
  /** A literal or a credential path on the left, a template on the right. */
  | { readonly is: 'compare'; readonly kind: CheckKind; readonly match: Template }
  | { readonly is: 'http'; readonly scheme: 'http' | 'https'; readonly match: Template };

/** A probable mistake in a text, with its fix. */
export type Fault = { readonly text: string; readonly fix: string };

/** One pair of parentheses per group, none around the whole. */
export const printCheck = (check: Check): string => {
  switch (check.is) {
    case 'true':
      return '@';
    case 'false':
      return '!';
    case 'and':
      return `(${check.all.map(printCheck).join(' and ')})`;
    case 'or':
      return `(${check.any.map(printCheck).join(' or ')})`;
    case 'not':
      return `not ${printCheck(check.of)}`;
    case 'rule':
      return `rule:${check.name}`;
    case 'role':
      return `role:${check.match.source}`;
    case 'compare':
      return `${check.kind.source}:${check.match.source}`;
    case 'http':
      return `${check.scheme}:${check.match.source}`;
  }
};

/** Parents first; `below` counts the negations above a check. */
export function* walk(check: Check, below = 0): Generator<{ check: Check; negations: number }> {
  yield { check, negations: below };
  if (check.is === 'and') for (const part of check.all) yield* walk(part, below);
  if (check.is === 'or') for (const part of check.any) yield* walk(part, below);
  if (check.is === 'not') yield* walk(check.of, below + 1);
}
