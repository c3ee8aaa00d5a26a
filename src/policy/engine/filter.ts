/** Partial evaluation of a rule for a caller: the result is a predicate over columns. */

import { always, and, never, not, or, type Predicate } from '../../model/predicates';
import type { Check } from '../language/check';
import type { CheckKind } from '../language/kinds';
import { anyAtPath, EvaluationFault } from '../language/paths';
import { brokenPart, type Template, type TemplatePart } from '../language/template';
import { textOf } from '../language/text';
import type { Mode } from '../types';
import type { Credentials } from './credentials';
import type { RuleSet } from './ruleset';
import { targetKeys } from './targets';

type FilterContext = {
  readonly set: RuleSet;
  readonly credentials: Credentials;
  readonly mode: Mode;
  readonly columns: Readonly<Record<string, string>>;
};

/** Approximation of an inexpressible part: `never` under an even number of "not", else `always`. */
type Side = 'lower' | 'upper';

const inexpressible = (side: Side): Predicate => (side === 'lower' ? never : always);
const flip = (side: Side): Side => (side === 'lower' ? 'upper' : 'lower');
const constant = (verdict: boolean): Predicate => (verdict ? always : never);

type Column = { readonly name: string; readonly boolean: boolean; readonly absentWhenNull: boolean };

const columnOf = (known: FilterContext, key: string): Column | undefined => {
  const name = Object.hasOwn(known.columns, key) ? known.columns[key] : undefined;
  if (name === undefined) return undefined;
  const row = Object.hasOwn(targetKeys, key) ? targetKeys[key] : undefined;
  return { name, boolean: row?.holds === 'boolean', absentWhenNull: row?.absentWhenNull ?? false };
};

const booleans: Readonly<Record<string, boolean>> = { True: true, False: false };

/** Rows whose column has this text, spelled as in `compat`. */
const hasText = (column: Column, text: string): Predicate => {
  const isNull = text === 'None' && !column.absentWhenNull;
  const value = column.boolean ? (Object.hasOwn(booleans, text) ? booleans[text] : undefined) : text;
  return or(
    value === undefined ? never : { is: 'equals', column: column.name, value },
    isNull ? { is: 'null', column: column.name } : never,
  );
};

const valuesAt = (credentials: Credentials, path: readonly string[]): unknown[] => {
  const values: unknown[] = [];
  anyAtPath(credentials, path, (value) => {
    values.push(value);
    return false;
  });
  return values;
};

const throwIfBroken = (match: Template): void => {
  const broken = brokenPart(match);
  if (broken !== undefined) throw new EvaluationFault(broken);
};

type Filled = { readonly before: string; readonly column?: Column; readonly after: string };

/** Undefined: a key is missing. 'many': more than one part is unknown. */
const fillKnown = (known: FilterContext, parts: readonly TemplatePart[]): Filled | undefined | 'many' => {
  let filled: Filled = { before: '', after: '' };
  let many = false;
  for (const part of parts) {
    const column = 'key' in part ? columnOf(known, part.key) : undefined;
    if (column) {
      many ||= filled.column !== undefined;
      filled = { ...filled, column };
      continue;
    }
    const text = 'key' in part ? knownText(known, part.key) : 'text' in part ? part.text : '';
    if (text === undefined) return undefined;
    filled = filled.column ? { ...filled, after: filled.after + text } : { ...filled, before: filled.before + text };
  }
  return many ? 'many' : filled;
};

/** The text of a key without a column, from the caller's credentials. */
const knownText = (known: FilterContext, key: string): string | undefined => {
  const value = Object.hasOwn(known.credentials, key) ? known.credentials[key] : undefined;
  return value === undefined || (value === null && known.mode === 'strict') ? undefined : textOf(value);
};

const becomes = (filled: Filled, text: string, mode: Mode): Predicate => {
  const { before, column, after } = filled;
  if (!column) return constant(before + after === text);
  if (text.length < before.length + after.length || !text.startsWith(before) || !text.endsWith(after)) return never;
  const middle = text.slice(before.length, text.length - after.length);
  if (mode === 'compat') return hasText(column, middle);
  return hasText({ ...column, absentWhenNull: true }, middle); // in strict mode, null never fills a template
};

const kindValues = (known: FilterContext, kind: CheckKind): unknown[] => {
  if (kind.is === 'invalid') throw new EvaluationFault(`"${kind.source}" cannot be evaluated`);
  return kind.is === 'path' ? valuesAt(known.credentials, kind.path) : [kind.value];
};

/** In strict mode, `None:%(key)s` matches null itself, never the text "None". */
const isNull = (known: FilterContext, key: string): Predicate => {
  const column = columnOf(known, key);
  if (column) return { is: 'null', column: column.name };
  return constant(Object.hasOwn(known.credentials, key) && known.credentials[key] === null);
};

const kindTexts = (known: FilterContext, kind: CheckKind, skipNull: boolean): string[] => {
  if (kind.is === 'literal') return [kind.text];
  return kindValues(known, kind)
    .filter((value) => !skipNull || value !== null)
    .map(textOf);
};

/** One `in` condition, because PostgreSQL would parse a thousand single ones on each query. */
const anyOf = (rows: readonly Predicate[]): Predicate => {
  const [first] = rows;
  if (rows.length < 2 || first?.is !== 'equals') return or(...rows);
  const { column } = first;
  const values = rows.flatMap((one) =>
    one.is === 'equals' && one.column === column && typeof one.value === 'string' ? [one.value] : [],
  );
  return values.length === rows.length ? { is: 'among', column, values } : or(...rows);
};

const compare = (known: FilterContext, kind: CheckKind, match: Template, side: Side): Predicate => {
  throwIfBroken(match);
  const strict = known.mode === 'strict';
  if (strict && match.only !== undefined && kind.is === 'literal' && kind.value === null)
    return isNull(known, match.only);
  const filled = fillKnown(known, match.parts);
  if (filled === undefined) return never;
  const texts = kindTexts(known, kind, strict && match.keys.length > 0);
  if (filled === 'many') return inexpressible(side);
  return anyOf(texts.map((text) => becomes(filled, text, known.mode)));
};

const role = (known: FilterContext, match: Template, side: Side): Predicate => {
  throwIfBroken(match);
  const filled = fillKnown(known, match.parts);
  if (filled === undefined) return never;
  // No predicate compares role names without regard to case.
  if (filled === 'many' || filled.column) return inexpressible(side);
  const wanted = (filled.before + filled.after).toLowerCase();
  return constant((known.credentials.roles as readonly string[]).some((name) => name.toLowerCase() === wanted));
};

const reduce = (known: FilterContext, check: Check, side: Side): Predicate => {
  switch (check.is) {
    case 'true':
      return always;
    case 'false':
      return never;
    case 'and':
      return and(...check.all.map((part) => reduce(known, part, side)));
    case 'or':
      return or(...check.any.map((part) => reduce(known, part, side)));
    case 'not':
      return not(reduce(known, check.of, flip(side)));
    case 'rule': {
      const rule = known.set.ruleFor(check.name);
      return rule ? reduce(known, rule.check, side) : never;
    }
    case 'role':
      return role(known, check.match, side);
    case 'compare':
      return compare(known, check.kind, check.match, side);
    case 'http':
      return inexpressible(side);
  }
};

/**
 * Rows that a check admits. Inexpressible parts admit nothing. A check that may fail to evaluate admits nothing at all,
 * because the failure can depend on the row.
 */
export const filterOf = (
  set: RuleSet,
  check: Check,
  credentials: Credentials,
  mode: Mode,
  columns: FilterContext['columns'],
): Predicate => {
  try {
    return reduce({ set, credentials, mode, columns }, check, 'lower');
  } catch (thrown) {
    // RangeError: a cycle, which only compat mode permits.
    if (thrown instanceof EvaluationFault || thrown instanceof RangeError) return never;
    throw thrown;
  }
};
