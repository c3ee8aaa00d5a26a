/** A list's filter as data. The policy room returns it and the inventory room renders it to SQL. */

export type Predicate =
  | { readonly is: 'true' }
  | { readonly is: 'false' }
  /** Null never matches. */
  | { readonly is: 'equals'; readonly column: string; readonly value: string | boolean | number }
  /** An empty list never matches. */
  | { readonly is: 'among'; readonly column: string; readonly values: readonly string[] }
  /** Without wildcards. */
  | { readonly is: 'contains'; readonly column: string; readonly value: string }
  | { readonly is: 'null'; readonly column: string }
  | { readonly is: 'not'; readonly of: Predicate }
  | { readonly is: 'and'; readonly all: readonly Predicate[] }
  | { readonly is: 'or'; readonly any: readonly Predicate[] };

export const always: Predicate = { is: 'true' };
export const never: Predicate = { is: 'false' };

export const and = (...all: Predicate[]): Predicate => {
  const rest = all.filter((part) => part.is !== 'true');
  if (rest.some((part) => part.is === 'false')) return never;
  return rest.length === 0 ? always : rest.length === 1 ? rest[0]! : { is: 'and', all: rest };
};

export const or = (...any: Predicate[]): Predicate => {
  const rest = any.filter((part) => part.is !== 'false');
  if (rest.some((part) => part.is === 'true')) return always;
  return rest.length === 0 ? never : rest.length === 1 ? rest[0]! : { is: 'or', any: rest };
};

export const not = (of: Predicate): Predicate =>
  of.is === 'true' ? never : of.is === 'false' ? always : { is: 'not', of };

/** The rendered SQL must agree with this. */
export const matches = (predicate: Predicate, row: Readonly<Record<string, unknown>>): boolean => {
  switch (predicate.is) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'equals':
      return row[predicate.column] === predicate.value;
    case 'among':
      return predicate.values.some((value) => row[predicate.column] === value);
    case 'contains':
      return String(row[predicate.column] ?? '').includes(predicate.value) && row[predicate.column] != null;
    case 'null':
      return row[predicate.column] === null || row[predicate.column] === undefined;
    case 'not':
      return !matches(predicate.of, row);
    case 'and':
      return predicate.all.every((part) => matches(part, row));
    case 'or':
      return predicate.any.some((part) => matches(part, row));
  }
};

/**
 * A weaker condition over other columns, with which PostgreSQL narrows rows by an index. Columns without a counterpart, and every
 * negation, become `true`.
 */
export const implied = (predicate: Predicate, columns: Readonly<Record<string, string>>): Predicate => {
  switch (predicate.is) {
    case 'equals':
    case 'among': {
      const column = Object.hasOwn(columns, predicate.column) ? columns[predicate.column] : undefined;
      return column === undefined ? always : { ...predicate, column };
    }
    case 'and':
      return and(...predicate.all.map((part) => implied(part, columns)));
    case 'or':
      return or(...predicate.any.map((part) => implied(part, columns)));
    case 'false':
      return never;
    default:
      return always;
  }
};
